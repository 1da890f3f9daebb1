"""What a pass did, or would do, line by line. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Actions that are told one by one up to this many of a job; the rest is counted.
TOLD = 20


@dataclass(frozen=True, slots=True)
class Line:
    """One thing: of which job or period, what, and why."""

    what: str
    action: str
    reason: str

    @property
    def is_broken(self) -> bool:
        """Whether it tells of something that could not be done."""
        return self.action == "broken"


@dataclass(slots=True)
class Report:
    """One pass over one ledger. ``trouble``: why it is not complete; None: it is."""

    ledger: str
    scope: str
    dry_run: bool = False
    lines: list[Line] = field(default_factory=list)
    trouble: str | None = None
    jobs: int = 0

    def add(self, what: object, action: str, reason: str) -> None:
        """Take down one thing."""
        self.lines.append(Line(str(what), action, reason.replace("\n", " ")))

    @property
    def failing(self) -> int:
        """How many jobs something could not be done for."""
        return len({line.what for line in self.lines if line.is_broken})

    @property
    def ok(self) -> bool:
        """Whether the pass was complete and nothing is broken."""
        return self.trouble is None and not self.failing


def summary(report: Report) -> str:
    """Return the pass in one line."""
    counted: dict[str, int] = {}
    for line in report.lines:
        counted[line.action] = counted.get(line.action, 0) + 1
    done = ", ".join(f"{n} {action}" for action, n in sorted(counted.items())) or "nothing to do"
    mode = " (dry run: nothing was changed)" if report.dry_run else ""
    return f"ledger {report.ledger}: {report.jobs} jobs, {done}{mode}"


def as_rows(lines: Sequence[Line]) -> list[tuple[str, str, str]]:
    """Return the lines for a table; many of one kind of one job become one."""
    rows: list[tuple[str, str, str]] = []
    seen: dict[tuple[str, str], int] = {}
    for line in lines:
        kind = (line.what.partition(":")[0], line.action)
        seen[kind] = seen.get(kind, 0) + 1
        if seen[kind] <= TOLD:
            rows.append((line.what, line.action, line.reason))
    for (job, action), count in seen.items():
        if count > TOLD:
            rows.append((job, action, f"and {count - TOLD} more"))
    return rows


def as_json(report: Report) -> dict[str, Any]:
    """Return the pass for a program. docs/reference.md tells the fields."""
    return {
        "ledger": report.ledger,
        "scope": report.scope,
        "dry_run": report.dry_run,
        "ok": report.ok,
        "jobs": report.jobs,
        "failing": report.failing,
        "trouble": report.trouble,
        "actions": [
            {"what": line.what, "action": line.action, "reason": line.reason}
            for line in report.lines
        ],
    }
