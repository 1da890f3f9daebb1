from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

from tests.supervise.supervised import python, shell

if TYPE_CHECKING:
    from tests.supervise.conftest import Start

STOP = ["TERM", "INT", "QUIT", "HUP"]
OTHERS = ["USR1", "USR2", "WINCH", "CONT"]

#: Says every signal that it gets; TERM and its like do not end it, a go does.
LISTENER = """
for name in ["TERM", "INT", "QUIT", "HUP", "USR1", "USR2", "WINCH", "CONT"]:
    on(getattr(signal, f"SIG{name}"), lambda name=name: say(name))
say("ready")
wait_for_go()
sys.exit(5)
"""


@pytest.mark.parametrize("name", STOP)
def test_a_stop_signal_goes_on_to_the_command(supervise: Start, name: str) -> None:
    supervised = supervise(python(LISTENER))
    assert supervised.word() == "ready"

    supervised.signal(signal.Signals[f"SIG{name}"])

    assert supervised.words(2) == sorted([name, "CONT"])
    supervised.go()
    end = supervised.end()
    assert (end.exit_code, end.stopped_by) == (5, signal.Signals[f"SIG{name}"])
    assert not end.killed


@pytest.mark.parametrize("name", OTHERS)
def test_other_signals_go_on_to_the_command_and_stop_nothing(supervise: Start, name: str) -> None:
    supervised = supervise(python(LISTENER), grace_s=0)
    assert supervised.word() == "ready"

    supervised.signal(signal.Signals[f"SIG{name}"])

    assert supervised.word() == name
    supervised.go()
    end = supervised.end()
    assert (end.exit_code, end.stopped_by, end.killed) == (5, None, False)


def test_a_signal_reaches_the_grandchildren_too(supervise: Start) -> None:
    grandchild = python(
        'on(signal.SIGUSR1, lambda: (say("below"), os._exit(0))); say("ready"); wait_for_ever()'
    )
    supervised = supervise(
        python(
            f"""
on(signal.SIGUSR1, lambda: say("above"))
child = start({grandchild!r})
say("ready")
sys.exit(child.wait() + 6)
"""
        )
    )
    assert supervised.words(2) == ["ready", "ready"]

    supervised.signal(signal.SIGUSR1)

    assert supervised.words(2) == ["above", "below"]
    assert supervised.end().exit_code == 6


def test_a_shell_that_waits_for_its_child_ends_at_once_with_it(supervise: Start) -> None:
    supervised = supervise(shell("sleep 1000 & say ready; wait"))
    assert supervised.word() == "ready"

    supervised.signal(signal.SIGTERM)

    end = supervised.end()
    assert (end.exit_code, end.signal, end.killed) == (143, signal.SIGTERM, False)
    assert supervised.word() == ""  # nobody is left who could speak


def test_a_term_in_mid_work_lets_the_command_clean_up(supervise: Start) -> None:
    work = 'on(signal.SIGTERM, lambda: (print("rolled back", flush=True), os._exit(143)))'
    supervised = supervise(python(f'{work}; say("working"); wait_for_ever()'))
    assert supervised.word() == "working"

    supervised.signal(signal.SIGTERM)

    report = supervised.report()
    assert report.out == b"rolled back\n"
    assert (report.end.exit_code, report.end.signal) == (143, None)
    assert report.end.stopped_by == signal.SIGTERM


def test_an_exit_with_0_after_a_stop_signal_can_be_told_from_one_without(supervise: Start) -> None:
    supervised = supervise(
        python('on(signal.SIGTERM, lambda: os._exit(0)); say("ready"); wait_for_ever()')
    )
    assert supervised.word() == "ready"

    supervised.signal(signal.SIGTERM)

    end = supervised.end()
    assert (end.exit_code, end.stopped_by) == (0, signal.SIGTERM)


def test_a_signal_that_comes_before_the_command_is_there_reaches_it(supervise: Start) -> None:
    early = supervise(shell("exec sleep 1000"), blocked=[signal.SIGTERM], pending=[signal.SIGTERM])

    end = early.end()

    assert (end.exit_code, end.signal) == (143, signal.SIGTERM)
    assert (end.stopped_by, end.killed) == (signal.SIGTERM, False)


STATUS = python(
    """
for line in open("/proc/self/status"):
    if line.startswith(("SigBlk", "SigIgn")): print(line.split()[1], end=" ")
"""
)


def test_the_command_starts_with_every_signal_at_its_default(supervise: Start) -> None:
    trap = ["sh", "-c", "trap '' INT QUIT ALRM TTOU USR1; exec \"$@\"", "sh"]
    supervised = supervise(
        STATUS, inside=trap, blocked=[signal.SIGUSR2, signal.SIGTERM, signal.SIGALRM]
    )

    # Python sets SIGPIPE and SIGXFSZ for itself, and this child is Python. Whoever started us may
    # ignore 32 and 33, which the C library keeps for itself and lets nobody set back (nptl(7)).
    ours = sum(1 << number - 1 for number in (signal.SIGPIPE, signal.SIGXFSZ, 32, 33))
    blocked, ignored = (int(mask, 16) for mask in supervised.report().out.split())
    assert (blocked, ignored & ~ours) == (0, 0)


def test_a_closed_pipe_ends_the_command_as_in_a_shell(supervise: Start) -> None:
    end = supervise(["bash", "-c", "yes | head -n 1; exit ${PIPESTATUS[0]}"]).end()

    assert (end.exit_code, end.tail) == (128 + signal.SIGPIPE, "y\n")


def test_nohup_is_believed(supervise: Start) -> None:
    supervised = supervise(
        python(
            LISTENER.replace('"HUP", ', "").replace(
                "wait_for_go()", "wait_for_go(); print(signal.getsignal(signal.SIGHUP))"
            )
        ),
        inside=["nohup"],
    )
    assert supervised.word() == "ready"

    supervised.signal(signal.SIGHUP)
    supervised.signal(signal.SIGUSR1)

    assert supervised.word() == "USR1"
    supervised.go()
    report = supervised.report()
    assert report.end.stopped_by is None
    assert report.out == f"{signal.Handlers.SIG_IGN!s}\n".encode()
