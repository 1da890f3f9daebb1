"""The command line of the tests of ``k8sjob run``, in a Pod."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.inside.apiserver import answer, status
from tests.resolve.pod import Pod
from tests.run.conftest import cli, command_line, lite, pg, pytest_generate_tests, shared

if TYPE_CHECKING:
    from tests.inside.apiserver import ApiServer
    from tests.run.commandline import CommandLine

__all__ = ["cli", "command_line", "lite", "pg", "pytest_generate_tests", "shared"]


@pytest.fixture
def pod(pg: CommandLine, api_server: ApiServer) -> Pod:
    """Give a Pod to the test, whose cluster has no Job yet."""
    api_server.script = [status(404, 'jobs.batch "x" not found')]
    return Pod(pg, api_server)


@pytest.fixture
def lite_pod(lite: CommandLine, api_server: ApiServer) -> Pod:
    """Give a Pod whose ledger is a file."""
    api_server.script = [answer(200, {})]
    return Pod(lite, api_server)
