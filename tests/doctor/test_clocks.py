from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from k8sjob.doctor.clocks import check_clock
from k8sjob.doctor.line import Status
from k8sjob.ledger.survey import Clock
from tests.inside.apiserver import answer

if TYPE_CHECKING:
    from tests.doctor.conftest import Doctor
    from tests.fix_stores import Database
    from tests.inside.apiserver import ApiServer

OK, WARN, FAIL = Status


@pytest.mark.parametrize(
    ("ahead_s", "within_s", "status"),
    [
        (0.2, 0.001, OK),
        (4.9, 0.001, OK),
        (5.1, 0.001, WARN),
        (-5.1, 0.001, WARN),
        (29.9, 0.001, WARN),
        (30.1, 0.001, FAIL),
        (-3600, 0.001, FAIL),
        (9.0, 5.0, OK),  # a slow line, and not a wrong clock, may be the reason
    ],
)
def test_five_seconds_are_a_warning_and_thirty_fail(
    ahead_s: float, within_s: float, status: Status
) -> None:
    assert check_clock(Clock(ahead_s, within_s), None).status is status


def test_it_is_told_which_way_the_clocks_differ() -> None:
    ahead, behind = (check_clock(Clock(s, 0.002), None).seen for s in (12.0, -12.0))

    assert ahead == "the ledger's clock is 12 s ahead of this one (± 2 ms)"
    assert behind == "the ledger's clock is 12 s behind this one (± 2 ms)"


@pytest.mark.parametrize(
    ("api_ahead_s", "trusted", "mended"),
    [
        (40.6, "trust the ledger's", "this Pod's node"),
        (0.4, "trust this one", "the database's machine"),
        (-90.0, "trust neither", ""),
        (None, "trust neither", ""),
    ],
)
def test_the_api_servers_clock_tells_which_one_to_trust(
    api_ahead_s: float | None, trusted: str, mended: str
) -> None:
    line = check_clock(Clock(40.0, 0.001), api_ahead_s)

    assert line.do.startswith(trusted)
    assert mended in line.do
    assert "k8sjob goes by the ledger's" in line.do


@pytest.mark.parametrize(("late_s", "status"), [(0, OK), (20, WARN), (600, FAIL)])
def test_the_clock_of_this_machine_is_compared_with_the_servers(
    doctor: Doctor, db: Database, monkeypatch: pytest.MonkeyPatch, late_s: int, status: Status
) -> None:
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() - late_s)

    line = doctor.ask(K8SJOB_DSN=db.dsn()).one("clock")

    assert line.status is status
    assert late_s == 0 or "ahead of this one" in line.seen


def test_the_date_of_the_api_servers_answers_is_the_third_clock(
    doctor: Doctor, db: Database, api_server: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Whoever asks the API server holds on to the clock as it was: to them the server is ahead.
    date = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 600))
    api_server.script = [answer(201, {"status": {"allowed": True}}, Date=date)]
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() - 600)

    line = doctor.ask(K8SJOB_DSN=db.dsn(), **api_server.env).one("clock")

    assert line.do.startswith("trust the ledger's, with which the API server's agrees")
