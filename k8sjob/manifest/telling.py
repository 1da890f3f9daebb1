"""A report in the words and forms that people and programs get."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from k8sjob.manifest.shown import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from k8sjob.manifest.lint import Report


def findings(report: Report) -> Iterator[tuple[str, str, str]]:
    """Return each finding as its place, its rule, and the rest of its line."""
    for found in report.findings:
        source = f" (from {found.source})" if found.source else ""
        yield (
            f"{one_line(found.file)}:{found.line}",
            found.rule,
            f"{found.title}: {found.message}{source}",
        )


def unread(report: Report) -> Iterator[str]:
    """Return a line for each thing that could not be read."""
    for trouble in report.unread:
        line = "" if trouble.line is None else f":{trouble.line}"
        yield f"{one_line(trouble.file)}{line}: {trouble.what}"


def summary(report: Report) -> str:
    """Return what was looked at and what came of it, in a line."""
    files = _count(report.files, "file")
    if report.cronjobs or report.jobs:
        parts = (_count(report.cronjobs, "CronJob"), _count(report.jobs, "Job"))
        objects = " and ".join(part for part in parts if not part.startswith("0 "))
        seen = f"{_count(len(report.findings), 'finding')} in {objects} of {files}"
    else:
        seen = f"no CronJob and no Job in {files}"
    return f"{seen}; {len(report.unread)} could not be read" if report.unread else seen


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def as_json(report: Report) -> dict[str, Any]:
    """Return all of it for programs."""
    return {
        "findings": [
            {
                "file": one_line(found.file),
                "line": found.line,
                "rule": found.rule,
                "kind": found.kind,
                "object": found.object,
                "message": found.message,
                "source": found.source,
            }
            for found in report.findings
        ],
        "unread": [
            {"file": one_line(trouble.file), "line": trouble.line, "message": trouble.what}
            for trouble in report.unread
        ],
        "files": report.files,
        "cronJobs": report.cronjobs,
        "jobs": report.jobs,
    }
