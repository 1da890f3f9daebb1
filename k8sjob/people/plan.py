"""What an order comes to, given what the ledger holds: a decision a period. Pure.

``--dry-run`` and the command itself show the same plan.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from k8sjob.errors import ConfigError, UsageError
from k8sjob.ledger.operate import Changes, Decision, Wanted
from k8sjob.ledger.uuid7 import short
from k8sjob.people.clock import utc
from k8sjob.people.order import Verb
from k8sjob.states import State

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from k8sjob.key import Key
    from k8sjob.ledger.operate import Hold, Row, Scope, Sight
    from k8sjob.people.order import Moment, Order

#: By how much a clock may be ahead of the ledger's; the claim allows the same.
FUTURE = timedelta(minutes=5)
#: The zone where a calendar day begins first: UTC+14. (The sign is POSIX's.)
EARLIEST_ZONE = "Etc/GMT-14"


class Fate(StrEnum):
    """What becomes of one thing that an order names."""

    CHANGE = "change"
    ALREADY = "already"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Step:
    """One period. ``before`` counts a block whose time is up as open; ``why`` says why not."""

    key: Key
    row: Row | None
    before: State | None
    fate: Fate
    why: str = ""
    future: bool = False


@dataclass(frozen=True, slots=True)
class HoldStep:
    """One scope: its own holds that are lifted, what else holds it, what holds some of it."""

    scope: Scope
    fate: Fate
    lifted: tuple[Hold, ...] = ()
    others: tuple[Hold, ...] = ()
    inner: tuple[Hold, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """All that one order comes to. Times are aware UTC."""

    order: Order
    sight: Sight
    steps: Sequence[Step]
    holds: Sequence[HoldStep]
    until: datetime | None = None
    deadline: datetime | None = None
    unknown: Sequence[str] = field(default=())

    @property
    def refused(self) -> list[Step]:
        """The periods that keep all of it from being done."""
        return [step for step in self.steps if step.fate is Fate.REFUSED]

    @property
    def changes_nothing(self) -> bool:
        """Whether everything is as wanted already."""
        fates = [step.fate for step in self.steps] + [step.fate for step in self.holds]
        return Fate.CHANGE not in fates

    def changes(self) -> Changes:
        """Return what a ledger is to do."""
        verb = self.order.verb
        return Changes(
            decisions=[
                Decision(
                    str(verb),
                    step.key,
                    step.before,
                    step.row.generation if step.row else 0,
                    verb.rule.after,
                )
                for step in self.steps
                if step.fate is Fate.CHANGE
            ],
            holds=[
                step.scope for step in self.holds if step.fate is Fate.CHANGE and verb is Verb.BLOCK
            ],
            lifts=[hold for step in self.holds for hold in step.lifted],
            reason=self.order.reason,
            by=self.order.by,
            until=self.until,
            indicator=self.order.indicator,
            deadline=self.deadline,
        )

    def needs_yes(self) -> list[str]:
        """Return what a person should have said yes to; empty for one period or one job."""
        wide = [str(step.scope) for step in self.holds if step.scope.job is None]
        if len(self.steps) > 1:
            wide.append(f"{len(self.steps)} periods")
        if len(self.holds) > 1:
            wide.append(f"{len(self.holds)} jobs")
        wide += [f"{step.key}, whose time has not come" for step in self.steps if step.future]
        wide += [f"{job}, a job that this ledger does not know" for job in self.unknown]
        return wide


def wanted(order: Order) -> Wanted:
    """Return what has to be looked at."""
    return Wanted(
        keys=order.keys, ranges=order.ranges, scopes=order.scopes, indicator=order.indicator
    )


def plan(order: Order, sight: Sight) -> Plan:
    """Decide on everything that the order names. Raises UsageError, ConfigError."""
    until = _instant(order.until, sight.now, "--until")
    deadline = _instant(order.deadline, sight.now, "--deadline")
    keys = sorted({*order.keys, *_keys_of_ranges(order, sight)})
    for key in keys:
        _check_kind(key, sight)
    if order.indicator and len(keys) > 1:
        raise UsageError(
            f"{len(keys)} periods cannot all await {order.indicator}. Nothing was changed.\n"
            "  An indicator shows the effect of one period: name one, or leave --indicator out."
        )
    return Plan(
        order=order,
        sight=sight,
        steps=[_step(order, key, sight, until) for key in keys],
        holds=[_hold_step(order, scope, sight, until) for scope in order.scopes],
        until=until,
        deadline=deadline,
        unknown=sorted({str(job) for job in _unknown(order, keys, sight)}),
    )


def _keys_of_ranges(order: Order, sight: Sight) -> Iterator[Key]:
    for key in sight.rows:
        if any(key in span for span in order.ranges):
            yield key


def _unknown(order: Order, keys: Sequence[Key], sight: Sight) -> Iterator[object]:
    named = [key.job.job for key in keys] + [s.job for s in order.scopes if s.job is not None]
    yield from (job for job in named if job not in sight.jobs)


def _instant(moment: Moment | None, now: datetime, flag: str) -> datetime | None:
    if moment is None:
        return None
    at = moment if isinstance(moment, datetime) else now + moment
    if at <= now:
        raise UsageError(
            f"{flag} {utc(at)} has passed: by the ledger's clock it is {utc(now)}. Nothing was "
            "changed.\n  Give a time to come, or a duration such as 1d."
        )
    return at.replace(microsecond=0) if isinstance(moment, timedelta) else at


def _check_kind(key: Key, sight: Sight) -> None:
    facts = sight.jobs.get(key.job.job)
    if facts is not None and facts.cycle not in (None, key.period.cycle):
        raise ConfigError(
            f"{key.job.job} has periods of kind {facts.cycle}, {key} is of kind "
            f"{key.period.cycle}\n"
            "  Nothing was changed. The kind of a job's periods is fixed: name a period of it."
        )


def _step(order: Order, key: Key, sight: Sight, until: datetime | None) -> Step:
    row, rule = sight.rows.get(key), order.verb.rule
    before = None if row is None else row.state
    if row and row.until and row.until <= sight.now and State.OPEN in rule.before:
        before = State.OPEN  # a block whose time is up
    future = _is_future(key, sight)
    fate, why = _fate(order, key, before, sight, until)
    if fate is Fate.CHANGE and future and order.verb is Verb.AWAIT:
        fate, why = Fate.REFUSED, "its time has not come, so nothing was handed over"
    return Step(key, row, before, fate, why, future)


def _is_future(key: Key, sight: Sight) -> bool:
    facts = sight.jobs.get(key.job.job)
    start = key.period.scheduled_for((facts and facts.zone) or EARLIEST_ZONE)
    return start is not None and start > sight.now + FUTURE


def _fate(
    order: Order, key: Key, before: State | None, sight: Sight, until: datetime | None
) -> tuple[Fate, str]:
    row, verb = sight.rows.get(key), order.verb
    if other := _other_attempt(order, row):
        return Fate.REFUSED, other
    if before is verb.rule.after:
        if verb is Verb.BLOCK and row and (row.reason, row.until) != (order.reason, until):
            return Fate.REFUSED, f"{tell(row)}; release it first"
        return Fate.ALREADY, ""
    if before is None and _is_below_floor(key, sight):
        return (
            Fate.REFUSED,
            "expired: it lies at or below the retention floor and its row is gone",
        )
    if verb is Verb.AWAIT and sight.awaited not in (None, key):
        return Fate.REFUSED, f"{sight.awaited} awaits {order.indicator} already; confirm it first"
    if before in verb.rule.before:
        return Fate.CHANGE, ""
    return Fate.REFUSED, f"{tell(row)}; {_instead(order, before, key, sight)}"


def _is_below_floor(key: Key, sight: Sight) -> bool:
    facts = sight.jobs.get(key.job.job)
    return facts is not None and facts.floor is not None and str(key.period) <= facts.floor


def _other_attempt(order: Order, row: Row | None) -> str:
    """Say that the row is another attempt's than ``--attempt`` says."""
    if order.attempt is None or row is None:
        return ""
    if row.attempt is None:
        return f"{tell(row)}, of no attempt"
    if str(row.attempt).startswith(order.attempt.lower()):
        return ""
    return f"{tell(row)}, of attempt {short(row.attempt)}"


