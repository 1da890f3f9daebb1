"""``k8sjob run -- COMMAND``: the ledger has the last word, not the exit code."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.fix_stores import Store

ROOT = Path(__file__).parents[2]
KEY = "billing/daily-credit:2026-09-13T00:00:00Z"

#: A program that claims in its own transaction, as any would; what it does then is its argument.
CLAIMS = """
import os, sqlite3, sys, psycopg, k8sjob
dsn = os.environ["K8SJOB_DSN"]
lite = dsn.startswith("sqlite")
conn = sqlite3.connect(dsn.removeprefix("sqlite:///")) if lite else psycopg.connect(dsn)
k8sjob.claim(conn, k8sjob.current_key())
conn.execute("UPDATE accounts SET balance = balance + 10")
conn.commit()
exec(sys.argv[1] if len(sys.argv) > 1 else "")
"""


@contextmanager
def started(
    store: Store, *command: str, flags: tuple[str, ...] = ()
) -> Iterator[subprocess.Popen[str]]:
    job, _, period = KEY.partition(":")
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    words = ["run", "--job", job, "--period", period, *flags, "--", *command]
    with subprocess.Popen(
        [sys.executable, "-m", "k8sjob", *words],
        env={**os.environ, "PYTHONPATH": path, "K8SJOB_DSN": store.dsn},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def ran(store: Store, *command: str, flags: tuple[str, ...] = ()) -> tuple[int, str, str]:
    with started(store, *command, flags=flags) as process:
        out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def attempts(store: Store, columns: str = "outcome, exit_code, speaker") -> list[tuple[Any, ...]]:
    return store.query(f"SELECT {columns} FROM {store.table('attempts')} ORDER BY id")


def periods(store: Store) -> list[tuple[Any, ...]]:
    return store.query(f"SELECT state FROM {store.table('periods')}")


def balance(store: Store) -> int:
    return int(store.query("SELECT balance FROM accounts")[0][0])


def test_a_command_that_claims_is_applied_and_not_started_again(store: Store) -> None:
    first = ran(store, sys.executable, "-c", CLAIMS)
    second = ran(store, sys.executable, "-c", "print('started again')")

    assert first[0] == second[0] == 0
    assert f"{KEY} applied in" in first[1]
    assert f"{KEY} duplicate: done" in second[1]
    assert "started again" not in second[1]
    assert balance(store) == 10
    assert attempts(store) == [("applied", 0, "k8sjob"), ("duplicate", 0, "k8sjob")]


def test_the_row_of_the_commands_claim_names_the_attempt(store: Store) -> None:
    ran(store, sys.executable, "-c", CLAIMS)

    row = store.query(f"SELECT attempt FROM {store.table('periods')}")
    assert [tuple(map(str, r)) for r in row] == [tuple(map(str, r)) for r in attempts(store, "id")]


def test_exit_0_without_the_row_is_unproven(store: Store) -> None:
    code, _, err = ran(store, "true")

    assert code == 81
    assert f"{KEY} unproven: the command ended with 0, but its period is not done" in err
    assert "--record-on-success" in err
    assert attempts(store) == [("unproven", 81, "k8sjob")]
    assert periods(store) == []


def test_the_commands_own_exit_code_passes_through(store: Store) -> None:
    code, out, err = ran(store, "sh", "-c", "echo said; echo cried >&2; exit 7")

    assert (code, out) == (7, "said\n")
    assert err.startswith("cried\n")
    assert f"{KEY} failed: the command ended with 7" in err
    assert attempts(store, "outcome, exit_code, speaker, tail") == [
        ("failed", 7, "child", "said\ncried\n")
    ] or attempts(store, "outcome, exit_code, speaker, tail") == [
        ("failed", 7, "child", "cried\nsaid\n")  # two pipes have no order among themselves
    ]


def test_a_command_that_fails_after_its_commit_has_done_its_period(store: Store) -> None:
    code, _, err = ran(store, sys.executable, "-c", CLAIMS, "sys.exit(3)")

    assert code == 3
    assert "applied, although the command then ended with 3" in err
    assert attempts(store) == [("applied", 3, "child")]
    assert periods(store) == [("done",)]


@pytest.mark.parametrize(("command", "code"), [("/nowhere/to/be/found", 127), ("/etc/passwd", 126)])
def test_a_command_that_cannot_be_started_says_so(store: Store, command: str, code: int) -> None:
    ended, _, err = ran(store, command)

    assert ended == code
    assert f"{KEY} failed: " in err
    assert "Nothing was run" in err
    assert attempts(store) == [("failed", code, "k8sjob")]


def test_the_command_is_told_what_it_works_on(store: Store) -> None:
    script = "import json, os; print(json.dumps({k: v for k, v in os.environ.items()}))"
    _, out, _ = ran(store, sys.executable, "-c", script)

    told = json.loads(out)
    job, _, period = KEY.partition(":")
    assert (told["K8SJOB_KEY"], told["K8SJOB_JOB"], told["K8SJOB_PERIOD"]) == (KEY, job, period)
    assert told["K8SJOB_SCHEDULED_FOR"] == period
    assert told["K8SJOB_SOURCE"] == "--period"
    assert [(told["K8SJOB_ATTEMPT"],)] == [tuple(map(str, r)) for r in attempts(store, "id")]
    assert told["K8SJOB_DSN"] == store.dsn  # it has to reach the ledger too


def test_record_on_success_follows_the_exit(store: Store) -> None:
    flags = ("--record-on-success",)
    failed = ran(store, "false", flags=flags)
    rows_after_failure = periods(store)
    done = ran(store, "true", flags=flags)
    again = ran(store, "sh", "-c", "echo again", flags=flags)

    assert (failed[0], rows_after_failure) == (1, [])
    assert (done[0], again[0]) == (0, 0)
    assert periods(store) == [("done",)]
    assert "again" not in again[1]
    assert [row[0] for row in attempts(store)] == ["failed", "applied", "duplicate"]


def test_record_on_success_is_refused_while_another_attempt_lives(store: Store) -> None:
    flags = ("--record-on-success",)
    with started(store, "sh", "-c", "echo alive; read line", flags=flags) as first:
        assert first.stdout
        assert first.stdout.readline() == "alive\n"
        refused = ran(store, "sh", "-c", "echo second", flags=flags)
        out, _ = first.communicate("go on\n", timeout=60)

    assert refused[0] == 75
    assert "second" not in refused[1]
    assert f"{KEY} busy: another transaction holds it: attempt " in refused[2]
    assert first.returncode == 0
    assert f"{KEY} applied in" in out


def test_a_connection_lost_while_the_command_runs_loses_no_record(store: Store) -> None:
    if store.db is None:
        return  # a file has no connection to lose
    flags = ("--record-on-success",)
    with started(store, "sh", "-c", "echo alive; read line", flags=flags) as process:
        assert process.stdout
        assert process.stdout.readline() == "alive\n"
        cut = store.query(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
            f"WHERE datname = current_database() AND application_name = 'k8sjob {KEY}'"
        )
        out, err = process.communicate("go on\n", timeout=60)

    assert cut == [(True,)]
    assert (process.returncode, err) == (0, "")
    assert f"{KEY} applied in" in out
    assert attempts(store) == [("applied", 0, "k8sjob")]


def test_a_killed_attempt_leaves_its_period_free_at_once(store: Store) -> None:
    flags = ("--record-on-success",)
    with started(store, "sh", "-c", "echo alive; read line", flags=flags) as first:
        assert first.stdout
        assert first.stdout.readline() == "alive\n"
        first.kill()
        first.wait(timeout=60)
        code, _, _ = ran(store, "true", flags=(*flags, "--lock-timeout", "20s"))

    assert first.returncode == -signal.SIGKILL
    assert code == 0
    assert [row[0] for row in attempts(store)] == [None, "applied"]


@pytest.mark.parametrize("trap", ["", "trap 'exit 0' TERM;"])
def test_after_a_stop_signal_exit_0_is_not_believed(store: Store, trap: str) -> None:
    script = f"{trap} echo ready; while :; do read line || sleep 0.05; done"
    with started(store, "sh", "-c", script, flags=("--record-on-success",)) as process:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGTERM)
        process.stdin.close() if process.stdin else None
        process.wait(timeout=60)

    assert process.returncode == 143
    assert periods(store) == []
    assert [row[:2] for row in attempts(store)] == [("failed", 143)]


#: The same program, stopped between its work and its commit.
STOPS = CLAIMS.replace("conn.commit()", "print('in mid-transaction', flush=True)\ninput()")


def test_a_command_stopped_in_mid_transaction_leaves_its_period_free(store: Store) -> None:
    with started(store, sys.executable, "-c", STOPS) as process:
        assert process.stdout
        assert process.stdout.readline() == "in mid-transaction\n"
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)
    left = (periods(store), balance(store))
    code, _, _ = ran(store, sys.executable, "-c", CLAIMS)

    assert process.returncode == 143
    assert left == ([], 0)
    assert code == 0
    assert balance(store) == 10
    assert attempts(store) == [("failed", 143, "child"), ("applied", 0, "k8sjob")]


def test_no_connection_is_kept_while_the_command_runs(store: Store) -> None:
    if store.db is None:
        return  # a file has no connections to spare
    with started(store, "sh", "-c", "echo alive; read line") as process:
        assert process.stdout
        assert process.stdout.readline() == "alive\n"
        ours = store.query(
            "SELECT count(*) FROM pg_stat_activity "
            f"WHERE datname = current_database() AND application_name = 'k8sjob {KEY}'"
        )

    assert ours == [(0,)]


def test_a_blocked_period_costs_no_start(store: Store) -> None:
    now = "'2026-01-01T00:00:00.000000Z'"
    columns = "job, period, scheduled_for, state, origin, reason, changed_at"
    job, _, period = KEY.partition(":")
    store.query(
        f"INSERT INTO {store.table('periods')} ({columns}) VALUES "
        f"('{job}', '{period}', '{period}', 'blocked', 'test', 'no feed', {now}) RETURNING state"
    )

    code, out, _ = ran(store, "sh", "-c", "echo started")

    assert code == 0
    assert out.startswith(f"{KEY} blocked: no feed")


@pytest.mark.parametrize(
    "words",
    [["--job", "a/b", "--period", "once"], ["m:f", "--job", "a/b", "--", "true"], ["--"]],
    ids=["nothing", "both", "empty"],
)
def test_one_thing_is_run(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    from k8sjob.cli.main import main

    with pytest.raises(SystemExit) as ended:
        main(["run", *words])

    assert ended.value.code == 64
    assert "Name one thing to run" in capsys.readouterr().err
