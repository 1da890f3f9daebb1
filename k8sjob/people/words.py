"""A plan in words: a line a period for a person, JSON for a program. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from k8sjob.ledger.uuid7 import short
from k8sjob.people.clock import beside, local, utc
from k8sjob.people.order import Verb
from k8sjob.people.plan import Fate, tell
from k8sjob.states import State

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from k8sjob.key import JobName, Key, KeyRange
    from k8sjob.ledger.operate import Flight
    from k8sjob.people.plan import HoldStep, Plan, Step

_LISTED = 10


def lines(plan: Plan) -> list[str]:
    """Return a line a period and a hold: key, local time where the zone is known, what is."""
    table = [(str(step.scope), "", _hold_words(plan, step)) for step in plan.holds]
    table += [(str(s.key), _local(plan, s), _step_words(plan, s)) for s in plan.steps]
    first = max((len(row[0]) for row in table), default=0)
    second = max((len(row[1]) for row in table), default=0)
    return [
        f"{name:{first}}  " + (f"{at:{second}}  " if second else "") + words
        for name, at, words in table
    ]


def names(plan: Plan) -> list[str]:
    """Return what is changed, and nothing else: ``NS/NAME:PERIOD``, or a hold's scope."""
    if plan.refused:
        return []
    changed = [str(step.scope) for step in plan.holds if step.fate is Fate.CHANGE]
    return changed + [str(step.key) for step in plan.steps if step.fate is Fate.CHANGE]


def _zone(plan: Plan, key: Key, step: Step | None = None) -> str | None:
    facts = plan.sight.jobs.get(key.job.job)
    return (step and step.row and step.row.zone) or (facts and facts.zone) or None


def _local(plan: Plan, step: Step) -> str:
    at = step.key.period.scheduled_for(None)
    return local(at, _zone(plan, step.key, step)) if at else ""


def _until(at: datetime | None, zone: str | None) -> str:
    return f" until {beside(at, zone)}" if at else ""


def _step_words(plan: Plan, step: Step) -> str:
    if step.fate is Fate.REFUSED:
        return f"refused: {step.why}"
    if step.fate is Fate.ALREADY:
        return f"already {tell(step.row)}"
    if plan.refused:
        return f"left as it is: {tell(step.row)}"
    zone, reason = _zone(plan, step.key, step), plan.order.reason
    match plan.order.verb:
        case Verb.BLOCK:
            return f"blocked{_until(plan.until, zone)}: {reason}"
        case Verb.SKIP:
            return f"skipped: {reason}"
        case Verb.AWAIT:
            shows = f" {plan.order.indicator}" if plan.order.indicator else ""
            return f"awaiting{shows}{_until(plan.deadline, zone)}: {reason}"
        case Verb.CONFIRM:
            return f"done: {reason} (was {tell(step.row)})"
    generation = step.row.generation + 1 if step.row else 0
    return f"open, generation {generation}: {reason} (was {tell(step.row)})"


def _hold_words(plan: Plan, step: HoldStep) -> str:
    facts = plan.sight.jobs.get(step.scope.job) if step.scope.job else None
    zone, reason = facts.zone if facts else None, plan.order.reason
    if plan.order.verb is Verb.BLOCK:
        if step.fate is Fate.ALREADY:
            return f"already blocked{_until(plan.until, zone)}: {reason}"
        if plan.refused:
            return "left as it is"
        return f"blocked{_until(plan.until, zone)}: {reason}"
    if step.fate is Fate.ALREADY:
        return "already free: there is no hold of exactly this"
    if plan.refused:
        return "left as it is"
    were = "; ".join(f"{h.reason}, by {h.set_by} {utc(h.set_at)}" for h in step.lifted)
    return f"released: {reason} (was blocked: {were})"


# ------------------------------------------------------------------------------------- talk


def notes(plan: Plan) -> Iterator[str]:
    """Say what a person should know beside the lines; for standard error."""
    yield from _range_notes(plan)
    for job in plan.unknown:
        yield f"this ledger does not know the job {job} yet"
    yield from _flight_notes(plan)
    if not plan.refused:
        yield from _hold_notes(plan)
    if plan.order.verb is Verb.REOPEN and not plan.refused:
        done = [s for s in plan.steps if s.before is State.DONE and s.fate is Fate.CHANGE]
        if done:
            yield f"{_count(len(done), 'done period')} will be done again by the next attempt"


def _range_notes(plan: Plan) -> Iterator[str]:
    for span in plan.order.counted:
        found = sum(step.key in span for step in plan.steps)
        yield f"{_count(found, span.cycle)} from {span.first} to {span.last} of {span.job}"
    for span in plan.order.ranges:
        yield range_note(span, sum(step.key in span for step in plan.steps))


def range_note(span: KeyRange, found: int) -> str:
    """Say that a range means the rows that the ledger has."""
    return (
        f"{_count(found, 'period')} of the ledger between {span.first} and {span.last} of "
        f"{span.job}; periods without a row are not among them"
    )