def _instead(order: Order, before: State | None, key: Key, sight: Sight) -> str:
    """Say what to do first, or instead."""
    match order.verb, before:
        case Verb.RELEASE, _:
            held = [h for h in sight.holds if h.scope.covers(key.job)]
            return f"held is {held[0].scope}" if held else "nothing blocks it"
        case Verb.REOPEN, _:
            return "nothing is to be opened again, it can be run"
        case Verb.CONFIRM, State.SKIPPED:
            return "reopen it first"
        case Verb.CONFIRM, _:
            return "nothing was handed over that could be confirmed"
        case _, State.AWAITING:
            return "confirm it, or reopen it first"
        case _, State.BLOCKED:
            return "release it first"
    return "reopen it first"


def tell(row: Row | None) -> str:
    """Say in a few words how a period stands."""
    if row is None:
        return "no row"
    match row.state:
        case State.DONE:
            by = f" by attempt {short(row.attempt)}" if row.attempt else ""
            return f"done {utc(row.done_at)}{by}" if row.done_at else "done"
        case State.BLOCKED:
            until = f" until {utc(row.until)}" if row.until else ""
            return f"blocked{until}: {row.reason}"
        case State.OPEN:
            return "open"
    return f"{row.state}: {row.reason}"


def _hold_step(order: Order, scope: Scope, sight: Sight, until: datetime | None) -> HoldStep:
    same = tuple(h for h in sight.holds if h.scope == scope)
    others = tuple(h for h in sight.holds if h not in same and _holds(h.scope, scope))
    if order.verb is Verb.RELEASE:
        inner = tuple(h for h in sight.holds if h not in same and _holds(scope, h.scope))
        return HoldStep(scope, Fate.CHANGE if same else Fate.ALREADY, same, others, inner)
    again = any((h.reason, h.until) == (order.reason, until) for h in same)
    return HoldStep(scope, Fate.ALREADY if again else Fate.CHANGE, (), same + others)


def _holds(wide: Scope, narrow: Scope) -> bool:
    """Whether a hold of ``wide`` stops all of ``narrow``."""
    if wide.job is not None:
        return False  # the same job, or another one
    return wide.namespace in (None, narrow.namespace)
