"""What the tests of stolen DSNs share: a ledger in every situation, false attempts, refusals."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID, uuid4

import pytest
from psycopg import errors
from psycopg.types.json import Jsonb

from tests.integration.functions import JOB, NOW, PAST

if TYPE_CHECKING:
    from tests.integration.functions import Functions
    from tests.template import Role

PAGE = (Path(__file__).parents[2] / "docs" / "security.md").read_text("utf-8")
#: A period that nobody has touched, and one that has not begun.
PERIOD, LATER = "2026-02-01", f"{NOW + timedelta(days=300):%Y-%m-%d}"
#: A version of the job's schedule, as the reconciler writes it.
VERSION = {
    "job": JOB,
    "list_began": PAST,
    "known_n": 0,
    "earliest_to": None,
    "valid_to": None,
    "expr": "0 2 * * *",
    "zone": "Etc/UTC",
    "suspended": False,
    "earliest_from": PAST,
    "valid_from": PAST,
    "direct": True,
    "cronjob_uid": "u-1",
}


def start(ledger: Functions, role: Role = "runner", job: str = JOB) -> UUID:
    """Write the start of an attempt."""
    attempt = uuid4()
    said = {"mode": "sql", "source": "--period", "client": "0.1.0", "pod_name": "made-up"}
    ledger.as_(role, "start_attempt", id=attempt, job=job, period=PERIOD, **said)
    return attempt


def end(ledger: Functions, role: Role, attempt: UUID, **more: str) -> bool:
    """Write the end of an attempt; return whether it was taken."""
    said = {"outcome": "failed", "exit_code": 1, "speaker": "child", **more}
    taken = ledger.as_(role, "end_attempt", id=attempt, **said)
    assert isinstance(taken, bool)
    return taken


def refused(ledger: Functions, role: Role, function: str, **args: object) -> None:
    """Expect that ``role`` has no right to call it."""
    with pytest.raises(errors.InsufficientPrivilege):
        ledger.as_(role, function, **args)


def track(ledger: Functions, job: str, kind: str, **version: object) -> None:
    """Write what the reconciler would of a CronJob."""
    settings = {"cronjob": "it", "catch_up": "flag", "suspended": False, "severity": "info"}
    ledger.as_("operator", "track_job", job=job, list_began=PAST, kind=kind, s=Jsonb(settings))
    assert ledger.as_("operator", "change_version", **{**VERSION, "job": job, **version}) is True