def _flight_notes(plan: Plan) -> Iterator[str]:
    flights = plan.sight.flights
    if not flights or plan.order.verb is Verb.RELEASE:
        return
    listed = ", ".join(_flight(plan, flight) for flight in flights[:_LISTED])
    more = len(flights) - _LISTED
    rest = f" and {more} more" if more > 0 else ""
    is_are = "is already under way and is" if len(flights) == 1 else "are already under way and are"
    yield f"{_count(len(flights), 'attempt')} {is_are} not stopped: {listed}{rest}"


def _flight(plan: Plan, flight: Flight) -> str:
    today = flight.started_at.date() == plan.sight.now.date()
    since = f"{flight.started_at:%H:%M:%SZ}" if today else utc(flight.started_at)
    many = len({step.key for step in plan.steps}) + len(plan.holds) > 1 or plan.holds
    of = f" of {flight.key}" if many else ""
    return f"{short(flight.attempt)} since {since}{of}" + (f" in {flight.pod}" * bool(flight.pod))


def _hold_notes(plan: Plan) -> Iterator[str]:
    for step in plan.holds:
        for hold in step.others:
            what = "is still" if plan.order.verb is Verb.RELEASE else "is also"
            of = "" if hold.scope == step.scope else f" by a hold of {hold.scope}"
            yield f"{step.scope} {what} blocked{of}{_until(hold.until, None)}: {hold.reason}"
        for hold in step.inner:
            yield f"{hold.scope} stays blocked{_until(hold.until, None)}: {hold.reason}"
        alone = plan.sight.blocked.get(step.scope, 0)
        if plan.order.verb is Verb.RELEASE and alone:
            yield (
                f"{_count(alone, 'period')} of {step.scope} stay blocked for reasons of their own: "
                f'k8sjob release {step.scope.job or "NAMESPACE/NAME"}:PERIOD --reason "…"'
            )
    if plan.order.verb in (Verb.RELEASE, Verb.REOPEN):
        jobs = {step.key.job.job for step in plan.steps}
        for hold in plan.sight.holds:
            held = [str(job) for job in sorted(jobs) if hold.scope.covers(job)]
            if held:
                yield (
                    f"no attempt gets at {', '.join(held)} while {hold.scope} is "
                    f"blocked{_until(hold.until, None)}: {hold.reason}"
                )


def refusal(plan: Plan) -> str:
    """Say in three parts why nothing was done."""
    verb, refused = plan.order.verb, plan.refused
    rest = [str(step.key) for step in plan.steps if step.fate is Fate.CHANGE]
    first = f"{refused[0].key} cannot be {verb.rule.done}: {refused[0].why}"
    if len(plan.steps) > 1:
        first += f" ({len(refused)} of {_count(len(plan.steps), 'period')} refused)"
    advice = ""
    if rest and len(rest) <= _LISTED:
        advice = f' To {verb} the others: k8sjob {verb} {" ".join(rest)} --reason "…"'
    elif len(plan.steps) == 1:
        advice = f" See k8sjob describe {refused[0].key}"
    return f"{first}\n  Nothing was changed.{advice}"


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}" + ("" if number == 1 else "s")


# ------------------------------------------------------------------------------------- JSON

_RESULT = {Fate.CHANGE: "changed", Fate.ALREADY: "already", Fate.REFUSED: "refused"}


def as_json(plan: Plan, *, dry_run: bool) -> dict[str, Any]:
    """Return what `lines` and `notes` say, for a program. docs/reference.md tells the fields."""
    order = plan.order
    return {
        "verb": str(order.verb),
        "dry_run": dry_run,
        "changed": not (dry_run or plan.refused or plan.changes_nothing),
        "reason": order.reason,
        "by": order.by,
        "until": _iso(plan.until),
        "indicator": order.indicator,
        "deadline": _iso(plan.deadline),
        "periods": [_step_json(plan, step) for step in plan.steps],
        "holds": [_hold_json(plan, step) for step in plan.holds],
        "in_flight": [
            {
                "attempt": str(flight.attempt),
                "key": str(flight.key),
                "started_at": _iso(flight.started_at),
                "pod": flight.pod,
            }
            for flight in plan.sight.flights
        ],
    }


def _step_json(plan: Plan, step: Step) -> dict[str, Any]:
    changed = step.fate is Fate.CHANGE and not plan.refused
    generation = step.row.generation if step.row else 0
    back = changed and plan.order.verb.rule.after is State.OPEN
    return {
        "key": str(step.key),
        "job": str(step.key.job),
        "period": str(step.key.period),
        "from": step.before,
        "to": plan.order.verb.rule.after if changed else step.before,
        "generation": generation + back,
        "result": "unchanged" if step.fate is Fate.CHANGE and not changed else _RESULT[step.fate],
        "why": step.why or None,
        "attempt": str(step.row.attempt) if step.row and step.row.attempt else None,
    }


def _hold_json(plan: Plan, step: HoldStep) -> dict[str, Any]:
    changed = step.fate is Fate.CHANGE and not plan.refused
    job: JobName | None = step.scope.job
    return {
        "namespace": step.scope.namespace,
        "job": str(job) if job else None,
        "result": "unchanged" if step.fate is Fate.CHANGE and not changed else _RESULT[step.fate],
        "lifted": [hold.id for hold in step.lifted] if changed else [],
    }


def _iso(at: datetime | None) -> str | None:
    return f"{at:%Y-%m-%dT%H:%M:%SZ}" if at else None
