"""What the page for auditors has to type works, as somebody who may only read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.docs.test_reference import ROOT

if TYPE_CHECKING:
    from tests.fix_stores import Database

PAGE = (ROOT / "docs" / "audit.md").read_text("utf-8")
JOB, PERIOD = "billing/daily-credit", "2026-09-13T00:00:00Z"


def test_the_log_of_a_day_has_work_decisions_holds_and_their_end(db: Database) -> None:
    with db.connect("runner") as runner:
        runner.execute("SELECT k8sjob.claim(%s, %s)", (JOB, PERIOD))
    with db.connect("operator") as operator:
        reopen = "SELECT k8sjob.reopen(%s, %s, 'wrong rate', 'ann')"
        operator.execute(reopen, (JOB, PERIOD))
        hold = "SELECT k8sjob.set_hold('billing', NULL, 'audit', 'ann')"
        (number,) = operator.execute(hold).fetchone() or (0,)
        operator.execute("SELECT k8sjob.lift_hold(%s, 'over', 'bob')", (number,))
    with db.connect("runner") as runner:
        runner.execute("SELECT k8sjob.claim(%s, %s)", (JOB, PERIOD))
    (query,) = re.findall(r"```sql\n(.*?);\n```", PAGE, re.DOTALL)
    start, end = "'2026-09-13 00:00Z'", "'2026-09-14 00:00Z'"
    assert start in query
    assert end in query

    query = query.replace(start, "now() - interval '1 day'").replace(
        end, "now() + interval '1 day'"
    )
    with db.connect("reader") as reader:
        rows = reader.execute(query.encode()).fetchall()

    told = [(what, job, period, who, login, why) for _, what, job, period, who, login, why in rows]
    assert ("done", JOB, PERIOD, None, "k8sjob_runner", None) in told
    assert ("reopen", JOB, PERIOD, "ann", "k8sjob_operator", "wrong rate") in told
    assert ("hold", "billing", None, "ann", "k8sjob_operator", "audit") in told
    assert ("hold lifted", "billing", None, "bob", "k8sjob_operator", "over") in told
