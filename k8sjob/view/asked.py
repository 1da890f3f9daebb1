"""What somebody asks to see: the arguments of ``get`` and ``describe``, read and checked. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches
from typing import TYPE_CHECKING

from k8sjob.cycle import Cycle, cycle_of, first_day_around, text_at, text_of
from k8sjob.duration import parse_duration
from k8sjob.errors import K8sjobError, UsageError
from k8sjob.key import JobName, Key, KeyRange
from k8sjob.ledger.read import UNBOUND, Bounds, Where
from k8sjob.period import Period
from k8sjob.states import State
from k8sjob.view.state import LISTED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from k8sjob.ledger.read import Snapshot

_ATTEMPT = re.compile(r"[0-9a-f]{8}[0-9a-f-]{0,28}", re.IGNORECASE)
_CALENDAR = (Cycle.DAY, Cycle.WEEK, Cycle.MONTH)
_SECOND = timedelta(seconds=1)
#: A month, and a day for zones.
_LONGEST_CYCLE = timedelta(days=33)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The arguments of ``get`` as they were typed; ``space`` is the environment's namespace."""

    what: str = "periods"
    words: Sequence[str] = ()
    namespace: str | None = None
    everything: bool = False
    space: str | None = None
    states: str | None = None
    since: str | None = None
    start: str | None = None
    end: str | None = None
    limit: int = 200


def read_asked(asked: Asked, now: datetime) -> tuple[Where, frozenset[State]]:
    """Return where to look, and the states to show. Raises UsageError, InvalidKey."""
    names, keys, attempts, spans = _read_words(asked)
    if not asked.words and not asked.everything and (asked.namespace or asked.space):
        names.append(_namespace(asked.namespace or asked.space or ""))
    if asked.everything and (asked.words or asked.namespace):
        raise UsageError(
            "-A means all jobs of all namespaces, and something else is named too. Nothing was "
            "read.\n  Name one or the other."
        )
    states = read_states(asked.states)
    since = _moment(asked.since, "--since", now) if asked.since else None
    bounds = _bounds(asked, spans, since, now)
    suspended = bounds[0] != UNBOUND[0] or (asked.states is not None and State.SUSPENDED in states)
    where = Where(
        prefixes=names,
        keys=keys,
        attempts=attempts,
        bounds=bounds,
        since=since if asked.what == "attempts" else None,
        finished=[s for s in (State.DONE, State.SKIPPED) if s in states],
        limit=asked.limit,
        upto=now,
        suspended=suspended,
        versions_since=_versions_since(bounds) if suspended or keys else None,
    )
    return where, states


def _versions_since(bounds: Bounds) -> datetime:
    """Return from when on a schedule's versions have a say in what is asked for."""
    day = bounds[0][_CALENDAR.index(Cycle.DAY) + 1]
    first = datetime.fromisoformat(day or "1970-02-28").replace(tzinfo=UTC)
    return first - _LONGEST_CYCLE


def read_name(word: str, namespace: str | None) -> JobName | Key:
    """Return the job or the period that ``word`` names. Raises InvalidKey, UsageError."""
    job, colon, _ = word.partition(":")
    full = word if "/" in job or not namespace else f"{namespace}/{word}"
    return Key.parse(full) if colon else JobName.parse(full)


def _read_words(asked: Asked) -> tuple[list[str], list[Key], list[str], list[KeyRange]]:
    names: list[str] = []
    keys: list[Key] = []
    attempts: list[str] = []
    spans: list[KeyRange] = []
    space = asked.namespace or asked.space
    for word in asked.words:
        _check_namespace(word, asked.namespace)
        full = word if "/" in word.partition(":")[0] or not space else f"{space}/{word}"
        if asked.what == "attempts" and _ATTEMPT.fullmatch(word):
            attempts.append(word.lower())
        elif ".." in full.partition(":")[2]:
            spans.append(KeyRange.parse(full))
            names.append(str(spans[-1].job))
        elif ":" in full:
            keys.append(Key.parse(full))
        else:
            names.append(str(JobName.parse(full)))
    _check_together(asked, keys, spans)
    return names, keys, attempts, spans


def _check_namespace(word: str, namespace: str | None) -> None:
    job = word.partition(":")[0]
    if namespace and "/" in job and job.partition("/")[0] != namespace:
        raise UsageError(
            f"{job} is not of namespace {namespace}. Nothing was read.\n"
            f"  Leave -n {namespace} out, or write {job.partition('/')[2]} alone."
        )


