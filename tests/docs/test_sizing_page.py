"""docs/sizing.md has the figures of benchmarks/README.md and the constants of the code."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from k8sjob.cli.main import main
from k8sjob.ledger.contract import drive
from k8sjob.ledger.open import open_ledger
from k8sjob.ledger.settings import parse
from k8sjob.ledger.uuid7 import uuid7
from k8sjob.run.heartbeat import FIRST_HEARTBEAT_S, Heartbeat, beats
from k8sjob.serve.readers import MOST
from tests.fix_chart import values_of

if TYPE_CHECKING:
    from tests.fix_stores import Database

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "sizing.md").read_text("utf-8")
PLAIN = " ".join(PAGE.split())
BENCH = (ROOT / "benchmarks" / "README.md").read_text("utf-8")
A_YEAR = {"daily": 365, "hourly": 8_760, "each minute": 525_600}


def measured(question: str) -> str:
    """Return what was measured: of the one row that begins so."""
    (cell,) = re.findall(
        rf"^\| {re.escape(question)}[^|]*\|[^|]*\| ([^|]*) \|", BENCH, re.MULTILINE
    )
    return str(cell)


def numbers(text: str) -> list[float]:
    """Return the numbers of a text, in order."""
    return [float(one.replace(",", "")) for one in re.findall(r"\d[\d,]*(?:\.\d+)?", text)]


def row(what: str) -> str:
    """Return the second cell of the page's row."""
    (cell,) = re.findall(rf"^\| {re.escape(what)} \| ([^|]*) \|", PAGE, re.MULTILINE)
    return str(cell)


def test_the_bytes_of_a_period_are_those_measured() -> None:
    whole, attempt, resolution, period = numbers(measured("bytes a period done at its first try"))
    assert f"**about {whole / 1000:.1f} kB**" in PLAIN
    parts = [round(part, -1) for part in (attempt, resolution, period)]
    said = "{:.0f} bytes for the attempt, {:.0f} for what the Kubernetes Job stood for, {:.0f} for"
    assert said.format(*parts) in PLAIN
    assert f"A thousand hourly jobs write {whole * 8_760 * 1_000 / 1e9:.0f} GB a year" in PLAIN


def test_the_bytes_of_a_year_are_those_measured() -> None:
    whole = numbers(measured("bytes a period done at its first try"))[0]
    of_the_bench = numbers(measured("in a year"))
    table = dict(re.findall(r"^\| (daily|hourly|each minute) \| (.*) \|$", PAGE, re.MULTILINE))
    assert set(table) == set(A_YEAR)
    for (name, periods), bench in zip(A_YEAR.items(), of_the_bench, strict=True):
        count, size = numbers(table[name])
        assert count == periods
        assert size == pytest.approx(bench, rel=0.03)
        assert size == pytest.approx(whole * periods / 1e6, rel=0.06)


def test_the_times_are_those_measured() -> None:
    claimed = measured("claimed / by hand, synchronous_commit on")
    by_hand = float(re.findall(r"by hand (\d+) us", claimed)[0])
    what = "a transaction with a claim, over the same with a row written by hand"
    assert row(f"{what} ({by_hand / 1000:.2f} ms)") == f"{numbers(claimed)[0]} times"
    cold = numbers(measured("cold `k8sjob run file.sql` / psycopg"))[0]
    resident = numbers(measured("its peak resident memory"))[0]
    assert numbers(row("`k8sjob run file.sql`, cold, over psycopg alone")) == [
        cold,
        round(resident),
    ]


def test_the_times_of_reconciler_and_exporter_are_those_measured() -> None:
    (new,) = re.findall(r": (\d+) / ", measured("a pass over 1,000 jobs, each with a new period"))
    (idle,) = re.findall(r": (\d+) / ", measured("a pass over 1,000 jobs, nothing new"))
    said = f"{int(new) / 1000:.1f} s with a new period each, {int(idle) / 1000:.2f} s without"
    assert row("a pass of the reconciler over 1,000 jobs with a year of hourly history") == said

    wall, cpu = re.findall(r"(\d+) ms", measured("a scrape of 1,000 jobs, 8,760,000 periods"))
    (size,) = re.findall(r"[\d.]+ MB", measured("a scrape of 1,000 jobs, 8,760,000 periods"))
    assert row("a scrape of 1,000 jobs with a year of hourly history") == f"{wall} ms; {size}"
    assert f"; {cpu} ms a scrape |" in PAGE
    ratio = numbers(measured("a scrape of 100 jobs, 87,600 hours / 8,760"))[0]
    what = "a scrape of 100 jobs with ten years of history, over one with a year"
    assert row(what) == f"{ratio} times"
    page = numbers(measured("the page of 1,000 jobs"))[0]
    assert row("the status page of 1,000 jobs") == f"{page:.0f} ms"


def test_the_exporters_connections_are_those_of_the_code() -> None:
    words = {4: "four"}
    assert f"one for scrapes, and up to {words[MOST]} for pages" in PLAIN


