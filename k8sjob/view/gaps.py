"""What of a list could not be worked out: said once, beside the list. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from k8sjob.ledger.read import Snapshot

#: Jobs that are named; the rest is counted.
_MOST = 5


def notes(seen: Snapshot) -> list[str]:
    """Return a line for each thing that keeps the list from being whole, with its jobs."""
    by_gap: dict[str, list[str]] = {}
    for job, gap in seen.gaps.items():
        by_gap.setdefault(gap, []).append(str(job))
    return [f"{_named(jobs)}: what no row tells of yet is {gap}" for gap, jobs in by_gap.items()]


def _named(jobs: list[str]) -> str:
    more = f" and {len(jobs) - _MOST} more" if len(jobs) > _MOST else ""
    return ", ".join(jobs[:_MOST]) + more
