"""Which periods should have been done and are not."""

from __future__ import annotations

from tests.backfill.given import NOW, TRACKED, asked, at, basis, cron, plan, row, told, version


def test_missing_is_what_is_due_since_the_reconciler_looked() -> None:
    known = basis(done_until=at("2026-09-11T12:00:00Z"))
    assert told(plan(asked(), known)) == [
        ("2026-09-12T00:00:00Z", "create"),
        ("2026-09-13T00:00:00Z", "create"),
    ]


def test_missing_is_nothing_whose_deadline_is_to_come() -> None:
    known = basis(version("0 19 * * *"), done_until=at("2026-09-12T12:00:00Z"), grace_s=60.0)
    assert told(plan(asked(), known)) == [("2026-09-12T19:00:00Z", "create")]


def test_missing_says_what_has_been_done_since() -> None:
    known = basis(done_until=at("2026-09-11T12:00:00Z"))
    made = plan(asked(), known, rows=[row("2026-09-12", "done", done_at=NOW)])
    assert [action for _, action in told(made)] == ["skip", "create"]


def test_missing_is_nothing_where_nobody_looks() -> None:
    from k8sjob.backfill.basis import basis_of
    from k8sjob.ledger.known import Known

    known = Known(job=basis().job, now=NOW)
    untracked = basis_of(known, cron(created=TRACKED))
    assert plan(asked(), untracked).lines == []
