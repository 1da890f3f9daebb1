from __future__ import annotations

import signal
from typing import TYPE_CHECKING

from tests.supervise.supervised import python

if TYPE_CHECKING:
    from tests.supervise.conftest import Start

WAITS = python("wait_for_go(); sys.exit(5)")


def test_the_heartbeat_goes_on_while_the_command_runs(supervise: Start) -> None:
    supervised = supervise(WAITS, tick="says")

    assert [supervised.word() for _ in range(2)] == ["tick", "tick"]

    supervised.go()
    assert supervised.end().exit_code == 5


def test_a_heartbeat_that_fails_is_logged_once_and_goes_on(supervise: Start) -> None:
    supervised = supervise(WAITS, tick="fails")

    assert [supervised.word() for _ in range(2)] == ["tick", "tick"]

    supervised.go()
    report = supervised.report()
    assert report.end.exit_code == 5
    assert report.err.count(b"a heartbeat failed; the command runs on") == 1
    assert b"no heartbeat" in report.err


def test_a_heartbeat_that_hangs_delays_neither_a_signal_nor_the_end(supervise: Start) -> None:
    supervised = supervise(
        python('on(signal.SIGTERM, lambda: (say("TERM"), os._exit(5))); wait_for_ever()'),
        tick="hangs",
    )
    assert supervised.word() == "tick"

    supervised.signal(signal.SIGTERM)

    assert supervised.word() == "TERM"
    assert supervised.end().exit_code == 5
