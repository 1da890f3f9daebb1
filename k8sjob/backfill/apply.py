"""Carry a plan out: create Jobs, oldest first and a few at a time, and see how they end.

Whether a period is done is for its row to say. A Job's condition only informs; where the two
contradict each other, both are told.
"""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from k8sjob.backfill.gather import list_jobs, look_again, state_now
from k8sjob.backfill.launch import NameTaken
from k8sjob.backfill.plan import Action
from k8sjob.backfill.traces import alive
from k8sjob.states import State
from k8sjob.view.words import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from k8sjob.backfill.asked import Asked
    from k8sjob.backfill.gather import Place, Survey
    from k8sjob.backfill.launch import Launcher
    from k8sjob.backfill.plan import Line
    from k8sjob.key import Key
    from k8sjob.kube.objects import Job

#: Seconds between two looks at the Jobs, at first and at most.
_FIRST_LOOK_S, _LONGEST_LOOK_S = 1.0, 10.0

#: Names of their own, for tests that let the world go on meanwhile.
_sleep, _clock = time.sleep, time.monotonic

#: What needs nobody any more.
_SETTLED = (State.DONE, State.SKIPPED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How to go about it. Durations are seconds; ``pause`` sleeps, ``clock`` counts seconds."""

    by: str
    parallelism: int = 1
    wait: bool = False
    timeout_s: float | None = None
    pause: Callable[[float], object] = field(default_factory=lambda: _sleep)
    clock: Callable[[], float] = field(default_factory=lambda: _clock)


@dataclass(frozen=True, slots=True)
class Step:
    """Something has happened to a line. ``bad``: it is a reason to end with 1."""

    what: Literal["created", "exists", "changed", "failing", "ended", "timeout"]
    line: Line
    text: str
    bad: bool = False


@dataclass(slots=True)
class Carrying:
    """A plan that is being carried out; `steps` does it."""

    place: Place
    launcher: Launcher
    asked: Asked
    survey: Survey
    terms: Terms
    created: int = 0
    _todo: deque[Line] = field(default_factory=deque)
    _pending: dict[Key, Line] = field(default_factory=dict)
    _failed: dict[str, int] = field(default_factory=dict)  # Pods, by Job

    def steps(self) -> Iterator[Step]:
        """Do it, and yield what happens. Raises what ledger and cluster raise, at once."""
        self._todo = deque(self.survey.plan.of(Action.CREATE))
        if self.terms.wait:
            for line in self.survey.plan.of(Action.WAIT):
                self._pending[line.key_of(self.asked.job)] = line
        started, look_s = self.terms.clock(), _FIRST_LOOK_S
        while self._is_busy():
            before = len(self._todo), len(self._pending)
            yield from self._round()
            if not self._is_busy():
                return
            if self._is_late(started):
                yield from self._give_up()
                return
            moved = before != (len(self._todo), len(self._pending))
            look_s = _FIRST_LOOK_S if moved else min(look_s * 1.5, _LONGEST_LOOK_S)
            self.terms.pause(look_s)

    def _is_busy(self) -> bool:
        return bool(self._todo or (self.terms.wait and self._pending))

    def _round(self) -> Iterator[Step]:
        """Look once at what is under way, and fill up."""
        others = any(line.action is Action.WAIT for line in self._pending.values())
        jobs = list_jobs(self.place, self.survey.basis, everything=others)
        by_name = {job.name: job for job in jobs}
        for key, line in list(self._pending.items()):
            step = self._ended(key, line, by_name, jobs)
            if step is not None:
                del self._pending[key]
                yield step
            elif line.job in by_name:
                yield from self._failing(key, line, by_name[line.job])
        under_way = alive(jobs, self.survey.basis)
        while self._todo and under_way < self.terms.parallelism:
            step = self._launch(self._todo.popleft(), jobs)
            under_way += step.what in ("created", "exists")
            yield step

    # ------------------------------------------------------------------------------- creating

    def _launch(self, planned: Line, jobs: Sequence[Job]) -> Step:
        """Create the Job of a line, unless the period has been seen to meanwhile."""
        line = look_again(self.place, self.asked, self.survey.basis, planned, jobs)
        key = line.key_of(self.asked.job)
        if line.action is not Action.CREATE:
            if line.action is Action.WAIT and self.terms.wait:
                self._pending[key] = line
            bad = line.action is Action.REFUSE
            return Step("changed", line, f"not created any more: {line.reason}", bad=bad)
        assert self.survey.basis.cronjob is not None  # noqa: S101  # Jobs are made from one
        why = f"backfill by {self.terms.by}" + (
            f": {self.asked.reason}" if self.asked.reason else ""
        )
        try:
            made = self.launcher.launch(
                self.survey.basis.cronjob, key, line.generation, line.try_, reason=why
            )
        except NameTaken as error:
            return Step("changed", line, str(error), bad=True)
        self.created += 1
        self._pending[key] = line
        text = "created" if made.how == "created" else "created by somebody else just now"
        return Step(made.how, line, f"Job {line.job} {text}")

    # -------------------------------------------------------------------------------- waiting

    def _ended(
        self, key: Key, line: Line, by_name: Mapping[str, Job], jobs: Sequence[Job]
    ) -> Step | None:
        """Return how a period ended; None while its Job, or whatever is at it, is under way."""
        job = by_name.get(line.job or "")
        if job is not None and job.is_under_way:
            return None
        if line.action is Action.WAIT:
            again = look_again(self.place, self.asked, self.survey.basis, line, jobs)
            if again.action is Action.WAIT:
                return None
        state, reason = state_now(self.place, key)
        done = state in _SETTLED
        return Step("ended", line, _how_it_ended(line, state, reason, job), bad=not done)

    def _failing(self, key: Key, line: Line, job: Job) -> Iterator[Step]:
        """Tell each failure of a Job that goes on trying: with retries that may take hours."""
        if job.failed > self._failed.get(job.name, 0):
            self._failed[job.name] = job.failed
            tries = "1 try has" if job.failed == 1 else f"{job.failed} tries have"
            why = f"why: k8sjob describe {key}"
            yield Step("failing", line, f"Job {job.name}: {tries} failed so far; {why}")

    def _is_late(self, started: float) -> bool:
        limit = self.terms.timeout_s
        return limit is not None and self.terms.clock() - started >= limit

    def _give_up(self) -> Iterator[Step]:
        for line in self._pending.values():
            what = f"Job {line.job}" if line.job else "an attempt that is no Job's"
            yield Step("timeout", line, f"{what} is still under way", bad=True)
        for line in self._todo:
            yield Step("timeout", line, "not begun", bad=True)


def _how_it_ended(line: Line, state: State | None, reason: str, job: Job | None) -> str:
    """Say what the row says, and the Job where it says something else or more."""
    said = _of_job(line, job)
    if state is State.DONE:
        agrees = said is None or (job is not None and job.finished == "Complete")
        return "done" if agrees else f"done, though {said}"
    what = "not done" if state in (None, State.OPEN) else str(state)
    why = f": {one_line(reason)}" if reason and state is not State.OPEN else ""
    return f"{what}{why}" + (f"; {said}" if said else "")


def _of_job(line: Line, job: Job | None) -> str | None:
    """Say how a Job ended; None where an attempt was waited for that is no Job's."""
    if job is None:
        return "its Job is gone" if line.job else None
    why = f": {job.reason}" if job.finished == "Failed" and job.reason else ""
    return f"Job {job.name} is {job.finished}{why}"
