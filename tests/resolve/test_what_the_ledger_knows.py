"""Known, remembered, missing: asked of both stores."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from uuid import UUID

import pytest

from k8sjob.cycle import Cycle
from k8sjob.expect import Version
from k8sjob.key import JobName, Key
from k8sjob.ledger import settings
from k8sjob.ledger.contract import Terms, drive
from k8sjob.ledger.known import Known, Resolution
from k8sjob.ledger.open import open_ledger
from k8sjob.ledger.read import open_reader
from k8sjob.period import Period
from k8sjob.states import NotApplied

if TYPE_CHECKING:
    from collections.abc import Iterator

    from k8sjob.ledger.contract import Ledger
    from tests.run.commandline import CommandLine

JOB = JobName.parse("billing/daily-credit")
FIRST, SECOND = (Period.parse(f"2026-01-0{n}T00:00:00Z") for n in (1, 2))


@pytest.fixture
def ledger(cli: CommandLine) -> Iterator[Ledger]:
    """Connect as the runner."""
    address = settings.parse(cli.store.dsn, "test")
    made = open_ledger(address, application_name="test", lock_timeout_s=5)
    drive(made.open())
    yield made
    drive(made.close())


def read(cli: CommandLine, job: JobName = JOB) -> Known:
    with closing(open_reader(settings.parse(cli.store.dsn, "test"))) as reader:
        return reader.known(job)


def told(known: Known) -> dict[str, object]:
    return {name: getattr(known, name) for name in Known.__slots__ if name != "now"}


# --------------------------------------------------------------------------------------- known


def test_of_a_job_that_nobody_has_run_nothing_is_known(cli: CommandLine, ledger: Ledger) -> None:
    known = drive(ledger.known(JOB))

    assert told(known) == told(Known(job=JOB, now=known.now))
    assert abs(known.now - datetime.now(UTC)) < timedelta(minutes=1)
    assert told(read(cli)) == told(known)


def test_the_kind_of_its_periods_is_known_from_the_first_run_on(
    cli: CommandLine, ledger: Ledger
) -> None:
    cli.run(lambda _run: None, job="billing/daily-credit", period="2026-01-01")

    known = drive(ledger.known(JobName.parse("billing/daily-credit/part")))

    assert (known.job, known.cycle) == (JOB, Cycle.DAY)
    assert told(read(cli, JobName.parse("billing/daily-credit/part"))) == told(known)


def test_what_the_reconciler_has_written_is_known(pg: CommandLine) -> None:
    pg.query(
        f"""INSERT INTO k8sjob.gate VALUES ('{JOB}', 'scheduled', '2026-01-01T00:00:00Z');
           INSERT INTO k8sjob.jobs (job, zone, limits, grace_s, tracked_since, done_until)
           VALUES ('{JOB}', 'Asia/Tokyo', '{{"cycle": "day", "max_lateness_s": 7200}}', 90,
                   '2026-01-01T09:00+09', '2026-01-03T00:00Z');
           INSERT INTO k8sjob.schedule_versions
             (job, n, expr, zone, suspended, earliest_from, valid_from, earliest_to, valid_to)
           VALUES ('{JOB}', 2, '0 3 * * *', 'Europe/Rome', true,
                   '2026-01-02T00:00:00.25Z', '2026-01-02T00:01Z', NULL, NULL),
                  ('{JOB}', 1, '0 2 * * *', NULL, false, '2026-01-01T00:00Z',
                   '2026-01-01T00:01Z', '2026-01-02T00:00Z', '2026-01-02T00:01Z')"""
    )
    address = settings.parse(pg.store.dsn, "test")
    ledger = open_ledger(address, application_name="test", lock_timeout_s=5)
    drive(ledger.open())

    known = drive(ledger.known(JOB))
    drive(ledger.close())

    first, second = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)
    minute = timedelta(minutes=1)
    assert told(known) == told(read(pg)) == {
        "job": JOB,
        "cycle": Cycle.SCHEDULED,
        "zone": "Europe/Rome",
        "limits": {"cycle": "day", "max_lateness_s": 7200},
        "grace_s": 90,
        "tracked_since": first,
        "done_until": datetime(2026, 1, 3, tzinfo=UTC),
        "floor": "2026-01-01T00:00:00Z",
        "called": None,
        "versions": (
            Version(
                n=1, expr="0 2 * * *", zone=None, earliest_from=first, valid_from=first + minute,
                earliest_to=second, valid_to=second + minute,
            ),
            Version(
                n=2, expr="0 3 * * *", zone="Europe/Rome", suspended=True,
                earliest_from=second + timedelta(seconds=0.25), valid_from=second + minute,
            ),
        ),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("of_version", "of_job", "zone"),
    [("Europe/Rome", "Asia/Tokyo", "Europe/Rome"), (None, "Asia/Tokyo", "Asia/Tokyo")],
)
def test_the_zone_is_the_newest_versions_else_the_jobs(
    pg: CommandLine, of_version: str | None, of_job: str, zone: str
) -> None:
    _with_zones(pg, of_version, of_job)

    assert read(pg).zone == zone


def test_a_schedule_without_a_zone_is_read_in_kubernetes_own(pg: CommandLine) -> None:
    _with_zones(pg, None, None)

    assert read(pg).zone == "Etc/UTC"


def _with_zones(pg: CommandLine, of_version: str | None, of_job: str | None) -> None:
    names = ["NULL" if name is None else f"'{name}'" for name in (of_version, of_job)]
    pg.query(
        f"""INSERT INTO k8sjob.jobs (job, zone) VALUES ('billing/daily-credit', {names[1]});
            INSERT INTO k8sjob.schedule_versions (job, n, expr, zone, earliest_from, valid_from)
            VALUES ('billing/daily-credit', 1, '0 2 * * *', {names[0]}, now(), now())"""
    )


def test_what_the_job_of_a_cronjob_is_called_is_known_where_it_is_but_one(pg: CommandLine) -> None:
    def called(*jobs: str) -> object:
        pg.query("DELETE FROM k8sjob.jobs")
        for job in jobs:
            pg.query(f"INSERT INTO k8sjob.jobs (job, cronjob, gone_at) VALUES ({job})")
        return read(pg).called

    credit = JobName.parse("billing/credit")
    other = "'billing/credit', 'daily-credit', NULL"
    itself = "'billing/daily-credit', 'daily-credit', {}"
    assert called(other) == credit
    assert called(other, itself.format("now()")) == credit
    assert called(other, "'billing/daily-credit', NULL, NULL") == credit
    assert called(other, itself.format("NULL")) is None
    assert called(other, "'billing/third', 'daily-credit', NULL") is None
    assert called("'billing/credit', 'other', NULL") is None
    assert called("'billing2/credit', 'daily-credit', NULL") is None
    assert called(itself.format("NULL")) is None


# ----------------------------------------------------------------------------------- remembered


def test_the_first_answer_stays(ledger: Ledger) -> None:
    first = Resolution(JOB, SECOND, "backfill-annotation", f"{FIRST}..{FIRST}")

    assert drive(ledger.resolution("uid")) is None
    assert drive(ledger.remember("uid", first)) == first
    assert drive(ledger.remember("uid", Resolution(JOB, FIRST, "job-name"))) == first
    assert drive(ledger.resolution("uid")) == first
    assert drive(ledger.resolution("other")) is None


def test_it_is_kept_beyond_the_connection(cli: CommandLine, ledger: Ledger) -> None:
    drive(ledger.remember("uid", Resolution(JOB, FIRST, "job-name")))

    table = cli.store.table("resolutions")
    assert cli.query(f"SELECT job_uid, job, period, source FROM {table}") == [
        ("uid", "billing/daily-credit", "2026-01-01T00:00:00Z", "job-name")
    ]


def test_who_holds_the_file_keeps_nobody_from_asking(lite: CommandLine) -> None:
    address = settings.parse(lite.store.dsn, "test")
    holder, asking = (
        open_ledger(address, application_name="test", lock_timeout_s=0.1) for _ in range(2)
    )
    drive(holder.open())
    drive(asking.open())
    drive(holder.claim(Key(JOB, FIRST), Terms(attempt=UUID(int=1))))

    assert drive(asking.resolution("uid")) is None
    assert drive(asking.known(JOB)).cycle is None
    assert drive(asking.missing(JOB, ())) == []
    with pytest.raises(NotApplied, match="another transaction holds it"):
        drive(asking.remember("uid", Resolution(JOB, FIRST, "job-name")))
    for ledger in (holder, asking):
        drive(ledger.close())


# -------------------------------------------------------------------------------------- missing


def periods(cli: CommandLine, *rows: tuple[str, str]) -> None:
    table, now = cli.store.table("periods"), "2026-01-01T00:00:00.000000Z"
    for text, rest in rows:
        cli.query(
            f"""INSERT INTO {table} (job, period, origin, scheduled_for, changed_at, state, reason,
                                     until)
                VALUES ('{JOB}', '{text}', 'test', '{text}', '{now}', {rest})"""
        )


def test_open_periods_are_missing_and_those_whose_block_is_over(
    cli: CommandLine, ledger: Ledger
) -> None:
    periods(
        cli,
        ("2026-01-05T00:00:00Z", "'open', NULL, NULL"),
        ("2026-01-01T00:00:00Z", "'blocked', 'x', '2026-01-02T00:00:00.000000Z'"),
        ("2026-01-02T00:00:00Z", "'blocked', 'x', '2999-01-02T00:00:00.000000Z'"),
        ("2026-01-03T00:00:00Z", "'blocked', 'x', NULL"),
        ("2026-01-04T00:00:00Z", "'skipped', 'x', NULL"),
        ("2999-01-01T00:00:00Z", "'open', NULL, NULL"),
    )

    assert [str(p) for p in drive(ledger.missing(JOB, ()))] == [
        "2026-01-01T00:00:00Z",
        "2026-01-05T00:00:00Z",
    ]


def test_what_another_attempt_is_at_is_not_missing(cli: CommandLine, ledger: Ledger) -> None:
    def look(_run: object) -> None:
        seen.extend(drive(ledger.missing(JOB, (FIRST, SECOND))))

    seen: list[Period] = []
    periods(cli, (str(SECOND), "'open', NULL, NULL"))
    job = "billing/daily-credit"
    # On SQLite the run holds the file, but readers see what was committed before.
    cli.run(look, job=job, period=str(SECOND))

    assert seen == ([] if cli.store.kind == "sqlite" else [FIRST])


def test_an_attempt_that_has_not_been_heard_of_for_long_is_at_nothing(
    cli: CommandLine, ledger: Ledger
) -> None:
    periods(cli, (str(FIRST), "'open', NULL, NULL"))
    table = cli.store.table("attempts")
    cli.query(
        f"""INSERT INTO {table} (id, job, period, mode, source, client, started_at)
            VALUES ('0199a1c4-0000-7000-8000-000000000001', '{JOB}', '{FIRST}', 'sql', 'x', '0.1.0',
                    '2026-01-01T00:00:00.000000Z')"""
    )

    assert drive(ledger.missing(JOB, ())) == [FIRST]


def test_of_the_tail_only_what_has_no_row_is_missing_and_uncertain_rows_are_not(
    pg: CommandLine,
) -> None:
    periods(pg, (str(FIRST), "'skipped', 'x', NULL"), (str(SECOND), "'open', NULL, NULL"))
    pg.query("UPDATE k8sjob.periods SET uncertain = true WHERE state = 'open'")
    ledger = open_ledger(
        settings.parse(pg.store.dsn, "test"), application_name="test", lock_timeout_s=5
    )
    drive(ledger.open())
    third = Period.parse("2026-01-03T00:00:00Z")

    assert drive(ledger.missing(JOB, (FIRST, SECOND, third))) == [third]
    drive(ledger.close())
