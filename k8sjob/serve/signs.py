"""How a state is shown: a letter, a word and a meaning; its colour is in the style sheet. Pure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from k8sjob.states import State
from k8sjob.view import state as st

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from k8sjob.ledger.read import JobRow, Snapshot
    from k8sjob.view.jobs import JobLine
    from k8sjob.view.periods import Line


class Sign(NamedTuple):
    """One state. ``name`` is its class in the style sheet, and its word in an address."""

    name: str
    letter: str
    word: str
    meaning: str


#: A missing period, though perhaps none was meant: told apart, since an edit is no failure.
UNCERTAIN: Final = "uncertain"

#: Of a period; what needs somebody stands first, and decides where several share a cell.
OF_PERIODS: Final[Mapping[str, Sign]] = {
    sign.name: sign
    for sign in (
        Sign("missing", "M", "missing", "its grace has passed, and it is not done"),
        Sign(UNCERTAIN, "?", UNCERTAIN, "missing, but its schedule was being changed"),
        Sign("blocked", "B", "blocked", "it cannot be done now"),
        Sign("awaiting", "A", "awaiting", "handed over, its effect shows later"),
        Sign("running", "R", "running", "an attempt is under way"),
        Sign("due", "U", "due", "its time has come, its grace has not passed"),
        Sign("suspended", "P", "suspended", "the CronJob was paused"),
        Sign("skipped", "S", "skipped", "somebody decided that it need not be done"),
        Sign("done", "D", "done", "its effect is committed"),
        Sign("upcoming", "C", "upcoming", "its time has not come"),
    )
}
_UNFINISHED = frozenset({*st.UNFINISHED, UNCERTAIN})
#: Of a job at a glance: the worst of its periods, else one of these.
OF_JOBS: Final[Mapping[str, Sign]] = {
    **{name: sign for name, sign in OF_PERIODS.items() if name in _UNFINISHED},
    "suspended": Sign("suspended", "P", "suspended", "its CronJob is paused"),
    "gone": Sign("gone", "G", "gone", "its CronJob was deleted"),
    "done": Sign("done", "D", "up to date", "nothing is unfinished"),
    "unknown": Sign("unknown", "N", "nothing yet", "no period of it is known"),
}
_ORDER = {name: number for number, name in enumerate(OF_PERIODS)}


def of_line(seen: Snapshot, line: Line) -> Sign:
    """Return the sign of a period."""
    if line.state is State.MISSING and st.is_uncertain(seen, line.key):
        return OF_PERIODS[UNCERTAIN]
    return OF_PERIODS[line.state]


def worst(signs: Iterable[Sign]) -> Sign:
    """Return the one that needs somebody most."""
    return min(signs, key=lambda sign: _ORDER[sign.name])


def counts(seen: Snapshot, line: JobLine) -> dict[str, int]:
    """Return how many unfinished periods a job has under each sign, the worst first."""
    found = Counter(of_line(seen, one).name for one in line.unfinished)
    return {name: found[name] for name in OF_PERIODS if found[name]}


def of_job(counted: Mapping[str, int], job: JobRow) -> Sign:
    """Return the sign of a job whose unfinished periods were counted."""
    if counted:
        return OF_PERIODS[next(iter(counted))]
    if job.gone_at is not None:
        return OF_JOBS["gone"]
    if job.suspended:
        return OF_JOBS["suspended"]
    return OF_JOBS["done" if job.last_done or job.is_tracked else "unknown"]
