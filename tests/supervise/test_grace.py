from __future__ import annotations

import signal
import time
from typing import TYPE_CHECKING

from tests.supervise.supervised import python, shell, state_of, wait_until

if TYPE_CHECKING:
    from tests.supervise.conftest import Start

GRACE_S = 0.3

IGNORES_TERM = python(
    'signal.signal(signal.SIGTERM, signal.SIG_IGN); say("ready"); wait_for_ever()'
)
HEARS_TERM = python(
    """
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
say("ready")
while signal.sigwait([signal.SIGTERM]): say("TERM")
"""
)


def test_a_command_that_ignores_term_is_killed_after_the_grace(supervise: Start) -> None:
    supervised = supervise(IGNORES_TERM, grace_s=GRACE_S)
    assert supervised.word() == "ready"

    sent_at = time.monotonic()
    supervised.signal(signal.SIGTERM)
    end = supervised.end()

    assert time.monotonic() - sent_at >= GRACE_S
    assert (end.exit_code, end.signal) == (137, signal.SIGKILL)
    assert (end.stopped_by, end.killed, end.oom_suspected) == (signal.SIGTERM, True, False)


def test_a_second_term_is_sent_on_and_does_not_bring_the_kill_forward(supervise: Start) -> None:
    supervised = supervise(HEARS_TERM)
    assert supervised.word() == "ready"

    for number in (signal.SIGTERM, signal.SIGTERM):
        supervised.signal(number)
        assert supervised.word() == "TERM"
    supervised.signal(signal.SIGHUP)

    end = supervised.end()
    assert (end.signal, end.killed) == (signal.SIGHUP, False)
    assert end.stopped_by == signal.SIGTERM  # the first one counts


def test_repeated_terms_do_not_put_off_the_kill(supervise: Start) -> None:
    supervised = supervise(HEARS_TERM, grace_s=GRACE_S)
    assert supervised.word() == "ready"

    heard = 0
    give_up = time.monotonic() + 20
    while supervised.process.poll() is None:
        assert time.monotonic() < give_up, f"still alive after {heard} signals"
        supervised.signal_if_there(signal.SIGTERM)
        heard += supervised.word() == "TERM"

    assert supervised.end().killed
    assert heard > 1


def test_a_grandchild_that_ignores_term_is_killed_with_its_parent(supervise: Start) -> None:
    supervised = supervise(
        python(
            f'start({IGNORES_TERM!r}); on(signal.SIGTERM, lambda: say("TERM")); wait_for_ever()'
        ),
        grace_s=GRACE_S,
    )
    assert supervised.word() == "ready"

    supervised.signal(signal.SIGTERM)

    assert supervised.word() == "TERM"
    assert supervised.word() == ""
    assert supervised.end().exit_code == 137


def test_a_grandchild_has_the_whole_grace_when_its_parent_ends_at_once(supervise: Start) -> None:
    worker = python(
        'on(signal.SIGTERM, lambda: (say("TERM"), wait_for_go(), say("committed"), os._exit(0)));'
        'say("ready"); wait_for_ever()'
    )
    parent = f"start({worker!r}, stdin=0); wait_for_ever()"
    supervised = supervise(python(parent), waits={"LINGER_S": 0.0, "LEFT_S": 0.0})
    assert supervised.word() == "ready"
    parent_pid = supervised.child

    supervised.signal(signal.SIGTERM)
    assert supervised.word() == "TERM"
    wait_until(lambda: state_of(parent_pid) == "")
    supervised.go()

    assert supervised.word() == "committed"
    end = supervised.end()
    assert (end.exit_code, end.killed) == (143, False)


def test_a_grandchild_that_outlives_the_grace_is_killed_though_its_parent_has_ended(
    supervise: Start,
) -> None:
    parent = f"start({IGNORES_TERM!r}); wait_for_ever()"
    supervised = supervise(python(parent), grace_s=GRACE_S)
    assert supervised.word() == "ready"

    supervised.signal(signal.SIGTERM)

    end = supervised.end()
    assert (end.exit_code, end.signal, end.killed) == (143, signal.SIGTERM, True)
    assert supervised.word() == ""


def test_a_stopped_command_is_woken_so_that_it_can_end_by_itself(supervise: Start) -> None:
    supervised = supervise(
        python(
            """
on(signal.SIGTERM, lambda: os._exit(3))
say("ready")
os.kill(os.getpid(), signal.SIGSTOP)
"""
        )
    )
    assert supervised.word() == "ready"
    wait_until(lambda: state_of(supervised.child) == "T")

    supervised.signal(signal.SIGTERM)

    end = supervised.end()
    assert (end.exit_code, end.killed) == (3, False)


def test_a_stopped_command_that_ignores_term_is_killed(supervise: Start) -> None:
    supervised = supervise(
        shell("trap '' TERM; say ready; while :; do kill -STOP $$; done"), grace_s=GRACE_S
    )
    assert supervised.word() == "ready"
    wait_until(lambda: state_of(supervised.child) == "T")

    supervised.signal(signal.SIGTERM)

    end = supervised.end()
    assert (end.exit_code, end.killed) == (137, True)


def test_without_a_grace_the_kill_follows_at_once(supervise: Start) -> None:
    supervised = supervise(IGNORES_TERM, grace_s=0)
    assert supervised.word() == "ready"

    supervised.signal(signal.SIGTERM)

    assert supervised.end().killed
