"""A command as a child of PID 1: signals go on to it, orphans are reaped, its end is told.

One loop waits for signals, for output and for deadlines. The duties are those of an init process
in a container (pid_namespaces(7)): the kernel gives PID 1 no default action for signals, hands it
every orphan, and kills all that is left when it ends. Elsewhere we ask for the orphans too.

::

    child runs ──── ends ───┬─ its group is empty ────────────────────┬─ last bytes ─ ChildEnd
        │                   ├─ after 0.5 s TERM, 1 s later KILL ──────┤
        │ TERM INT QUIT HUP └─ in the grace: until it is over ────────┤
        └─ on to its group; grace over: KILL ─────────────────────────┘
"""

from __future__ import annotations

import logging
import math
import os
import selectors
import signal
import time
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from k8sjob.run.child.group import Group
from k8sjob.run.child.orphans import orphans_come_here, reap
from k8sjob.run.child.relay import Relay
from k8sjob.run.child.signalpipe import SignalPipe, signals_on_a_pipe
from k8sjob.run.child.spawn import CannotStart, open_standard_descriptors, start
from k8sjob.run.child.tail import Tail
from k8sjob.run.child.telling import tell
from k8sjob.run.child.ticking import ticking

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Mapping, Sequence

STOP = (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT, signal.SIGHUP)
PASSED_ON = (*STOP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGWINCH, signal.SIGCONT)

#: How long what the command left behind may go on by itself, and then after its TERM.
LINGER_S = 0.5
LEFT_S = 1.0
#: How long the last output waits for a reader that takes none of it.
STUCK_S = 1.0

_LONGEST_WAIT_S = 3600.0  # poll(2) counts milliseconds in an int
_KILLED = 128 + signal.SIGKILL


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildEnd:
    """How a command ended.

    ``exit_code``: the shell's, that is its own, 128 + n after signal n, 126 or 127 if it could not
    be started; ``error`` then says why. ``signal``: what killed it. ``stopped_by``: the first stop
    signal that we got before its end. ``killed``: the grace was over, so its group got a KILL.
    ``tail``: the last of its output and errors as they came, after a line if there was more.
    ``oom_suspected``: it got a KILL that was not ours, or reports one as a shell does for its own
    child (137); in a container the kernel's out-of-memory killer is the usual sender.
    """

    exit_code: int
    signal: int | None = None
    stopped_by: int | None = None
    killed: bool = False
    tail: str = ""
    oom_suspected: bool = False
    error: str | None = None


def supervise(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    stop_grace_s: float,
    output_bytes: int,
    tick: Callable[[], None] | None = None,
) -> ChildEnd:
    """Run ``argv`` with exactly ``env`` and return how it ended. Blocks until then.

    *Signals.* TERM, INT, QUIT, HUP, USR1, USR2, WINCH and CONT go on to the command's process
    group, also those that came blocked before it was started. The first of TERM, INT, QUIT and HUP
    begins the grace: the group has ``stop_grace_s`` seconds, then it gets a KILL. Each is followed
    by CONT, so that a stopped process can act on it. A further one is sent on as well and moves
    nothing: it must not put off the KILL, nor bring it forward, since a signal often comes twice by
    accident (from a terminal and from a wrapper) and a KILL may hit a commit.

    *What the command leaves behind.* Without a stop signal its group may go on for 0.5 s, as the
    ``tee`` of a shell does, then gets TERM and a second later KILL. After a stop signal it has the
    rest of the grace: the shell dies first, and the worker below it may be in mid-commit. Whoever
    left the group is not looked for, and cannot hold us up by holding a pipe.

    *Output* passes through, each stream in its own order; ``output_bytes`` of both are kept. With 0
    the command inherits our descriptors. Whoever reads from us and stops reading holds the command
    up while it runs, and loses what is left after its end once a second has passed without a byte.

    ``tick`` is called about once a second, on a thread of its own; what it raises is only logged.

    All children of this process are reaped, so it should have no others. Call it from the main
    thread: elsewhere Python allows no signal handlers (ValueError). Raises ValueError for an empty
    ``argv`` or a NUL in a text, and OSError where no process can be made (EAGAIN, ENOMEM).
    """
    if not argv:
        raise ValueError("there is no command; write it after --: k8sjob run -- make report")
    open_standard_descriptors()
    tail = Tail(output_bytes)
    with (
        selectors.PollSelector() as selector,
        signals_on_a_pipe((*PASSED_ON, signal.SIGCHLD)) as signals,
        orphans_come_here(),
        ExitStack() as stack,
    ):
        try:
            child, relays = _start(argv, env, tail, selector, stack)
        except CannotStart as error:
            return ChildEnd(exit_code=error.exit_code, error=str(error))
        supervision = _Supervision(child, signals, selector, relays, stop_grace_s)
        stack.callback(supervision.abandon)
        with ticking(tick):
            return supervision.run(tail)


def _start(
    argv: Sequence[str],
    env: Mapping[str, str],
    tail: Tail,
    selector: selectors.BaseSelector,
    stack: ExitStack,
) -> tuple[subprocess.Popen[bytes], list[Relay]]:
    if not tail.limit:
        return start(argv, env, None), []
    relays = []
    with ExitStack() as writing_ends:
        ends = []
        for sink in (1, 2):
            reading, writing = os.pipe()
            writing_ends.callback(os.close, writing)
            relays.append(Relay(reading, sink, tail, selector))
            stack.callback(relays[-1].close)
            ends.append(writing)
        return start(argv, env, (ends[0], ends[1])), relays


