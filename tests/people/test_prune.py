"""Pruning takes what is finished and old, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from tests.people.conftest import JOB

if TYPE_CHECKING:
    from pathlib import Path

    from tests.people.conftest import Desk, Told

FEW = [f"{JOB}:2026-01-{day:02}" for day in range(1, 11)]
UNFINISHED = ("open", "blocked", "awaiting")


def ten_done(desk: Desk) -> None:
    for key in FEW:
        desk.put("done", key)


def floor(desk: Desk, job: str = JOB) -> Any:
    return desk.query(f"SELECT floor FROM k8sjob.gate WHERE job = '{job}'")[0][0]


def claim(desk: Desk, key: str) -> str:
    """Return the outcome of a claim, rolled back."""
    assert desk.store.db
    with desk.store.db.connect("runner") as conn:
        try:
            query = "SELECT (k8sjob.try_claim(%s, %s)).outcome"
            row = conn.execute(query, key.split(":", 1)).fetchone()
        except psycopg.Error as error:
            return {"KJ006": "expired", "KJ002": "conflict"}[error.sqlstate or ""]
        finally:
            conn.rollback()
    assert row
    return str(row[0])


def test_what_is_done_or_skipped_goes_and_its_keys_are_expired(pg_desk: Desk) -> None:
    ten_done(pg_desk)
    pg_desk.put("skipped", f"{JOB}/part-1:2026-01-02")
    told = pg_desk.call("prune", JOB, "--before", "2026-01-06")
    assert told.code == 0
    assert told.out.startswith(f"{JOB}  6 periods up to 2026-01-05 (before 2026-01-06), 0 attempts")
    assert sorted(pg_desk.states()) == FEW[5:]
    assert floor(pg_desk) == "2026-01-05"
    assert [claim(pg_desk, key) for key in FEW] == ["expired"] * 5 + ["duplicate"] * 5
    assert claim(pg_desk, f"{JOB}/part-1:2026-01-02") == "expired"


def test_nothing_unfinished_goes(pg_desk: Desk) -> None:
    ten_done(pg_desk)
    for state, day in zip(UNFINISHED, (11, 12, 13), strict=True):
        pg_desk.put(state, f"{JOB}:2026-01-{day}")
        pg_desk.put(state, f"{JOB}/part-1:2026-01-{day}")
    pg_desk.put("done", f"{JOB}:2026-01-20")
    assert pg_desk.call("prune", JOB, "--older-than", "1d").code == 0
    assert sorted(set(pg_desk.states().values())) == sorted(UNFINISHED)
    assert len(pg_desk.states()) == 6
    assert floor(pg_desk) == "2026-01-20"
    assert claim(pg_desk, f"{JOB}:2026-01-11") == "applied"  # open below the floor


def test_once_is_kept_for_ever(pg_desk: Desk) -> None:
    pg_desk.know("ops/setup", "once")
    pg_desk.put("done", "ops/setup:once")
    pg_desk.query("UPDATE k8sjob.jobs SET retention_s = 1")
    assert pg_desk.call("prune", "-A", "--older-than", "1d", "--yes").code == 0
    assert pg_desk.states() == {"ops/setup:once": "done"}


def test_only_jobs_with_a_retention_lose_periods_and_other_jobs_nothing(pg_desk: Desk) -> None:
    names = [JOB, "billing/daily-credit-2", "ops/vacuum"]
    for name in names[1:]:
        pg_desk.know(name)
    for name in names:
        pg_desk.put("done", f"{name}:2026-01-01")
    pg_desk.query(f"UPDATE k8sjob.jobs SET retention_s = 86400 WHERE job = '{JOB}'")
    told = pg_desk.call("prune", "-A")
    assert told.code == 0
    assert told.out.startswith(f"{JOB}  1 periods up to ")
    assert "(retention 1d)" in told.out
    assert sorted(pg_desk.states()) == [f"{name}:2026-01-01" for name in names[1:]]
    assert pg_desk.call("prune", "-A").err == "there is nothing to prune\n"
    told = pg_desk.call("prune", "-n", "billing", "--older-than", "1d", "--yes")
    assert list(pg_desk.states()) == ["ops/vacuum:2026-01-01"]


def test_several_namespaces_are_pruned_at_once_and_no_other(pg_desk: Desk) -> None:
    names = [JOB, "ops/vacuum", "shop/orders", "shop-2/orders"]
    for name in names[1:]:
        pg_desk.know(name)
    for name in names:
        pg_desk.put("done", f"{name}:2026-01-01")
    told = pg_desk.call(
        "prune", "-n", "shop", "-n", "billing", "-n", "shop", "--older-than", "1d", "--yes"
    )
    assert told.code == 0
    assert [line.split()[0] for line in told.out.splitlines()] == [JOB, "shop/orders"]
    assert sorted(pg_desk.states()) == ["ops/vacuum:2026-01-01", "shop-2/orders:2026-01-01"]


def test_a_job_without_a_namespace_is_looked_for_in_one_alone(pg_desk: Desk) -> None:
    ten_done(pg_desk)
    space, _, name = JOB.partition("/")
    told = pg_desk.call("prune", "-n", space, "-n", "ops", name, "--older-than", "1d")
    assert told.code == 64
    assert "jobs are named, and 2 namespaces to look for them. Nothing was changed." in told.err
    assert pg_desk.call("prune", "-n", space, name, "--older-than", "1d").code == 0
    assert pg_desk.states() == {}


def test_events_and_counters_stay(pg_desk: Desk) -> None:
    pg_desk.call("skip", FEW[0], "--reason", "why")
    pg_desk.query(f"INSERT INTO k8sjob.counters VALUES ('{JOB}', 'applied', 7)")
    assert pg_desk.call("prune", JOB, "--older-than", "1d", "--attempts-older-than", "0s").code == 0
    assert pg_desk.states() == {}
    assert len(pg_desk.events()) == 1
    assert pg_desk.query("SELECT outcome, n FROM k8sjob.counters") == [("applied", 7)]


def test_old_attempts_go_but_for_those_without_an_end_or_of_something_unfinished(
    pg_desk: Desk,
) -> None:
    pg_desk.put("blocked", FEW[1])
    kept = {}
    for key, day, ended in (
        (FEW[0], "2026-01-01", True),
        (FEW[0], "2026-01-02", False),
        (FEW[1], "2026-01-01", True),
        (FEW[2], "2999-01-01", True),
        (f"{JOB}/part-1:2026-01-01", "2026-01-01", True),
    ):
        attempt = pg_desk.start(key)
        end = f"'{day}', outcome = 'failed'" if ended else "NULL"
        pg_desk.query(
            f"UPDATE k8sjob.attempts SET started_at = '{day}', ended_at = {end} "
            f"WHERE id = '{attempt}'"
        )
        kept[key, day] = attempt
    told = pg_desk.call("prune", "-A", "--batch", "1")
    assert "2 attempts before " in told.out
    assert "1 without an end stay" in told.out
    left = {row[0] for row in pg_desk.query("SELECT id FROM k8sjob.attempts")}
    assert left == {
        kept[FEW[0], "2026-01-02"],
        kept[FEW[1], "2026-01-01"],
        kept[FEW[2], "2999-01-01"],
    }


def test_a_dry_run_says_the_same_and_takes_nothing(pg_desk: Desk) -> None:
    ten_done(pg_desk)
    attempt = pg_desk.start(FEW[0])
    pg_desk.query(
        "UPDATE k8sjob.attempts SET started_at = '2026-01-01', ended_at = '2026-01-01', "
        f"outcome = 'applied' WHERE id = '{attempt}'"
    )
    words = ("prune", JOB, "--before", "2026-01-06", "--attempts-older-than", "10d")
    dry = pg_desk.call(*words, "--dry-run")
    assert (dry.code, len(pg_desk.states()), floor(pg_desk)) == (0, 10, None)
    assert dry.err == "dry run: nothing was changed\n"
    assert _but_time(pg_desk.call(*words)) == _but_time(dry)
    as_json = pg_desk.call(*words, "-o", "json").json
    assert (as_json[0]["periods"], as_json[0]["attempts"]) == (0, 0)


def _but_time(told: Told) -> str:
    return told.out.partition(" attempts before")[0]


def test_the_floor_never_passes_the_mark(pg_desk: Desk) -> None:
    ten_done(pg_desk)
    pg_desk.query("UPDATE k8sjob.jobs SET tracked_since = '2026-01-01', done_until = '2026-01-06'")
    told = pg_desk.call("prune", JOB, "--older-than", "1d")
    assert "nobody has looked past 2026-01-06 00:00:00Z yet" in told.out
    assert (floor(pg_desk), len(pg_desk.states())) == ("2026-01-04", 6)


def test_not_even_in_sql_does_the_floor_pass_the_mark(pg_desk: Desk) -> None:
    ten_done(pg_desk)
    assert pg_desk.store.db
    for tracked in ("'2026-01-01', done_until = '2026-01-06'", "'2026-01-01', done_until = NULL"):
        pg_desk.query(f"UPDATE k8sjob.jobs SET tracked_since = {tracked}")
        with (
            pg_desk.store.db.connect("operator") as operator,
            pytest.raises(psycopg.errors.CheckViolation, match="would pass its mark"),
        ):
            operator.execute("SELECT k8sjob.prune_periods(%s, '2026-01-10')", [JOB])
    assert (floor(pg_desk), len(pg_desk.states())) == (None, 10)


def test_what_does_not_fit_together_is_refused(pg_desk: Desk) -> None:
    for words in (
        (),
        ("-A", JOB),
        ("-A", "-n", "billing"),
        ("-n", ""),
        (f"{JOB}/part-1",),
        ("-A", "--before", "2026-01-01"),
        (JOB, "--before", "2026-01-01", "--older-than", "1d"),
        (JOB, "--older-than", "soon"),
        (JOB, "--older-than", "99999d"),
        ("billing/other",),
        (JOB, "--batch", "0"),
    ):
        told = pg_desk.call("prune", *words)
        assert told.code == 64, (words, told)


def test_a_time_beyond_one_job_is_asked_about(pg_desk: Desk) -> None:
    ten_done(pg_desk)
    pg_desk.know("ops/vacuum")
    told = pg_desk.call("prune", "-A", "--older-than", "1d")
    assert told.code == 64
    assert "this would prune 2 jobs. Nothing was changed." in told.err
    assert len(pg_desk.states()) == 10
    assert pg_desk.call("prune", "-A", "--older-than", "1d", "--yes").code == 0
    assert pg_desk.states() == {}


def test_a_file_is_not_pruned(sqlite_path: Path, pg_desk: Desk) -> None:
    told = pg_desk.call("prune", "-A", dsn=f"sqlite:///{sqlite_path}")
    assert told.code == 78
    assert "a SQLite ledger is not pruned" in told.err


def test_a_runner_may_not_prune(pg_desk: Desk) -> None:
    ten_done(pg_desk)
    told = pg_desk.call("prune", JOB, "--older-than", "1d", dsn=pg_desk.store.dsn)
    assert (told.code, len(pg_desk.states())) == (77, 10)