@pytest.mark.parametrize("part", ["migrate", "prune", "reconciler", "exporter", "control"])
def test_what_the_parts_ask_for_is_what_the_chart_asks_for(part: str) -> None:
    (line,) = re.findall(rf"^\| {part}\b.*$", PAGE, re.MULTILINE)
    resources = values_of(ROOT / "charts" / "k8sjob" / "values.yaml")[part]["resources"]
    asked, limit = resources["requests"], resources["limits"]
    assert set(limit) == {"memory"}, "no processor is limited"
    memory = re.sub(r"([MG]i)", r" \1", f"{asked['memory']}, {limit['memory']}")
    assert f"| {memory} |" in line
    assert f"| {asked['cpu']}" in line


def test_a_run_takes_one_connection(
    db: Database, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    count = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
    file = tmp_path / "count.sql"
    file.write_text(f"UPDATE app.accounts SET balance = ({count} AND usename = session_user);")
    monkeypatch.setenv("K8SJOB_DSN", db.dsn())
    with pytest.raises(SystemExit) as ended:
        main(["run", str(file), "--job", "a/b", "--period", "once"])
    assert ended.value.code == 0
    assert db.connect("admin").execute("SELECT balance FROM app.accounts").fetchall() == [(1,)]


def test_the_second_connection_comes_after_the_first_minute(db: Database) -> None:
    assert "| 1 more | from the end of its first minute on, for the heartbeat |" in PAGE
    assert FIRST_HEARTBEAT_S == 60
    now, attempt = [0.0], uuid7()
    admin = db.connect("admin", autocommit=True)
    count = """SELECT count(*) FROM pg_stat_activity
                WHERE datname = current_database() AND application_name = 'k8sjob beat'"""
    ledger = open_ledger(
        parse(db.dsn(), "a test"), application_name="k8sjob beat", lock_timeout_s=1
    )
    beat = Heartbeat(lambda: beats(ledger, attempt), clock=lambda: now[0])
    for now[0], connections in ((59.9, 0), (60.0, 1), (90.0, 1)):
        beat()
        assert admin.execute(count).fetchall() == [(connections,)]
    beat.close()
    drive(ledger.close())


def test_a_start_that_finds_no_connection_ends_with_69(
    db: Database, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "A start that finds no free connection ends with 69" in PLAIN
    admin = db.connect("admin", autocommit=True)
    admin.execute(f"ALTER DATABASE {db.name} CONNECTION LIMIT 0".encode())
    monkeypatch.setenv("K8SJOB_DSN", db.dsn())
    with pytest.raises(SystemExit) as ended:
        main(["run", "--job", "a/b", "--period", "once", "--", "true"])
    assert ended.value.code == 69
    assert "too many connections" in capsys.readouterr().err
    assert admin.execute("SELECT count(*) FROM k8sjob.attempts").fetchall() == [(0,)]


def test_a_further_try_takes_about_as_much_as_the_page_says(db: Database) -> None:
    (said,) = re.findall(r"about ([\d.]+) kB for each further try", PLAIN)
    admin = db.connect("admin", autocommit=True)
    runner = db.connect("runner", autocommit=True)
    runner.execute("SET synchronous_commit = off")

    def weigh_after(first: int, last: int) -> int:
        runner.execute(_TRIES.format(first, last).encode())
        admin.execute("VACUUM (ANALYZE)")
        ((weight,),) = admin.execute(_WEIGH).fetchall()
        return int(weight)

    before = weigh_after(1, 500)  # the first pages of tables and indexes are no try's
    assert (weigh_after(501, 2_500) - before) / 2_000 == pytest.approx(float(said) * 1000, rel=0.1)


_WEIGH = """SELECT sum(pg_table_size(oid) + pg_indexes_size(oid))::bigint FROM pg_class
             WHERE relnamespace = 'k8sjob'::regnamespace AND relkind = 'r'"""
#: Failed tries as of a Pod, whose ids grow with time.
_TRIES = r"""DO $$
DECLARE v_id uuid; v_at timestamp; BEGIN
  FOR n IN {}..{} LOOP
    v_id := (lpad(to_hex(1790000000000 + n), 12, '0') || '7' || substr(md5(n::text), 14))::uuid;
    v_at := timestamp '2026-09-01' + n * interval '1 minute';
    PERFORM k8sjob.start_attempt(v_id, 'billing/daily-credit',
      to_char(v_at, 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), 'python', 'kubernetes-job', '0.1.0', 1,
      md5(n::text)::uuid::text, 'daily-credit-29312345', md5(n::text)::uuid::text,
      'daily-credit-29312345-x7k2p', 'node-1');
    PERFORM k8sjob.end_attempt(v_id, 'failed', 1, 'k8sjob',
      'billing/daily-credit failed: ValueError: the bank has sent no rate for today');
    COMMIT;
  END LOOP;
END $$"""
