"""Periods that run in this process, as ``k8sjob run`` runs them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.backfill.conftest import JOB, World, day
from tests.backfill.here import Here, leave_the_process_alone
from tests.fix_stores import Store

if TYPE_CHECKING:
    from pathlib import Path

    import k8sjob


@pytest.fixture
def here(store: Store, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    """Give the command to the test, on SQLite and on every server."""
    leave_the_process_alone(monkeypatch)
    return Here(store, monkeypatch, capsys)


def test_days_run_one_after_the_other_both_ends_in(here: Here) -> None:
    told = here.call("--from", "2026-09-10", "--to", "2026-09-12")
    assert (told.code, here.balance) == (0, 30)
    assert here.periods == ["2026-09-10", "2026-09-11", "2026-09-12"]
    assert [line.split()[:2] for line in told.out.splitlines()[:4]] == [
        ["PERIOD", "ACTION"],
        ["2026-09-10", "run"],
        ["2026-09-11", "run"],
        ["2026-09-12", "run"],
    ]
    assert told.out.count(" applied in ") == 3
    assert told.err == "3 of 3 periods ran well\n"


def test_each_attempt_says_where_it_came_from(here: Here) -> None:
    here.call("--from", "2026-09-10", "--to", "2026-09-10")
    assert here.attempts() == [("2026-09-10", "backfill --local", "applied")]


def test_the_same_command_again_runs_nothing(here: Here) -> None:
    flags = ("--from", "2026-09-10", "--to", "2026-09-12")
    here.call(*flags)
    told = here.call(*flags)
    assert (told.code, here.balance) == (0, 30)
    assert [line.split()[1] for line in told.out.splitlines()[1:]] == ["skip"] * 3
    assert told.err == "0 of 0 periods ran well\n"


def test_a_dry_run_runs_nothing(here: Here) -> None:
    told = here.call("--from", "2026-09-10", "--to", "2026-09-11", "--dry-run")
    assert (told.code, here.ran, here.balance) == (0, [], 0)
    assert told.err == "2 to run (dry run: nothing was created)\n"


def test_it_stops_after_the_first_failure_with_its_code(here: Here) -> None:
    from k8sjob import PermanentError

    here.fails["2026-09-11"] = PermanentError("no such account")
    told = here.call("--from", "2026-09-10", "--to", "2026-09-13")
    assert (told.code, here.balance) == (70, 10)
    assert here.periods == ["2026-09-10", "2026-09-11"]
    assert told.err.splitlines()[-1] == (
        "1 of 4 periods ran well, 1 failed (2026-09-11: exit 70), 2 were not begun"
    )


def test_it_goes_on_after_a_failure_where_it_is_told_to(here: Here) -> None:
    from k8sjob import PermanentError

    here.fails = {"2026-09-10": ValueError("one"), "2026-09-12": PermanentError("two")}
    told = here.call("--from", "2026-09-10", "--to", "2026-09-13", "--keep-going")
    assert (told.code, here.balance) == (1, 20)
    assert told.err.splitlines()[-1] == (
        "2 of 4 periods ran well, 2 failed (2026-09-10: exit 1, 2026-09-12: exit 70)"
    )


def test_a_stop_signal_ends_it_even_then(here: Here) -> None:
    import os
    import signal

    def credit(run: k8sjob.Run) -> None:
        here.ran.append(run)
        os.kill(os.getpid(), signal.SIGTERM)

    here.patch.setattr(here, "credit", credit)
    told = here.call("--from", "2026-09-10", "--to", "2026-09-12", "--keep-going")
    assert (told.code, len(here.ran)) == (143, 1)
    assert told.err.splitlines()[-1].endswith("2 were not begun")


def test_a_target_that_cannot_be_loaded_is_a_failure_of_the_first(here: Here) -> None:
    told = here.call("--from", "2026-09-10", "--to", "2026-09-11", target="nowhere:credit")
    assert told.code == 78
    assert "nowhere:credit cannot be loaded" in told.err
    assert told.err.splitlines()[-1].endswith("1 was not begun")


def test_the_future_is_refused_and_the_rest_runs(here: Here) -> None:
    told = here.call("--from", day(0)[:10], "--to", day(-3)[:10])
    assert told.code == 1
    assert here.periods[0] == day(0)[:10]
    assert "in the future" in told.out


def test_a_file_of_sql_runs_for_each_period(here: Here, tmp_path: Path) -> None:
    file = tmp_path / "credit.sql"
    file.write_text("UPDATE accounts SET balance = balance + 10 WHERE name = 'alice'")
    told = here.call("--from", "2026-09", "--to", "2026-10", target=str(file))
    assert (told.code, here.balance) == (0, 20)


def test_a_command_runs_for_each_period(here: Here, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    told = here.call(
        *("--from", "2026-W36", "--to", "2026-W38", "--local", "--record-on-success", "--"),
        *("sh", "-c", f'echo "$K8SJOB_PERIOD $K8SJOB_SOURCE" >> {seen}'),
        target=None,
    )
    assert told.code == 0, told.err
    assert seen.read_text().splitlines() == [
        f"2026-W{week} backfill --local" for week in (36, 37, 38)
    ]


def test_a_command_that_fails_stops_it_with_its_own_code(here: Here) -> None:
    told = here.call(
        *("--from", "2026-09-10", "--to", "2026-09-11", "--local", "--", "sh", "-c", "exit 7"),
        target=None,
    )
    assert told.code == 7
    assert told.err.splitlines()[-1] == (
        "0 of 2 periods ran well, 1 failed (2026-09-10: exit 7), 1 was not begun"
    )


def test_one_period_of_a_schedule_runs_without_the_schedule(here: Here) -> None:
    instant = "2026-09-10T02:15:00Z"
    assert here.call("--from", instant, "--to", instant).code == 0
    assert here.periods == [instant]


def test_periods_of_a_schedule_need_one(here: Here, tmp_path: Path) -> None:
    here.patch.setenv("HOME", str(tmp_path))
    flags = ("--kubeconfig", str(tmp_path / "none"))
    told = here.call("--from", "2026-09-10T02:15:00Z", "--to", "2026-09-12T02:15:00Z", *flags)
    assert (told.code, here.ran) == (66, [])
    assert "the CronJob of billing/credit was not read" in told.err
    assert "no schedule of billing/credit is known" in told.err


def test_missing_runs_what_is_open(here: Here) -> None:
    here.call("--from", "2026-09-10", "--to", "2026-09-11")
    table = here.store.table("periods")
    here.store.query(
        f"UPDATE {table} SET state = 'open', done_at = NULL, generation = 1 "
        "WHERE period = '2026-09-11'"
    )
    told = here.call("--missing")
    assert told.code == 0, told.err
    assert here.periods[2:] == ["2026-09-11"]


def test_the_zone_of_the_environment_makes_the_windows(here: Here) -> None:
    here.patch.setenv("K8SJOB_TIME_ZONE", "Europe/Rome")
    here.call("--from", "2026-09-10", "--to", "2026-09-10")
    (run,) = here.ran
    assert f"{run.scheduled_for:%H:%M}" == "22:00"
    assert f"{run.window.end - run.window.start}" == "1 day, 0:00:00"


def test_off_the_schedule_the_reason_is_kept(here: Here) -> None:
    instant = "2026-09-10T02:15:00Z"
    flags = ("--off-schedule", "--reason", "the old system's last run")
    assert here.call("--from", instant, "--to", instant, *flags).code == 0
    assert here.attempts()[0][1] == "backfill --local, off schedule: the old system's last run"


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--from", "2026-09-10", "--to", "2026-09-10", "-o", "json"), "-o is about Jobs"),
        (("--from", "2026-09-10"), "Add --from 2026-09-10 --to 2026-09-10"),
        ((), "it is not said which periods"),
        (("--missing", "--to", "2026-09-10"), "--missing says which periods"),
        (("--from", "2026-09-10", "--to", "2026-09-11", "--off-schedule"), "a single period"),
        (("--from", "2026-09-10", "--to", "2026-09-10", "--off-schedule"), "needs a reason"),
        (("--missing", "--", "true"), "Name one thing to run"),
    ],
)
def test_flags_that_do_not_fit_are_refused(here: Here, flags: tuple[str, ...], said: str) -> None:
    told = here.call(*flags)
    assert (told.code, here.ran) == (64, [])
    assert said in told.err


def test_a_part_is_done_by_its_job(here: Here) -> None:
    here.job = "billing/credit/step-1"
    told = here.call("--missing")
    assert told.code == 64
    assert "Write billing/credit." in told.err


def test_a_file_that_is_not_there_yet_is_made_but_not_by_a_dry_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    leave_the_process_alone(monkeypatch)
    file = tmp_path / "new.db"
    fresh = Here(Store("sqlite", "new", f"sqlite:///{file}", path=file), monkeypatch, capsys)
    fresh.patch.setattr(fresh, "credit", fresh.ran.append)
    flags = ("--from", "2026-09-10", "--to", "2026-09-11")
    assert (fresh.call(*flags, "--dry-run").code, file.exists()) == (69, False)
    assert (fresh.call(*flags).code, len(fresh.ran)) == (0, 2)


@pytest.mark.parametrize(
    ("text", "periods"),
    [
        ("billing/credit:2026-09-10", ["2026-09-10"]),
        ("billing/credit:2026-09-10..2026-09-11", ["2026-09-10", "2026-09-11"]),
    ],
)
def test_a_key_or_a_range_brings_its_periods_with_it(
    here: Here, text: str, periods: list[str]
) -> None:
    here.job = text
    assert here.call().code == 0
    assert here.periods == periods
    told = here.call("--missing")
    assert (told.code, "says which periods" in told.err) == (64, True)


def test_the_schedule_of_a_tracked_job_is_enough(world: World, here_pg: Here) -> None:
    admin = world.admin
    admin.execute("INSERT INTO k8sjob.gate (job, kind) VALUES (%s, 'scheduled')", (JOB,))
    admin.execute(
        "INSERT INTO k8sjob.schedule_versions (job, n, expr, zone, earliest_from, valid_from) "
        "VALUES (%s, 1, '30 2 * * *', 'Europe/Rome', %s, %s)",
        (JOB, day(30), day(30)),
    )
    told = here_pg.call("--from", day(3)[:10], "--to", day(2)[:10])
    assert told.code == 0, told.err
    first, second = here_pg.ran
    assert f"{first.scheduled_for:%Y-%m-%d}" == day(3)[:10]
    assert first.window.end == second.window.start


def test_the_schedule_of_a_cronjob_that_can_be_read_is_enough(world: World, here_pg: Here) -> None:
    flags = ("--kubeconfig", world.kubeconfig)
    told = here_pg.call("--from", day(3), "--to", day(2), *flags)
    assert told.code == 0, told.err
    assert here_pg.periods == [day(3), day(2)]
    assert world.api.jobs() == []


@pytest.fixture
def here_pg(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Here:
    """Give the command to the test, with the ledger of the world."""
    leave_the_process_alone(monkeypatch)
    options = "-c search_path=app,public"
    store = Store("postgres", "world", world.db.dsn("runner", options=options), db=world.db)
    return Here(store, monkeypatch, capsys)