def _check_together(asked: Asked, keys: list[Key], spans: list[KeyRange]) -> None:
    if asked.what == "jobs" and (keys or spans or asked.since or asked.start or asked.end):
        raise UsageError(
            "jobs have no period: --since, --from, --to and NS/NAME:PERIOD are for periods and "
            "attempts. Nothing was read.\n  Write k8sjob get periods …"
        )
    if spans and (len(asked.words) > 1 or asked.start or asked.end or asked.since):
        raise UsageError(
            "a range NS/NAME:FIRST..LAST stands alone. Nothing was read.\n"
            "  Write NS/NAME with --from and --to, or one range at a time."
        )


def _namespace(text: str) -> str:
    JobName(text, "any")  # says what is wrong with it
    return text


def read_states(text: str | None) -> frozenset[State]:
    """Return the states of ``missing,blocked``; None stands for all. Raises UsageError."""
    if text is None:
        return frozenset(LISTED)
    wanted = [word.strip().lower() for word in text.split(",") if word.strip()]
    known = {str(state): state for state in LISTED}
    unknown = [word for word in wanted if word not in known]
    if unknown or not wanted:
        raise UsageError(
            f"--state {text!r}: {', '.join(unknown) or 'nothing'} is no state. Nothing was read.\n"
            f"  The states are {', '.join(LISTED)}."
        )
    return frozenset(known[word] for word in wanted)


def _moment(text: str, option: str, now: datetime) -> datetime:
    if not re.match(r"\s*[0-9]{4}-", text):
        return now - timedelta(seconds=parse_duration(text))
    if cycle_of(text) in _CALENDAR:
        return Period.parse(text).window("Etc/UTC").start
    try:
        at = datetime.fromisoformat(text.strip())
        if at.utcoffset() is not None:
            return at.astimezone(UTC)
    except (ValueError, OverflowError):  # the year 1, in the east
        pass
    raise UsageError(
        f"{option} {text!r} is no instant. Nothing was read.\n"
        "  Write 2026-09-13, 2026-09-13T00:00:00Z, or a duration such as 3d."
    )


def _bounds(asked: Asked, spans: list[KeyRange], since: datetime | None, now: datetime) -> Bounds:
    low, high = UNBOUND
    start, end = asked.start, asked.end
    if spans:
        start, end = str(spans[0].first), str(spans[0].last)
    if start:
        low = _texts(_moment(start, "--from", now))
    elif since and asked.what != "attempts":
        low = _texts(since)
    if end:
        high = _texts(_last_moment(end, now))
    return low, high


def _last_moment(text: str, now: datetime) -> datetime:
    if cycle_of(text) in _CALENDAR:
        return Period.parse(text).window("Etc/UTC").end - _SECOND
    return _moment(text, "--to", now)


def _texts(at: datetime) -> tuple[str, str, str, str]:
    """Return the period of each kind that an instant lies in, by UTC's calendar."""
    day, week, month = (text_of(c, first_day_around(c, at.date())) for c in _CALENDAR)
    whole = at.replace(microsecond=0)
    return text_at(whole if whole == at else whole + _SECOND), day, week, month


def unknown(what: str, wanted: str, known: Sequence[str], look: str) -> K8sjobError:
    """Return the error for a name that the ledger does not have, with those that look like it."""
    close = get_close_matches(wanted, known, n=3, cutoff=0.6)
    like = f" Did you mean {' or '.join(close)}?" if close else ""
    return K8sjobError(
        f"this ledger knows no {what} {wanted}, so there is nothing to show.{like}\n"
        f"  What there is: {look}"
    )


def check_known(where: Where, seen: Snapshot) -> None:
    """Raise K8sjobError where a job or a part is named that the ledger does not know."""
    there = known_names(seen)
    wanted = [text for text in where.prefixes if "/" in text]
    for name in wanted + [str(key.job) for key in where.keys]:
        if name not in there:
            raise unknown("job", name, sorted(there), "k8sjob get jobs -A")


def known_names(seen: Snapshot) -> set[str]:
    """Return the jobs and parts that were seen; SQL's claims leave a part no row but a period's."""
    found = [key.job for key in seen.rows] + [attempt.key.job for attempt in seen.attempts]
    return {*seen.names, *map(str, seen.jobs), *map(str, found)}
