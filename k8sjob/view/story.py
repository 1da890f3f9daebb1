"""``describe KEY``: the whole story of one period. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from k8sjob.ledger.read import Tries
from k8sjob.ledger.uuid7 import short
from k8sjob.states import State
from k8sjob.view import state as st
from k8sjob.view.asked import unknown
from k8sjob.view.oddities import oddities
from k8sjob.view.table import paint
from k8sjob.view.words import clock, duration, ending, lines, local, one_line, said, utc

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from k8sjob.errors import K8sjobError
    from k8sjob.key import Key
    from k8sjob.ledger.launches import Launch
    from k8sjob.ledger.read import AttemptRow, EventRow, HoldRow, PeriodRow, Snapshot

_WIDTH = 12
#: Lines of an attempt's output: the rest is in ``get attempts -o json``.
_OUTPUT = 5


def section(title: str, body: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a titled block; nothing where there are none."""
    for number, line in enumerate(body):
        yield f"{'' if number else title:<{_WIDTH}}{line}".rstrip()


def story(seen: Snapshot, key: Key, *, colour: bool) -> Iterator[str]:
    """Yield the lines of the story."""
    row, state = seen.rows[key], state_in(seen, key)
    expired = is_expired(seen, key)
    holds = [hold for hold in seen.holds if hold.covers(key.job)]
    yield from section("Key", [str(key)])
    yield from section("Scheduled", _scheduled(seen, key))
    shown = paint(str(state)) if colour else str(state)
    if expired:
        yield from section("State", [f"expired (the floor is {_floor_above(seen, key)})"])
    else:
        yield from section("State", _state(seen, key, shown, row, state))
    yield from section("Jobs", launch_lines(seen.launches))
    yield from section("Attempts", _attempts(seen))
    yield from section("Events", _events(seen.events))
    yield from section("Holds", hold_lines(seen, holds))
    yield from section("Known", oddities(seen, key))
    yield from section("What now", what_now(seen, key, state))


def state_in(seen: Snapshot, key: Key) -> State:
    """Return what the period is at the snapshot's moment."""
    tries = seen.tries.get(key, Tries())
    return st.state_of(seen.rows[key], tries, seen.now, seen.slots.get(key))


def is_expired(seen: Snapshot, key: Key) -> bool:
    """Whether it has no row and is not above the floor: nobody knows, and nobody may do it."""
    return seen.rows[key] is None and _floor_above(seen, key) is not None


def _floor_above(seen: Snapshot, key: Key) -> str | None:
    """Return the job's floor if the period is not above it."""
    job = seen.jobs.get(key.job.job)
    floor = job.floor if job else None
    return floor if floor is not None and str(key.period) <= floor else None


def _scheduled(seen: Snapshot, key: Key) -> Iterator[str]:
    at, zone = st.time_of(seen, key), st.zone_of(seen, key)
    deadline = st.deadline_of(seen, key)
    due = f", due {clock(deadline, at)}" if deadline else ""
    if at is None:
        yield f"{key.period}, when that begins is not known{due}"
        return
    there = local(at, zone, year=True)
    yield f"{f'{there} {zone} = ' if there else ''}{at:%Y-%m-%dT%H:%M:%SZ}{due}"


def _state(
    seen: Snapshot, key: Key, shown: str, row: PeriodRow | None, state: State
) -> Iterator[str]:
    if row is None:
        yield f"{shown} ({_without_row(seen, state)})"
    else:
        yield from _of_row(key, shown, row, state)
    if st.is_uncertain(seen, key):
        yield "schedule uncertain: it is not known whether the job had this schedule then"


def _without_row(seen: Snapshot, state: State) -> str:
    if seen.attempts and state is not State.UPCOMING:
        return "nothing is stored: it was tried, and nobody has done it"
    if state is State.SUSPENDED:
        return "the CronJob was suspended"
    if state is State.UPCOMING:
        return "its schedule names it"
    return "worked out: its schedule names it, and nothing is stored yet"


def _of_row(key: Key, shown: str, row: PeriodRow, state: State) -> Iterator[str]:
    stored = "" if row.state == state else f"{row.state} "
    yield f"{shown} ({stored}since {utc(row.changed_at)}, generation {row.generation})"
    if row.reason:
        until = f", until {utc(row.until)}" if row.until else ""
        yield f"{one_line(row.reason)}{until}"
    if row.indicator:
        until = f", by {utc(row.await_deadline)}" if row.await_deadline else ""
        yield f"awaits {one_line(row.indicator)}{until}"
    if row.state == State.DONE and row.done_at:
        user = f" (database user {row.db_user})" if row.db_user else ""
        by = f" by attempt {short(row.attempt)}" if row.attempt else ""
        yield f"done {utc(row.done_at)}{by}{user}"
    if row.superseded_by:
        yield f"superseded by {key.job}:{row.superseded_by}"
    if row.payload_sha256:
        yield f"payload sha256:{row.payload_sha256.hex()}"


