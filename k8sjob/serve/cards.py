"""Periods and attempts as a job's page shows them. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from k8sjob.ledger.uuid7 import short
from k8sjob.serve import signs
from k8sjob.serve.shown import When, lateness, maybe_when, name_of, when
from k8sjob.states import State
from k8sjob.view import attempts as att
from k8sjob.view import state as st
from k8sjob.view.oddities import oddities
from k8sjob.view.periods import line_of
from k8sjob.view.story import is_expired, launch_lines, what_now
from k8sjob.view.words import count, lines, one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from k8sjob.key import Key
    from k8sjob.ledger.read import AttemptRow, EventRow, Snapshot
    from k8sjob.serve.signs import Sign
    from k8sjob.view.periods import Line


class Advice(NamedTuple):
    """A line to paste, or a sentence where there is nothing to do; and a word about it."""

    command: str
    note: str


class Try(NamedTuple):
    """An attempt. ``tone`` is good, bad or plain; ``output`` its last lines."""

    id: str
    period: str
    started: When
    took: str
    outcome: str
    tone: str
    exit_code: str
    pod: str
    message: str
    output: str


class Event(NamedTuple):
    """A change of a period's state."""

    at: When
    move: str
    by: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A period with what is known of it, and what to do about it. ``anchor`` is its id."""

    anchor: str
    name: str
    sign: Sign
    at: When | None
    lateness: str
    deadline: When | None
    reason: str
    facts: Sequence[tuple[str, str]]
    advice: Sequence[Advice]
    tries: Sequence[Try]
    tried: str
    events: Sequence[Event] = ()
    jobs: Sequence[str] = ()
    known: Sequence[str] = ()


def card(seen: Snapshot, line: Line, attempts: Iterable[AttemptRow], now: datetime) -> Card:
    """Return an unfinished period; ``attempts`` are the newest of all periods."""
    of_it = [one for one in attempts if one.key == line.key]
    return Card(
        anchor=anchor(line.key),
        name=name_of(line),
        sign=signs.of_line(seen, line),
        at=maybe_when(line.at, line.zone, now),
        lateness=lateness(line),
        deadline=maybe_when(line.deadline, line.zone, now),
        reason=line.reason,
        facts=list(_facts(line)),
        advice=_advice(seen, line),
        tries=[a_try(one, line.zone, now) for one in of_it],
        tried=count(line.tries.count, "attempt") if line.tries.count else "no attempt is known",
    )


def story(seen: Snapshot, key: Key) -> Card:
    """Return all there is of one period; ``seen`` is its story."""
    line, now = line_of(seen, key), seen.now
    whole = card(seen, line, seen.attempts, now)
    expired = is_expired(seen, key)
    return replace(
        whole,
        anchor="period",
        lateness=whole.lateness if line.state in st.UNFINISHED else "",
        reason="expired: what is as old as that was pruned" if expired else whole.reason,
        events=[_event(one, line.zone, now) for one in seen.events],
        jobs=list(launch_lines(seen.launches)),
        known=list(oddities(seen, key)),
    )


def anchor(key: Key) -> str:
    """Return the id of a period's card on its page."""
    return f"p-{key.job.part or ''}-{key.period}"


def a_try(attempt: AttemptRow, zone: str | None, now: datetime) -> Try:
    """Return how an attempt is shown."""
    return Try(
        id=short(attempt.id),
        period=str(attempt.key.period),
        started=when(attempt.started_at, zone, now),
        took=att.took(attempt, now),
        outcome=att.outcome(attempt, now),
        tone=_tone(attempt, now),
        exit_code="" if attempt.exit_code is None else str(attempt.exit_code),
        pod=one_line(attempt.pod_name),
        message=att.message(attempt, now),
        output="\n".join(lines(attempt.tail)),
    )


_GOOD = ("applied", "duplicate")
_PLAIN = ("skipped", "blocked", "awaiting", "running")


def _tone(attempt: AttemptRow, now: datetime) -> str:
    outcome = att.outcome(attempt, now)
    return "good" if outcome in _GOOD else "plain" if outcome in _PLAIN else "bad"


def _facts(line: Line) -> Iterable[tuple[str, str]]:
    """Yield what its row tells beside state and reason."""
    row = line.row
    if row is None:
        return
    if row.state == State.DONE and row.done_at:
        by = f" by attempt {short(row.attempt)}" if row.attempt else ""
        yield "Done", f"{row.done_at:%Y-%m-%d %H:%M:%SZ}{by}"
    if row.until:
        yield "Blocked until", f"{row.until:%Y-%m-%d %H:%M:%SZ}"
    if row.indicator:
        yield "Awaits", one_line(row.indicator)
    if row.await_deadline and row.state == State.AWAITING:
        yield "Expected by", f"{row.await_deadline:%Y-%m-%d %H:%M:%SZ}"
    if row.superseded_by:
        yield "Superseded by", row.superseded_by
    if row.generation:
        yield "Generation", str(row.generation)


def _advice(seen: Snapshot, line: Line) -> list[Advice]:
    return [_read_advice(text) for text in what_now(seen, line.key, line.state)]


def _read_advice(text: str) -> Advice:
    """Take the line to paste out of what `describe` says."""
    before, command, rest = text.partition("k8sjob ")
    if not command:
        return Advice("", text)
    line, _, note = rest.partition("   (")
    words = before.strip().rstrip(":")
    return Advice(command + line.rstrip(), note.rstrip(")") or words)


def _event(event: EventRow, zone: str | None, now: datetime) -> Event:
    return Event(
        at=when(event.at, zone, now),
        move=f"{event.from_state or 'absent'} → {event.to_state}",
        by=one_line(event.by),
        reason=one_line(event.reason),
    )
