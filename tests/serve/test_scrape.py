"""A scrape of one ledger: one snapshot, a constant number of queries, nothing but reading."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from psycopg.errors import ReadOnlySqlTransaction

from k8sjob.errors import ConfigError, Denied, SchemaAbsent, Unavailable
from k8sjob.ledger.postgres.scrape import SQL, PostgresScraper
from k8sjob.ledger.scrape import Beyond, open_scraper
from k8sjob.ledger.settings import Address, parse
from k8sjob.run.origin.from_cluster import FIRED
from k8sjob.serve.tail import Tails
from k8sjob.view.state import ALIVE_FOR
from tests.fix_scraped import JOB, MINUTE, text
from tests.wire import WireProxy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime
    from pathlib import Path

    from k8sjob.ledger.scrape import JobFacts
    from tests.fix_pgbouncer import PgBouncer
    from tests.fix_scraped import Scraped
    from tests.fix_stores import Database
    from tests.template import Role


def address(db: Database, role: Role = "reader") -> Address:
    return parse(db.dsn(role), "the test")


@pytest.fixture
def scraper(db: Database) -> Iterator[PostgresScraper]:
    """Give a connection of the reader's."""
    with closing(PostgresScraper(db.dsn("reader"))) as made:
        yield made


def test_what_is_committed_between_two_queries_is_not_seen(
    scraped: Scraped, scraper: PostgresScraper
) -> None:
    scraped.hour_job()
    scraped.expect(scraped.fire(3), scraped.fire(3) + MINUTE)

    def meanwhile(jobs: Sequence[JobFacts], now: datetime, /) -> Beyond:
        assert [job.job for job in jobs] == [JOB]
        scraped.expect(scraped.fire(2), scraped.fire(2) + MINUTE)
        scraped.claim(text(scraped.fire(3)))
        scraped.attempt(text(scraped.fire(1)), "failed")
        scraped.decide("reopen", text(scraped.fire(3)), "done")
        scraped.hour_job("ops/vacuum")
        scraped.alter("UPDATE k8sjob.jobs SET done_until = done_until - interval '3 hours'")
        scraped.operate("SELECT k8sjob.start_pass('*')")
        return Tails()(jobs, now)

    facts = scraper.read(meanwhile)
    (counted,) = facts.counted
    assert (counted.state, counted.n, counted.oldest) == ("missing", 1, scraped.fire(3))
    assert (facts.undated, facts.counters, facts.passes) == ([], {}, [])
    after = scraper.read(Tails())
    assert {job.job for job in after.jobs} == {JOB, "ops/vacuum"}
    assert after.counters == {(JOB, "failed"): 1}
    assert [one.scope for one in after.passes] == ["*"]


def test_a_scrape_can_write_nothing_be_it_the_owners(db: Database) -> None:
    with closing(PostgresScraper(db.dsn("owner"))) as owner:
        conn = owner._conn  # noqa: SLF001  # nothing else can be asked within its transaction

        def meanwhile(_jobs: Sequence[JobFacts], _now: datetime, /) -> Beyond:
            with pytest.raises(ReadOnlySqlTransaction), conn.transaction():
                conn.execute("DELETE FROM k8sjob.jobs")
            row = conn.execute("SHOW transaction_isolation").fetchone()
            assert row == ("repeatable read",)
            return Beyond()

        assert owner.read(meanwhile).jobs == []


def test_a_scrape_goes_through_a_pooler_and_leaves_no_setting_there(pgbouncer: PgBouncer) -> None:
    with closing(PostgresScraper(pgbouncer.dsn("reader"))) as scraper:
        before = pgbouncer.connect("reader").execute("SHOW statement_timeout").fetchone()
        assert scraper.read(Tails()).jobs == scraper.read(Tails()).jobs == []
        assert pgbouncer.connect("reader").execute("SHOW statement_timeout").fetchone() == before


def test_a_query_has_a_limit_in_time(db: Database) -> None:
    """A lock that nobody gives back must not hold the exporter for ever."""
    admin = db.connect("admin")
    admin.execute("LOCK TABLE k8sjob.counters")
    with closing(PostgresScraper(db.dsn("reader"), timeout_s=0.1)) as scraper:
        with pytest.raises(Unavailable, match="statement timeout"):
            scraper.read(Tails())
        assert not scraper.is_broken
        admin.rollback()
        assert scraper.read(Tails()).jobs == []


