"""Manifests to lint, and what is found in them at a fixed moment."""

from __future__ import annotations

from datetime import UTC, datetime
from textwrap import dedent

from k8sjob.manifest.lint import Report, lint

NOW = datetime(2026, 9, 13, tzinfo=UTC)

CRONJOB = """\
apiVersion: batch/v1
kind: CronJob
metadata:
  name: credit
  namespace: billing
spec:
  schedule: "30 4 * * *"
  timeZone: Europe/Rome
  jobTemplate:
    spec:
      activeDeadlineSeconds: 3600
      template:
        spec:
          restartPolicy: Never
          containers:
            - name: main
              image: billing:1.4
              command: [k8sjob, run, "billing.credit:credit"]
"""

JOB = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: credit
  namespace: billing
spec:
  activeDeadlineSeconds: 3600
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: main
          image: billing:1.4
"""


def report(text: str) -> Report:
    """Return what comes of one file, called f.yaml."""
    made = Report()
    lint(made, "f.yaml", text, NOW)
    made.sort()
    return made


def found(text: str) -> list[tuple[int, str]]:
    """Return line and rule of each finding; nothing else may be wrong with the text."""
    made = report(text)
    assert made.unread == []
    return [(finding.line, finding.rule) for finding in made.findings]


def rules(text: str) -> list[str]:
    """Return the rule of each finding."""
    return [rule for _, rule in found(text)]


def message(text: str) -> str:
    """Return the message of the only finding."""
    (finding,) = report(text).findings
    return finding.message


def cronjob(**changes: str) -> str:
    """Return a CronJob with other lines in the place of a key, or beside it.

    Keys: metadata, spec, job, pod (lines added at the end of those maps), schedule (its two lines),
    deadline (its line), restart (its line), container (lines added to it).
    """
    return _changed(CRONJOB, changes)


def job(**changes: str) -> str:
    """Return a Job, changed as a CronJob is."""
    return _changed(JOB, changes)


def _changed(text: str, changes: dict[str, str]) -> str:
    lines = text.splitlines()
    for name, new in changes.items():
        starts, keep, indent = _PLACES[name]
        at = next(i for i, line in enumerate(lines) if line.strip().startswith(starts))
        depth = len(lines[at]) - len(lines[at].lstrip()) + indent
        added = [" " * depth + line for line in dedent(new).strip("\n").splitlines()]
        lines[at + keep : at + max(keep, 1)] = added
    if "schedule" in changes:
        lines.remove("  timeZone: Europe/Rome")
    return "\n".join(lines) + "\n"


#: Which line it is about, whether that stays, and how much deeper the new lines are.
_PLACES = {
    "metadata": ("name: credit", 1, 0),
    "spec": ("spec:", 1, 2),
    "schedule": ("schedule:", 0, 0),
    "deadline": ("activeDeadlineSeconds:", 0, 0),
    "job": ("activeDeadlineSeconds:", 1, 0),
    "template": ("jobTemplate:", 1, 2),
    "pods": ("template:", 1, 2),
    "restart": ("restartPolicy:", 0, 0),
    "pod": ("restartPolicy:", 1, 0),
    "container": ("image:", 1, 0),
}
