"""``-l owner=payments,severity!=page``: jobs by what their CronJobs say of themselves. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from k8sjob.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from k8sjob.ledger.read import JobRow

_TERM = re.compile(r"\s*(?:k8sjob\.io/)?([a-z-]+)\s*(!=|==|=)\s*([^\s=!,][^=!,]*?)?\s*")

_OF: Mapping[str, Callable[[JobRow], object]] = {
    "owner": lambda job: job.owner,
    "severity": lambda job: job.severity,
    "cycle": lambda job: job.kind,
    "catch-up": lambda job: job.catch_up,
    "cronjob": lambda job: job.cronjob,
}
KEYS = tuple(_OF)


@dataclass(frozen=True, slots=True)
class Term:
    """One of the conditions, all of which have to hold."""

    key: str
    value: str
    wanted: bool

    def holds(self, job: JobRow) -> bool:
        """Whether it holds of a job; what a CronJob does not say is the empty text."""
        return (str(_OF[self.key](job) or "") == self.value) is self.wanted


def read_selector(text: str) -> list[Term]:
    """Read ``owner=payments,severity!=page`` as kubectl does. Raises UsageError."""
    found = []
    for part in text.split(","):
        match = _TERM.fullmatch(part)
        if match is None or match[1] not in _OF:
            raise UsageError(
                f"-l {text!r}: {part.strip() or 'nothing'} is no condition. Nothing was read.\n"
                f"  Write KEY=VALUE or KEY!=VALUE, with a comma between; KEY is {', '.join(KEYS)}."
            )
        found.append(Term(match[1], match[3] or "", match[2] != "!="))
    return found


def selected(jobs: Sequence[JobRow], terms: Sequence[Term]) -> list[str]:
    """Return the names of the jobs of which all terms hold."""
    return [str(job.job) for job in jobs if all(term.holds(job) for term in terms)]
