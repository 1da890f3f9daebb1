from __future__ import annotations

import signal
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.supervise.supervised import python, shell

if TYPE_CHECKING:
    from tests.supervise.conftest import Start

AT_ONCE = {"LINGER_S": 0.05, "LEFT_S": 0.05}
PATIENT = {"LINGER_S": 30.0, "LEFT_S": 30.0}


def leaving(code: str, *, session: bool = False, then: str = "") -> list[str]:
    """Return a command that leaves ``code`` running once that is ready, and ends with 4."""
    return python(
        f"""
left = start({python(code)!r}, stderr=subprocess.PIPE, start_new_session={session})
left.stderr.read(1)
{then}
os._exit(4)
"""
    )


READY = 'os.write(2, b".")'


@pytest.mark.parametrize("output_bytes", [4096, 0])
def test_a_background_process_that_holds_the_pipe_is_terminated(
    supervise: Start, output_bytes: int
) -> None:
    on_term = 'on(signal.SIGTERM, lambda: (say("TERM"), os._exit(0)))'
    supervised = supervise(
        leaving(f"{on_term}; {READY}; wait_for_ever()"),
        waits=AT_ONCE | {"LEFT_S": 30.0},
        output_bytes=output_bytes,
    )

    end = supervised.end()

    assert supervised.word() == "TERM"
    assert supervised.word() == ""
    assert (end.exit_code, end.stopped_by, end.killed) == (4, None, False)


def test_one_that_ignores_term_is_killed(supervise: Start) -> None:
    ignores = "signal.signal(signal.SIGTERM, signal.SIG_IGN)"
    supervised = supervise(leaving(f"{ignores}; {READY}; wait_for_ever()"), waits=AT_ONCE)

    report = supervised.report()

    assert report.end.exit_code == 4
    assert supervised.word() == ""
    assert b"has ended and left processes behind" in report.err


def test_a_stopped_one_can_still_act_on_its_term(supervise: Start) -> None:
    on_term = 'on(signal.SIGTERM, lambda: (say("TERM"), os._exit(0)))'
    supervised = supervise(
        leaving(f"{on_term}; {READY}; os.kill(os.getpid(), signal.SIGSTOP)"),
        waits=AT_ONCE | {"LEFT_S": 30.0},
    )

    assert supervised.end().exit_code == 4
    assert supervised.word() == "TERM"


@pytest.mark.parametrize("output_bytes", [4096, 0])
def test_one_that_ends_by_itself_soon_is_left_in_peace(supervise: Start, output_bytes: int) -> None:
    """As the ``tee`` of ``> >(tee file)`` does, which ends after its shell."""
    supervised = supervise(
        leaving(f'{READY}; say("left"); wait_for_go(); print("the last line")'),
        waits=PATIENT,
        output_bytes=output_bytes,
    )
    assert supervised.word() == "left"
    supervised.go()

    report = supervised.report()

    assert report.end.exit_code == 4
    assert report.out == b"the last line\n"
    assert b"left processes behind" not in report.err


def test_one_that_left_the_group_cannot_hold_us_up(supervise: Start) -> None:
    supervised = supervise(
        leaving(f'{READY}; say("left"); wait_for_go()', session=True),
        waits=AT_ONCE | {"STUCK_S": 0.05},
    )
    assert supervised.word() == "left"

    supervised.process.wait(20)  # meanwhile the other one waits, and holds the pipe

    assert supervised.end().exit_code == 4


def test_one_that_left_the_group_and_never_stops_talking_cannot_hold_us_up(
    supervise: Start,
) -> None:
    chatter = f"""
{READY}
say("left")
try:
    while True: os.write(1, b"more\\n" * 800)
except BrokenPipeError:
    pass
"""
    supervised = supervise(
        leaving(chatter, session=True),
        stdout=subprocess.DEVNULL,
        waits=AT_ONCE,
    )
    assert supervised.word() == "left"

    assert supervised.end().exit_code == 4
    assert supervised.word() == ""  # as PID 1 we took it with us; else its pipe has gone


def test_a_signal_after_the_end_reaches_who_is_left_and_is_no_stop_of_the_command(
    supervise: Start,
) -> None:
    on_term = 'on(signal.SIGTERM, lambda: (say("TERM"), os._exit(0)))'
    supervised = supervise(
        leaving(f'{on_term}; {READY}; say("left"); wait_for_ever()', then="wait_for_go()"),
        waits=PATIENT,
    )
    assert supervised.word() == "left"
    supervised.go_to_the_end()

    supervised.signal(signal.SIGTERM)

    assert supervised.word() == "TERM"
    assert supervised.end().stopped_by is None


def test_a_shell_that_does_not_wait_is_told_what_to_do(supervise: Start) -> None:
    report = supervise(shell("sleep 1000 & exit 0"), waits=AT_ONCE).report()

    assert report.end.exit_code == 0
    assert b"To let them finish, have it wait for them (in a shell: wait)." in report.err
