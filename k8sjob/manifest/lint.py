"""What all rules find in a manifest."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from k8sjob.manifest.case import cases
from k8sjob.manifest.files import Lines
from k8sjob.manifest.read import TEMPLATE, Trouble, documents
from k8sjob.manifest.rules.names import ignored
from k8sjob.manifest.rules.table import RULES, UNKNOWN_RULE
from k8sjob.manifest.shown import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from k8sjob.manifest.case import Case


class Finding(NamedTuple):
    """What one rule has found. Findings sort by file, line and rule."""

    file: str
    line: int
    rule: str
    kind: str
    #: ``NAMESPACE/NAME``, or what there is of it.
    object: str
    message: str
    #: The template of a chart that it comes from, where helm says so.
    source: str | None = None

    @property
    def title(self) -> str:
        """What to call the object: ``billing/credit``, or ``Job billing/credit``."""
        return self.object if self.kind == "CronJob" else f"{self.kind} {self.object}"


class Unread(NamedTuple):
    """What could not be read; line is None for a whole file."""

    file: str
    line: int | None
    what: str


@dataclass(slots=True)
class Report:
    """What came of some files."""

    findings: list[Finding] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)
    files: int = 0
    cronjobs: int = 0
    jobs: int = 0

    def sort(self) -> None:
        """Put everything in the order of files and lines."""
        self.findings.sort(key=lambda finding: finding[:3])
        self.unread.sort(key=lambda unread: (unread.file, unread.line or 0))


def lint(report: Report, file: str, text: str | Trouble, now: datetime) -> None:
    """Add to ``report`` what is found in the text of ``file``, or what kept it from being read.

    Clocks are looked at for a year from ``now``. Raises ConfigError where the parser is not
    installed.
    """
    report.files += 1
    if isinstance(text, Trouble):
        report.unread.append(Unread(file, None, text.what))
        return
    lines = Lines(text)
    for document in documents(text):
        if isinstance(document, Trouble):
            at = None if document.at is None else lines.line(document.at)
            report.unread.append(Unread(file, at, document.what))
            continue
        for case in cases(document, now):
            if _is_template(case):
                report.unread.append(Unread(file, lines.line(case.root.at), TEMPLATE))
                continue
            report.cronjobs += case.is_cronjob
            report.jobs += not case.is_cronjob
            report.findings.extend(_findings(case, file, lines))


def _is_template(case: Case) -> bool:
    """Whether it is text for helm that was in quotes, and so is YAML by accident."""
    words = (case.name, case.namespace, case.spec["schedule"].text)
    return any(word and "{{" in word for word in words)


def _findings(case: Case, file: str, lines: Lines) -> Iterator[Finding]:
    silenced = {*ignored(case)} - {UNKNOWN_RULE}
    for rule in RULES:
        if rule.name in silenced or not (case.is_cronjob or rule.jobs):
            continue
        for at, message in rule.check(case):
            yield Finding(
                file,
                lines.line(at),
                rule.name,
                case.kind,
                one_line(case.title),
                one_line(message),
                one_line(case.source) if case.source else None,
            )
