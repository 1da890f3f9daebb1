from __future__ import annotations

import signal
from typing import TYPE_CHECKING

from k8sjob.run.child.supervise import ChildEnd
from tests.supervise.supervised import shell

if TYPE_CHECKING:
    import pytest

    from tests.supervise.conftest import Start


def test_every_exit_code_passes_through(supervise: Start) -> None:
    supervised = supervise(*(shell(f"exit {code}") for code in range(256)))

    assert [end.exit_code for end in supervised.report().ends] == list(range(256))


def test_a_command_that_ends_by_itself_was_neither_stopped_nor_killed(supervise: Start) -> None:
    assert supervise(shell("exit 3")).end() == ChildEnd(exit_code=3)


def test_a_signal_that_kills_is_told_as_the_shell_tells_it(supervise: Start) -> None:
    numbers = range(1, 16)

    supervised = supervise(*(shell(f"ulimit -c 0; kill -{number} $$") for number in numbers))

    ends = supervised.report().ends
    assert [(end.exit_code, end.signal) for end in ends] == [(128 + n, n) for n in numbers]
    assert not any(end.stopped_by or end.killed for end in ends)


def test_a_kill_that_is_not_ours_is_suspected_to_come_from_want_of_memory(supervise: Start) -> None:
    killed = shell("kill -KILL $$")
    below_a_shell = shell("sh -c 'kill -KILL $$'; exit $?")
    terminated = shell("kill -TERM $$")

    ends = supervise(killed, below_a_shell, terminated).report().ends

    assert [end.exit_code for end in ends] == [137, 137, 143]
    assert [end.oom_suspected for end in ends] == [True, True, False]


def test_what_was_before_is_restored_afterwards(supervise: Start) -> None:
    report = supervise(shell("exit 0"), blocked=[signal.SIGUSR1]).report()

    assert report.still_blocked == [signal.SIGUSR1]
    assert report.term_is_default


def test_it_is_pid_1_where_the_test_says_so(
    supervise: Start, request: pytest.FixtureRequest
) -> None:
    pid = supervise(shell("exit 0")).report().pid

    assert (pid == 1) == ("pid-1" in request.node.name)
