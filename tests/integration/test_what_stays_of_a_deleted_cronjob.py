"""Of a CronJob that is deleted stays listed, and is due, what docs/upgrade.md says."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from tests.integration.functions import NOW
from tests.integration.stolen import VERSION, track

if TYPE_CHECKING:
    from tests.fix_stores import Database
    from tests.integration.functions import Functions
    from tests.migration.empty import Terminal

JOB, BEGAN, WENT = "payroll/minutes", NOW - timedelta(hours=9), NOW - timedelta(hours=5)


def test_what_was_due_before_it_went_stays_listed_until_somebody_decides(
    db: Database, ledger: Functions, terminal: Terminal
) -> None:
    track(ledger, JOB, "scheduled", expr="30 * * * *", earliest_from=BEGAN, valid_from=BEGAN)

    def missing() -> list[str]:
        look = ("get", "periods", JOB, "--state", "missing", "-o", "name")
        return terminal.call(db.dsn("reader"), *look).out.splitlines()

    before = missing()
    ended = {"earliest_to": WENT, "valid_to": WENT, "expr": None, "list_began": NOW}
    gone = {**VERSION, "job": JOB, "known_n": 1, **ended}
    assert ledger.as_("operator", "change_version", **gone) is True

    after = missing()
    assert len(after) == 4 < len(before), "of the nine hours those before it went"
    first, *others = after
    words = ("skip", first, "--reason", "the CronJob is gone", "--yes")
    assert terminal.call(db.dsn("operator"), *words).code == 0
    assert missing() == others