class _Supervision:
    def __init__(
        self,
        child: subprocess.Popen[bytes],
        signals: SignalPipe,
        selector: selectors.BaseSelector,
        relays: list[Relay],
        grace_s: float,
    ) -> None:
        self._child, self._group = child, Group(child.pid)
        self._signals, self._selector, self._relays = signals, selector, relays
        self._grace_s = grace_s
        self._kill_at = math.inf
        self._stopped_by: int | None = None
        self._killed = self._killed_in_life = False
        selector.register(signals, selectors.EVENT_READ, self._on_signals)

    def run(self, tail: Tail) -> ChildEnd:
        while self._child.returncode is None:
            self._turn(self._kill_at)
            if time.monotonic() >= self._kill_at:
                self._kill()
        self._see_off_the_group()
        self._pass_on_the_last()
        code = self._child.returncode
        exit_code = code if code >= 0 else 128 - code
        return ChildEnd(
            exit_code=exit_code,
            signal=-code if code < 0 else None,
            stopped_by=self._stopped_by,
            killed=self._killed,
            tail=tail.text(),
            oom_suspected=exit_code == _KILLED and not self._killed_in_life,
        )

    def abandon(self) -> None:
        """Leave no command behind when an error of our own ends the loop."""
        if self._child.returncode is None:
            self._group.send(signal.SIGKILL)
            self._child.wait()

    def _turn(self, deadline: float) -> None:
        """Wait for whatever comes first, and see to it."""
        wait = min(max(0.0, deadline - time.monotonic()), _LONGEST_WAIT_S)
        for key, _ in self._selector.select(wait):
            key.data()

    def _until(self, done: Callable[[], bool], deadline: float) -> bool:
        """Go on until ``done()``; return False if the deadline came first."""
        while not done():
            if time.monotonic() >= deadline:
                return False
            self._turn(deadline)
        return True

    def _on_signals(self) -> None:
        ended = False
        for number in self._signals.read():
            if number in PASSED_ON:
                self._pass_on(number)
            ended = ended or number == signal.SIGCHLD
        if ended:  # last: who was told to stop and ended at once has ended after it
            self._reap()

    def _pass_on(self, number: int) -> None:
        self._group.send(number)
        if number in STOP:
            self._group.send(signal.SIGCONT)
            if self._stopped_by is None and self._child.returncode is None:
                self._begin_grace(number)

    def _begin_grace(self, number: int) -> None:
        self._stopped_by = number
        self._kill_at = time.monotonic() + self._grace_s
        tell(
            logging.INFO,
            "%s: sent on to the command, which has %g s before it is killed",
            signal.Signals(number).name,
            self._grace_s,
            event="stopping",
        )

    def _kill(self) -> None:
        self._kill_at = math.inf
        self._killed = True
        self._killed_in_life = self._child.returncode is None
        self._group.send(signal.SIGKILL)
        tell(
            logging.WARNING,
            "the command was killed: it had not ended %g s after the stop signal."
            " Let it end sooner, or raise K8SJOB_STOP_GRACE and the Pod's grace period with it.",
            self._grace_s,
            event="killed",
        )

    def _reap(self) -> None:
        """Reap everybody; the command's own status is kept, whoever else is among them."""
        for pid, code in reap():
            if pid == self._child.pid:
                self._child.returncode = code

    def _see_off_the_group(self) -> None:
        """Let the rest of the group end, or end it."""
        if self._stopped_by is not None:
            if not self._killed and not self._until(self._group.is_empty, self._kill_at):
                self._kill()
        elif not self._until(self._nothing_is_left, _in(LINGER_S)):
            self._end_what_is_left()
        self._until(self._group.is_empty, _in(LEFT_S))

    def _end_what_is_left(self) -> None:
        if self._group.is_empty():
            return
        tell(
            logging.WARNING,
            "the command has ended and left processes behind, which are terminated now."
            " To let them finish, have it wait for them (in a shell: wait).",
            event="left_behind",
        )
        self._group.send(signal.SIGTERM)
        self._group.send(signal.SIGCONT)
        if not self._until(self._group.is_empty, _in(LEFT_S)):
            self._group.send(signal.SIGKILL)

    def _nothing_is_left(self) -> bool:
        return self._all_is_passed_on() and self._group.is_empty()

    def _all_is_passed_on(self) -> bool:
        return not any(relay.is_open for relay in self._relays)

    def _pass_on_the_last(self) -> None:
        """Pass on what is in the pipes by now, as long as somebody takes it; keep the rest."""
        for relay in self._relays:
            relay.finish()
        before = -1
        while (passed := sum(relay.passed for relay in self._relays)) != before:
            if self._until(self._all_is_passed_on, _in(STUCK_S)):
                return
            before = passed
        tell(logging.WARNING, "the last output is lost: nobody reads it", event="output_lost")
        for relay in self._relays:
            relay.pass_on_no_more()
        self._until(self._all_is_passed_on, _in(STUCK_S))


def _in(seconds: float) -> float:
    return time.monotonic() + seconds