def launch_lines(launches: Sequence[Launch]) -> Iterator[str]:
    """Yield each Job that backfill or catch-up made, or was about to make."""
    for one in launches:
        made = f"  {utc(one.noted_at)}" if one.noted_at else ""
        there = "" if one.uid else "  (noted before it was made)"
        number = f"generation {one.generation}, try {one.try_}"
        yield f"{one.name}{made}  {number}  {one_line(one.reason)}".rstrip() + there


def _attempts(seen: Snapshot) -> Iterator[str]:
    for attempt in seen.attempts:
        yield attempt_line(attempt, seen)
        yield from output_lines(attempt)


def output_lines(attempt: AttemptRow) -> Iterator[str]:
    """Yield the end of what an attempt has printed, indented."""
    for line in lines(attempt.tail)[-_OUTPUT:]:
        yield f"  {line}"


def attempt_line(attempt: AttemptRow, seen: Snapshot) -> str:
    """Return one attempt in one line: id, start, end, where it ran and what it said."""
    alive = st.is_alive(attempt, seen.now)
    took = ""
    if attempt.ended_at is not None and attempt.ended_at >= attempt.started_at:
        took = f"after {duration(attempt.ended_at - attempt.started_at)}"
    if attempt.ended_at is None and not alive:
        took = "no end was written (killed?)"
    pod = f"Pod {attempt.pod_name}" if attempt.pod_name else ""
    what = "" if attempt.ended_at is None and not alive else ending(attempt, alive=alive)
    words = [what, took, pod, said(attempt)]
    start = f"{short(attempt.id)}  {utc(attempt.started_at)}"
    return "  ".join([start, *filter(None, words)])


def _events(events: Sequence[EventRow]) -> Iterator[str]:
    for event in events:
        user = f" ({event.db_user})" if event.db_user else ""
        moved = f"{event.from_state or 'absent'} → {event.to_state}"
        yield f"{utc(event.at)}  {moved}  {one_line(event.by)}{user}  {one_line(event.reason)}"


def hold_lines(seen: Snapshot, holds: Sequence[HoldRow]) -> Iterator[str]:
    """Yield each hold that nobody has lifted, and whether its time is up."""
    for hold in holds:
        scope = hold.job or (f"namespace {hold.namespace}" if hold.namespace else "all jobs")
        until = ""
        if hold.until is not None:
            until = f" until {utc(hold.until)}"
            until += " (that has passed: it holds nothing any more)" * st.is_over(hold, seen.now)
        by = f"by {one_line(hold.set_by)} {utc(hold.set_at)}"
        yield f"{scope}{until}: {one_line(hold.reason)}, {by}"


def what_now(seen: Snapshot, key: Key, state: State) -> Iterator[str]:
    """Yield what can be done about it, as lines to paste."""
    if is_expired(seen, key):
        yield "nothing: it can never be claimed again"
    elif state in (State.DUE, State.MISSING):
        for hold in st.in_force(seen.holds, key, seen.now):
            target = hold.job or (f"-n {hold.namespace}" if hold.namespace else "-A")
            yield f'k8sjob release {target} --reason "…"   (it is held)'
        yield _again(seen, key)
        yield f'k8sjob skip {key} --reason "…"   (if it need not be done)'
    elif state is State.SUSPENDED:
        yield f"nothing. To do it all the same: {_again(seen, key)}"
    else:
        yield _ADVICE.get(state, _REOPEN).format(key)


_REOPEN = 'nothing. To do it again: k8sjob reopen {} --reason "…"'
_ADVICE = {
    State.RUNNING: "k8sjob get attempts {}   (it is under way)",
    State.BLOCKED: 'k8sjob release {} --reason "…"',
    State.AWAITING: 'k8sjob confirm {} --reason "…"   (once its effect was seen)',
    State.UPCOMING: "nothing: its time is still to come",
}


def _again(seen: Snapshot, key: Key) -> str:
    """Return how to have it done: by a Job where there is a CronJob, and parts by hand."""
    job, period = seen.jobs.get(key.job.job), key.period
    if job is not None and job.is_tracked and key.job.part is None:
        return f"k8sjob backfill {key.job} --from {period} --to {period}"
    return f"k8sjob run TARGET --job {key.job} --period {period}"


def not_there(seen: Snapshot, key: Key) -> K8sjobError:
    """Return the error for a period of which there is neither a row nor an attempt."""
    job = seen.jobs.get(key.job.job)
    if job is None and str(key.job) not in seen.names:
        return unknown("job", str(key.job), seen.names, "k8sjob get jobs -A")
    if (floor := _floor_above(seen, key)) is not None:
        what = f"up to {floor} (the job's floor) finished periods were pruned: it is expired"
    elif job is not None and job.kind is not None and job.kind is not key.period.cycle:
        what = f"the job's periods are of kind {job.kind}, and this one is of {key.period.cycle}"
    else:
        what = "there is neither a row nor an attempt of it"
    return unknown("period", str(key), [], f"k8sjob get periods {key.job}   ({what})")
