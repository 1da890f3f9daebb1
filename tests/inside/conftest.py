"""Short names for what every test here needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.inside.apiserver import ApiServer, Time

if TYPE_CHECKING:
    from tests.fix_inside import Serve


@pytest.fixture
def serve(serve_api: Serve) -> Serve:
    return serve_api


@pytest.fixture
def server(api_server: ApiServer) -> ApiServer:
    return api_server


@pytest.fixture
def time() -> Time:
    return Time()
