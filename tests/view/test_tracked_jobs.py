"""``get jobs`` and ``describe`` tell what the reconciler knows of a job and its periods."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from k8sjob.key import JobName
from tests.view.conftest import JOB, period
from tests.view.tracked import moment

if TYPE_CHECKING:
    from tests.view.tracked import Tracked


def section(told: list[str], title: str) -> list[str]:
    """Return the lines of one block of ``describe``."""
    first = next(n for n, line in enumerate(told) if line.startswith(f"{title:<12}"))
    rest = [line for line in told[first + 1 :] if line.startswith(" " * 12)]
    end = next(
        (n for n, x in enumerate(told[first + 1 :]) if not x.startswith(" " * 12)), len(rest)
    )
    return [line[12:] for line in told[first : first + 1 + end]]


def test_jobs_are_listed_with_schedule_and_what_they_owe(credit: Tracked) -> None:
    credit.track("ops/vacuum")
    credit.version("*/30 * * * *", "01T00:00:00", job="ops/vacuum", zone=None)
    credit.mark("13T18:30:00", "ops/vacuum")
    assert credit.call("get", "jobs", "-A").lines == [
        (
            "NAMESPACE  NAME          SCHEDULE               UNFINISHED  OLDEST"
            "                                                                 LAST DONE"
            "             NEXT"
        ),
        (
            "billing    daily-credit  0 2 * * * Europe/Rome  2 missing   2026-09-11T00:00:00Z "
            "(2d late, no Job was created (controller down?))  2026-09-12T00:00:00Z  in 5h"
        ),
        (
            "ops        vacuum        */30 * * * *           1 due       2026-09-13T19:00:00Z "
            "(due 19:15:00Z)                                   -                     in 30m"
        ),
    ]


def test_a_suspended_job_says_so(credit: Tracked) -> None:
    credit.version("0 2 * * *", "13T10:00:00", suspended=True)
    line = credit.call("get", "jobs").lines[1]
    assert line.endswith("suspended")
    shown = credit.call("describe", JOB).lines
    assert "Schedule    0 2 * * * Europe/Rome, suspended" in shown
    assert "2 missing" in line


def test_wide_has_whose_it_is_and_what_happens_by_itself(credit: Tracked) -> None:
    credit.know("ops/plain")
    header, tracked, plain = credit.call("get", "jobs", "-o", "wide").lines
    assert header.endswith("HELD  OWNER     SEVERITY  CATCH-UP")
    assert tracked.endswith("payments  page      every")
    assert plain.endswith("-         -         -")


def test_the_portrait_has_what_the_reconciler_knows(credit: Tracked) -> None:
    for minute in (57, 58, 59):
        credit.passed(f"13T18:{minute}:00")
    told = credit.call("describe", JOB).lines
    assert told[:12] == [
        f"Job         {JOB}",
        "Kind        scheduled",
        "Zone        Europe/Rome",
        ("Schedule    0 2 * * * Europe/Rome, next in 5h (2026-09-14 00:00:00Z = Mon 14 Sep 02:00)"),
        (
            "Versions    1  0 1 * * * Europe/Rome  from 2026-09-01 00:00:00Z to between "
            "2026-09-09 10:00:00Z and 2026-09-09 10:05:00Z"
        ),
        (
            "            2  0 2 * * * Europe/Rome  from between 2026-09-09 10:00:00Z and "
            "2026-09-09 10:05:00Z, in force"
        ),
        (
            "Tracked     CronJob credit-cron, since 2026-09-01 00:00:00Z, what was due is stored "
            "up to 2026-09-12 00:00:00Z"
        ),
        "Last pass   2026-09-13 18:59:00Z (60s ago): ok",
        (
            "Limits      grace 15m, max-lateness 2h, max-duration 60m, manual-runs oldest-missing, "
            "catch-up every (at most 3 Jobs in 1d, none for older periods)"
        ),
        "            owner payments, severity page, runbook https://example.org/credit",
        "Last done   2026-09-12T00:00:00Z",
        "Counters    no attempt has ended",
    ]
    assert section(told, "Unfinished") == [
        "missing  2026-09-11T00:00:00Z (2d late, no Job was created (controller down?))",
        "missing  2026-09-13T00:00:00Z (19h late, no attempt is known)",
    ]


def test_a_job_that_vanished_or_cannot_start_says_so(credit: Tracked) -> None:
    with credit.watcher() as watcher:
        watcher.note_unstarted(JobName.parse(JOB), moment("13T00:00:01"))
    credit.version(None, "13T10:00:00")
    told = section(credit.call("describe", JOB).lines, "Tracked")
    assert told[1:] == [
        "its CronJob was gone when it was listed at 2026-09-01 00:00:00Z",
        "a Job of it stands since 2026-09-13 00:00:01Z and has started nothing",
    ]


def test_a_job_whose_cronjob_cannot_be_read_is_uncertain_since_then(credit: Tracked) -> None:
    with credit.watcher() as watcher:
        watcher.note_blind(JobName.parse(JOB), moment("12T12:00:00"))
    (line,) = credit.call("get", "periods", f"{JOB}:{period(13)}", "-o", "json").json["periods"]
    assert (line["state"], line["uncertain"]) == ("missing", True)
    told = section(credit.call("describe", JOB).lines, "Tracked")
    assert told[1].startswith("its CronJob could not be read since 2026-09-12 12:00:00Z")


def test_only_versions_of_the_last_weeks_are_shown(credit: Tracked) -> None:
    credit.store.query(
        "UPDATE k8sjob.schedule_versions SET valid_to = '2026-07-01', earliest_to = '2026-07-01', "
        "earliest_from = '2026-06-01', valid_from = '2026-06-01' WHERE n = 1"
    )
    (line,) = section(credit.call("describe", JOB).lines, "Versions")
    assert line.startswith("2  ")


def test_a_mark_that_is_older_than_that_has_its_versions_all_the_same(credit: Tracked) -> None:
    for number, start, end in ((1, "2026-06-01", "'2026-07-02'"), (2, "2026-07-02", "NULL")):
        credit.store.query(
            f"UPDATE k8sjob.schedule_versions SET earliest_from = '{start}', "
            f"valid_from = '{start}', earliest_to = {end}, valid_to = {end} WHERE n = {number}"
        )
    credit.store.query("UPDATE k8sjob.jobs SET done_until = '2026-07-01'")
    told = credit.call("describe", JOB, "-o", "json").json
    assert told["unfinished"][0]["period"] == "2026-07-01T23:00:00Z"


# --------------------------------------------------------------------------------- the passes


@pytest.mark.parametrize(
    ("passes", "last", "stale"),
    [
        ([], None, True),
        ([("18:50", True)], "2026-09-13 18:50:00Z (10m ago): ok", False),
        ([("18:44", True)], "2026-09-13 18:44:00Z (16m ago): ok", True),
        ([("18:54", True), ("18:56", True)], "2026-09-13 18:56:00Z (4m ago): ok", False),
        ([("18:52", True), ("18:53", True)], "2026-09-13 18:53:00Z (7m ago): ok", True),
        ([("16:00", True), ("17:00", True)], "2026-09-13 17:00:00Z (2h ago): ok", False),
        ([("18:58", True), ("18:59", False)], "2026-09-13 18:59:00Z (60s ago): Jobs: 403", False),
        ([("18:00", True), ("18:59", False)], "2026-09-13 18:59:00Z (60s ago): Jobs: 403", True),
        ([("18:00", True), ("18:59", None)], "(60s ago): under way, or it was killed", True),
    ],
    ids=["none", "one", "old", "usual", "late", "hourly", "failed", "failing", "killed"],
)
def test_a_reconciler_that_seems_to_be_dead_is_warned_of(
    credit: Tracked, passes: list[tuple[str, bool | None]], last: str | None, *, stale: bool
) -> None:
    for start, ok in passes:
        credit.passed(f"13T{start}:00", ok=ok, message="" if ok else "Jobs: 403")
    credit.passed("13T18:59:30", scope="ops,web")
    told = section(credit.call("describe", JOB).lines, "Last pass")
    assert told[0].endswith(last) if last else told[0].startswith("WARNING: no complete pass")
    assert any(line.startswith("WARNING") for line in told) == stale
    assert credit.call("describe", JOB, "-o", "json").json["reconciler"]["stale"] == stale


def test_a_pass_over_its_namespace_is_one_over_the_job(credit: Tracked) -> None:
    credit.passed("13T18:59:30", scope="billing,web", ok=False, failing=2, message="2 broken")
    told = section(credit.call("describe", JOB).lines, "Last pass")
    assert told == ["2026-09-13 18:59:30Z (30s ago): 2 broken"]


# -------------------------------------------------------------------------------- one period


def test_the_story_of_a_stored_period_has_its_jobs_and_a_line_to_paste(credit: Tracked) -> None:
    credit.launch(11, 1, "credit-cron-bf-20260911-0-1", "uid-1")
    credit.launch(11, 2, "credit-cron-bf-20260911-0-2")
    told = credit.call("describe", f"{JOB}:{period(11)}").lines
    assert told[1] == (
        "Scheduled   Fri 11 Sep 2026 02:00 Europe/Rome = 2026-09-11T00:00:00Z, due 00:15:00Z"
    )
    assert told[3] == "            no Job was created (controller down?)"
    assert section(told, "Jobs") == [
        "credit-cron-bf-20260911-0-1  2026-09-11 08:00:00Z  generation 0, try 1  catch-up",
        (
            "credit-cron-bf-20260911-0-2  2026-09-11 08:00:00Z  generation 0, try 2  catch-up  "
            "(noted before it was made)"
        ),
    ]
    assert section(told, "What now") == [
        f"k8sjob backfill {JOB} --from 2026-09-11T00:00:00Z --to 2026-09-11T00:00:00Z",
        f'k8sjob skip {JOB}:2026-09-11T00:00:00Z --reason "…"   (if it need not be done)',
    ]


def test_the_story_of_a_period_that_is_worked_out(credit: Tracked) -> None:
    assert credit.call("describe", f"{JOB}:{period(13)}").lines == [
        f"Key         {JOB}:{period(13)}",
        "Scheduled   Sun 13 Sep 2026 02:00 Europe/Rome = 2026-09-13T00:00:00Z, due 00:15:00Z",
        "State       missing (worked out: its schedule names it, and nothing is stored yet)",
        f"What now    k8sjob backfill {JOB} --from {period(13)} --to {period(13)}",
        f'            k8sjob skip {JOB}:{period(13)} --reason "…"   (if it need not be done)',
    ]


def test_the_story_of_a_period_to_come(credit: Tracked) -> None:
    told = credit.call("describe", f"{JOB}:{period(14)}").lines
    assert told[2:] == [
        "State       upcoming (its schedule names it)",
        "What now    nothing: its time is still to come",
    ]
    assert credit.call("describe", f"{JOB}:2026-09-14T01:00:00Z").code == 1


def test_the_story_of_a_slot_of_a_suspension(credit: Tracked) -> None:
    credit.version("0 2 * * *", "12T12:00:00", suspended=True)
    told = credit.call("describe", f"{JOB}:{period(13)}").lines
    assert told[2:] == [
        "State       suspended (the CronJob was suspended)",
        (
            f"What now    nothing. To do it all the same: k8sjob backfill {JOB} "
            f"--from {period(13)} --to {period(13)}"
        ),
    ]


def test_a_superseded_period_names_the_one_that_made_it_needless(credit: Tracked) -> None:
    credit.put(13, "skipped", reason="superseded by x", superseded_by=period(14))
    told = credit.call("describe", f"{JOB}:{period(13)}").lines
    assert told[3:5] == [
        "            superseded by x",
        f"            superseded by {JOB}:{period(14)}",
    ]


def test_a_part_is_not_backfilled(credit: Tracked) -> None:
    part = f"{JOB}/invoices"
    credit.put(13, "open", part)
    told = credit.call("describe", f"{part}:{period(13)}").lines
    assert section(told, "What now")[0] == f"k8sjob run TARGET --job {part} --period {period(13)}"
