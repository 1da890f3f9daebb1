"""What holds for every test: a clean environment, and the fixtures of ``tests/fix_*.py``."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest_plugins = [f"tests.{path.stem}" for path in Path(__file__).parent.glob("fix_*.py")]
pytest.register_assert_rewrite(*pytest_plugins)  # first, since they import each other

# A developer's own settings must not decide what a test sees. This runs before any fixture is
# imported; some names speak to the tests themselves (tests/README.md).
_TO_TESTS = ("K8SJOB_TEST_", "K8SJOB_E2E_", "K8SJOB_CLUSTER")
for _name in list(os.environ):
    if _name.startswith(("K8SJOB_", "PG")) and not _name.startswith(_TO_TESTS):
        del os.environ[_name]

# No deadline: how long an example takes says nothing on a machine that others use too.
settings.register_profile("k8sjob", deadline=None, print_blob=True)
settings.load_profile("k8sjob")


@pytest.fixture(autouse=True)
def _signals_as_before() -> Iterator[None]:
    """Take back what a test blocks: commands that run in this process hold signals."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    yield
    while waiting := signal.sigpending() - before:
        signal.sigwait(waiting)
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