def test_the_number_of_queries_is_the_same_for_ten_jobs_and_for_a_thousand(
    scraped: Scraped,
) -> None:
    many = (
        "SELECT count(k8sjob.track_job('ops/job-' || n, clock_timestamp(), 'scheduled', "
        """'{"catch_up": "flag", "suspended": false}')), """
        "count(k8sjob.change_version('ops/job-' || n, clock_timestamp(), 0, NULL, NULL, "
        "%(expr)s, NULL, false, %(since)s, %(since)s, false, 'uid')) "
        "FROM generate_series(%(first)s::int, %(last)s) n"
    )
    more = {"expr": scraped.hourly, "since": scraped.now - 300 * MINUTE}
    with (
        WireProxy(scraped.db.dsn("reader")) as proxy,
        closing(open_scraper(parse(proxy.conninfo(), "the test"))) as scraper,
    ):
        scraped.operate(many, first=1, last=10, **more)
        with proxy.counting() as few:
            assert len(scraper.read(Tails()).jobs) == 10
        scraped.operate(many, first=11, last=1000, **more)
        with proxy.counting() as lots:
            facts = scraper.read(Tails())
    assert (len(facts.jobs), sum(map(len, facts.beyond.fired.values()))) == (1000, 5000)
    assert few.count == lots.count <= 15


def test_what_has_happened_since_is_not_read_through(scraped: Scraped) -> None:
    """A minute schedule that has nothing to do for most of the day, an outbox that is well."""
    scraped.hour_job()
    scraped.attempt(text(scraped.fire(2)), "applied")
    scraped.alter("UPDATE k8sjob.attempts SET source = 'job-name'")
    scraped.alter(
        "INSERT INTO k8sjob.attempts (id, job, period, mode, source, client, started_at, ended_at, "
        "outcome) SELECT gen_random_uuid(), %(job)s, %(period)s, 'sql', '--period', '0.1.0', "
        "clock_timestamp(), clock_timestamp(), 'duplicate' FROM generate_series(1, 20000)",
        job=JOB,
        period=text(scraped.fire(2)),
    )
    scraped.alter(
        "INSERT INTO k8sjob.outbox (id, job, period, n, destination, body, state) "
        "SELECT gen_random_uuid(), %(job)s, '2026-09', n, 'a', '', 'sent' "
        "FROM generate_series(1, 20000) n",
        job=JOB,
    )
    scraped.db.connect("owner", autocommit=True).execute("VACUUM (ANALYZE)")
    given = {"now": scraped.now, "timeout": "0", "jobs": [JOB], "periods": [text(scraped.fire(2))]}
    conn = scraped.db.connect("reader")
    for name, query in SQL.items():
        plan = f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {query}"
        ((found,),) = conn.execute(plan.encode(), given).fetchall()
        assert read_in(found[0]["Plan"]) < 100, name


def read_in(plan: dict[str, Any]) -> float:
    """Return how many rows a plan's scans have read."""
    inner = sum(read_in(one) for one in plan.get("Plans", ()))
    if "Scan" not in plan["Node Type"]:
        return inner
    rows = plan["Actual Rows"] + plan.get("Rows Removed by Filter", 0)
    return float(inner + rows * plan["Actual Loops"])


def test_who_can_be_late_is_the_same_for_all_who_ask() -> None:
    assert f"({'|'.join(FIRED)})" in SQL["jobs"]


def test_who_shows_life_is_the_same_for_all_who_look() -> None:
    minutes = int(ALIVE_FOR.total_seconds()) // 60
    assert minutes == 3
    for name in ("alive", "counted"):
        assert "interval '3 minutes'" in SQL[name]


# ------------------------------------------------------------------------------------ refused


def test_without_the_readers_right_the_message_has_the_line_to_paste(db: Database) -> None:
    db.connect("owner", autocommit=True).execute(
        "REVOKE SELECT ON k8sjob.outbox FROM k8sjob_reader"
    )
    told = pytest.raises(Denied, match=r"(?s)outbox.*k8sjob migrate --grant-reader ROLE")
    with closing(open_scraper(address(db))) as scraper, told:
        scraper.read(Tails())


def test_without_a_schema_the_message_says_so(db: Database) -> None:
    db.connect("owner", autocommit=True).execute("ALTER SCHEMA k8sjob RENAME TO gone")
    told = pytest.raises(SchemaAbsent, match="k8sjob migrate")
    with closing(open_scraper(address(db))) as scraper, told:
        scraper.read(Tails())


def test_a_server_that_is_not_there_is_unavailable(db: Database) -> None:
    with WireProxy(db.dsn("reader")) as proxy:
        gone = proxy.conninfo()
    with pytest.raises(Unavailable, match="cannot be reached"):
        open_scraper(parse(gone, "the test"))


def test_a_sqlite_file_has_no_exporter(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"(?s)SQLite file.*postgresql://"):
        open_scraper(parse(f"sqlite:///{tmp_path}/ledger.db", "the test"))
