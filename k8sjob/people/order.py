"""What a person asks for: the arguments of a command, read and checked. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from k8sjob.duration import parse_duration
from k8sjob.errors import UsageError
from k8sjob.key import JobName, Key, KeyRange
from k8sjob.ledger.operate import Scope
from k8sjob.period import periods_between
from k8sjob.states import State

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: A time as a person gives it: from now on, or an aware instant.
Moment: TypeAlias = timedelta | datetime

#: More periods than this in one command are a slip: they are all held by one transaction.
MOST_PERIODS = 5000


class Verb(StrEnum):
    """What can be decided on a period."""

    BLOCK = "block"
    SKIP = "skip"
    AWAIT = "await"
    CONFIRM = "confirm"
    RELEASE = "release"
    REOPEN = "reopen"

    @property
    def rule(self) -> Rule:
        """From where to where."""
        return _RULES[self]


@dataclass(frozen=True, slots=True)
class Rule:
    """A verb's move; ``k8sjob.decide`` has the same. ``holds``: jobs and wider can be named too."""

    after: State
    before: frozenset[State | None]
    done: str  # what a period was, once the verb was done to it
    holds: bool = False

    @property
    def makes_rows(self) -> bool:
        """Whether it can be done to a period without a row."""
        return None in self.before


_FORWARD = frozenset({None, State.OPEN})
_RULES = {
    Verb.BLOCK: Rule(State.BLOCKED, _FORWARD, "blocked", holds=True),
    Verb.SKIP: Rule(State.SKIPPED, _FORWARD, "skipped"),
    Verb.AWAIT: Rule(State.AWAITING, _FORWARD, "awaiting"),
    Verb.CONFIRM: Rule(State.DONE, frozenset({State.AWAITING, State.BLOCKED}), "confirmed"),
    Verb.RELEASE: Rule(State.OPEN, frozenset({State.BLOCKED}), "released", holds=True),
    Verb.REOPEN: Rule(
        State.OPEN,
        frozenset({State.DONE, State.SKIPPED, State.BLOCKED, State.AWAITING}),
        "reopened",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """One command. ``keys`` are the periods named or counted, ``ranges`` those to be looked up.

    ``counted`` are the ranges whose periods are among the keys.
    """

    verb: Verb
    reason: str
    by: str
    keys: Sequence[Key] = ()
    ranges: Sequence[KeyRange] = ()
    counted: Sequence[KeyRange] = ()
    scopes: Sequence[Scope] = ()
    until: Moment | None = None
    indicator: str | None = None
    deadline: Moment | None = None
    attempt: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Targets:
    """What a command names: keys, ranges and jobs, ``-n`` and ``-A``.

    ``space`` is the namespace of names without one; only ``namespace``, which somebody has typed
    for this command, can mean the namespace itself.
    """

    words: Sequence[str] = ()
    namespace: str | None = None
    everything: bool = False
    space: str | None = None


def parse_moment(text: str) -> Moment:
    """Read ``1d`` or ``2026-09-14T19:00:00Z``. Raises UsageError."""
    if re.match(r"\s*[0-9]{4}-", text):
        try:
            at = datetime.fromisoformat(text.strip())
        except ValueError:
            at = None
        if at is not None and at.utcoffset() is not None:
            return at.astimezone(UTC)
        raise UsageError(
            f"not an instant: {text!r}. Nothing was changed.\n"
            "  Write it with its offset, e.g. 2026-09-14T19:00:00Z, or a duration such as 1d."
        )
    return timedelta(seconds=parse_duration(text))


def read_targets(verb: Verb, targets: Targets) -> tuple[list[Key], list[KeyRange], list[Scope]]:
    """Return the keys, ranges and scopes that a command names. Raises UsageError, InvalidKey."""
    if targets.everything or not targets.words:
        return [], [], [_wide_scope(verb, targets)]
    keys: dict[Key, None] = {}
    ranges: dict[KeyRange, None] = {}
    scopes: dict[Scope, None] = {}
    for word in targets.words:
        job, colon, period = word.partition(":")
        name = _full(job, targets)
        if not colon:
            scopes[_scope(verb, JobName.parse(name))] = None
        elif ".." in period:
            ranges[KeyRange.parse(f"{name}:{period}")] = None
        else:
            keys[Key.parse(f"{name}:{period}")] = None
    return list(keys), list(ranges), list(scopes)


def count_periods(keys: list[Key], ranges: Sequence[KeyRange]) -> list[KeyRange]:
    """Add the days, weeks and months of ``ranges`` to ``keys``; return those ranges."""
    counted = [span for span in ranges if span.cycle.on_calendar]
    known = set(keys)
    for key in _periods_of(counted):
        if key not in known:
            keys.append(key)
            known.add(key)
        if len(keys) > MOST_PERIODS:
            raise UsageError(
                f"these are more than {MOST_PERIODS} periods. Nothing was changed.\n"
                "  Check the years; if all of them are meant, take them in several commands."
            )
    return counted


def _periods_of(ranges: Sequence[KeyRange]) -> Iterator[Key]:
    for span in ranges:
        for period in periods_between(span.first, span.last):
            yield Key(span.job, period)


def _wide_scope(verb: Verb, targets: Targets) -> Scope:
    if targets.words or (targets.everything and targets.namespace):
        raise UsageError(
            "-A means all jobs of all namespaces, and something else is named too. Nothing was "
            "changed.\n  Name one or the other."
        )
    if not targets.everything and not targets.namespace:
        raise UsageError(
            f"nothing is named to {verb}. Nothing was changed.\n"
            f"  Write NAMESPACE/NAME:PERIOD, e.g. k8sjob {verb} billing/daily-credit:2026-09-13"
        )
    if not verb.rule.holds:
        raise UsageError(
            f"only periods can be {verb.rule.done}, one by one or in a range. Nothing was changed."
            f"\n  Write NAMESPACE/NAME:PERIOD or NAMESPACE/NAME:FIRST..LAST."
        )
    if targets.everything:
        return Scope()
    JobName(targets.namespace or "", "any")  # says what is wrong with the namespace
    return Scope(targets.namespace)


def _scope(verb: Verb, job: JobName) -> Scope:
    if not verb.rule.holds:
        raise UsageError(
            f"{job} names no period, and only periods can be {verb.rule.done}. Nothing was "
            f"changed.\n  Write {job}:PERIOD or {job}:FIRST..LAST."
        )
    if job.part is not None:
        raise UsageError(
            f"{job} is a part, and a hold is of a job. Nothing was changed.\n"
            f"  Write {job.job} for the job, or {job}:PERIOD for one period of the part."
        )
    return Scope.of_job(job)


def _full(job: str, targets: Targets) -> str:
    """Return the job's name with its namespace. Raises UsageError where two are given."""
    if "/" not in job:
        space = targets.namespace or targets.space
        return f"{space}/{job}" if space and job else job
    if targets.namespace and job.partition("/")[0] != targets.namespace:
        raise UsageError(
            f"{job} is not of namespace {targets.namespace}. Nothing was changed.\n"
            f"  Leave -n {targets.namespace} out, or write {job.partition('/')[2]} alone."
        )
    return job


def check_reason(reason: str | None, verb: Verb) -> str:
    """Return the reason in one piece. Raises UsageError where there is none, or but dots."""
    if reason and any(map(str.isalnum, reason)):
        return reason.strip()
    what = "the evidence" if verb is Verb.CONFIRM else "why"
    raise UsageError(
        f"a reason is needed to {verb}. Nothing was changed.\n"
        f'  Add --reason "…": in one line, {what}; whoever finds it later has only this.'
    )
