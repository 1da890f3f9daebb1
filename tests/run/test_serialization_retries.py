from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from k8sjob.run import perform
from tests.fix_stores import wait_until_blocked
from tests.run.commandline import CREDIT, JOB, KEY, PERIOD, CommandLine, asynchronous
from tests.run.failing import runs
from tests.run.wired import KINDS, Kind, in_background, wait_for_waiter

if TYPE_CHECKING:
    from collections.abc import Callable


def fails(cli: CommandLine, kind: Kind, state: str, times: int) -> str | Callable[[Any], Any]:
    """Return the target that credits alice and then fails ``times`` times."""
    fail = f"SELECT app.fail('{state}', {times})"
    if kind == "sql":
        return cli.file(f"{CREDIT}; {fail}")

    def work(run: Any) -> None:
        run.conn.execute(CREDIT)
        run.conn.execute(fail)

    async def async_work(run: Any) -> None:
        await run.conn.execute(CREDIT)
        await run.conn.execute(fail)

    return work if kind == "sync" else async_work


STATES = pytest.mark.parametrize("state", ["40001", "40P01"], ids=["serialization", "deadlock"])


@STATES
@pytest.mark.parametrize("kind", KINDS)
def test_a_transaction_that_does_not_serialize_is_run_again(
    failing: CommandLine, kind: Kind, state: str
) -> None:
    told = failing.run(fails(failing, kind, state, times=2))
    assert told.out.startswith(f"{KEY} applied in ")
    assert told.err.count("did not serialize, again") == 2
    assert (runs(failing), failing.balance()) == (3, 10)
    assert [tried.ending for tried in failing.attempts()] == [("applied", 0)]


@STATES
@pytest.mark.parametrize("kind", KINDS)
def test_the_tries_are_bounded(failing: CommandLine, kind: Kind, state: str) -> None:
    told = failing.run(fails(failing, kind, state, times=99))
    assert told.code == 75
    assert f"{KEY} failed: " in told.err
    assert f"any of {perform.TRIES} tries. Its work was rolled back" in told.err
    assert (runs(failing), failing.balance(), failing.state()) == (perform.TRIES, 0, None)
    assert [tried.ending for tried in failing.attempts()] == [("failed", 75)]


@pytest.mark.parametrize("state", ["40002", "40003", "22012", "23505", "55P03", "57014", "P0001"])
@pytest.mark.parametrize("kind", KINDS)
def test_another_error_is_not_tried_again(failing: CommandLine, kind: Kind, state: str) -> None:
    told = failing.run(fails(failing, kind, state, times=1))
    assert told.code == 1
    assert (runs(failing), failing.balance(), failing.state()) == (1, 0, None)
    assert failing.last().ending == ("failed", 1)


# --------------------------------------------------------------------------------- as it comes


def test_a_failure_at_the_commit_is_run_again(failing: CommandLine) -> None:
    failing.query("""
        CREATE FUNCTION app.fails() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN PERFORM app.fail('40001', 1); RETURN NULL; END $$;
        CREATE CONSTRAINT TRIGGER fails AFTER UPDATE ON app.accounts
            DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION app.fails();
    """)
    assert failing.run(failing.file(CREDIT)).code == 0
    assert (runs(failing), failing.balance()) == (2, 10)


def test_a_rival_s_update_makes_a_strict_transaction_run_again(failing: CommandLine) -> None:
    db = failing.store.db
    assert db
    seen: list[int] = []

    def work(run: Any) -> None:
        ((balance,),) = run.conn.execute("SELECT balance FROM accounts").fetchall()
        seen.append(balance)
        if len(seen) == 1:
            failing.query("UPDATE accounts SET balance = 5")
        run.conn.execute(f"UPDATE accounts SET balance = {balance} + 10")

    strict = db.dsn("runner", options=r"-c default_transaction_isolation=repeatable\ read")
    assert failing.run(work, dsn=strict).code == 0
    assert (seen, failing.balance()) == ([0, 5], 15)


def test_the_loser_of_a_deadlock_runs_again(failing: CommandLine) -> None:
    db = failing.store.db
    assert db
    admin = db.connect("admin", autocommit=True)
    admin.execute("INSERT INTO app.accounts VALUES ('bob', 0)")
    # The target is the one that finds the deadlock, and so the one that loses.
    admin.execute(f"ALTER ROLE k8sjob_runner IN DATABASE {db.name} SET deadlock_timeout = '10ms'")
    rival = db.connect("admin")
    rival.execute("SET deadlock_timeout = '1h'")
    rival.execute("UPDATE app.accounts SET balance = balance + 1 WHERE name = 'bob'")
    seen: list[int] = []

    with ThreadPoolExecutor(1) as pool:

        def work(run: Any) -> None:
            seen.append(run.conn.info.backend_pid)
            run.conn.execute(CREDIT)
            if len(seen) == 1:
                mine = "UPDATE app.accounts SET balance = balance + 1 WHERE name = 'alice'"
                pool.submit(rival.execute, mine).add_done_callback(lambda _: rival.commit())
                wait_until_blocked(admin, rival.info.backend_pid)
            run.conn.execute("UPDATE accounts SET balance = balance + 10 WHERE name = 'bob'")

        told = failing.run(work)
    assert told.code == 0, told.text
    assert len(seen) == 2
    assert failing.query("SELECT name, balance FROM accounts ORDER BY name") == [
        ("alice", 11),
        ("bob", 11),
    ]


def test_a_rival_that_commits_the_key_of_a_strict_transaction_leaves_a_duplicate(
    failing: CommandLine,
) -> None:
    db = failing.store.db
    assert db
    failing.run(failing.file("SELECT 1"), period="2026-09-12")  # the job is known
    rival = db.connect()
    rival.execute("SELECT k8sjob.claim(%s, %s)", (JOB, PERIOD))
    strict = db.dsn("runner", options="-c default_transaction_isolation=serializable")
    admin = db.connect("admin", autocommit=True)
    with in_background(lambda: failing.run(failing.file(CREDIT), dsn=strict)) as result:
        wait_for_waiter(admin, "run_claim")
        rival.commit()
        told = result()
    assert (told.code, failing.balance()) == (0, 0)
    assert failing.last().ending == ("duplicate", 0)


@pytest.mark.parametrize("wrap", [lambda work: work, asynchronous], ids=["sync", "async"])
def test_parts_that_are_done_are_not_run_again(failing: CommandLine, wrap: Any) -> None:
    done: list[str] = []

    async def async_work(run: Any) -> None:
        for name in ("one", "two", "three"):
            async with run.part(name) as part:
                if part:
                    done.append(name)
                    await part.conn.execute(CREDIT)
                    if name == "two":
                        await part.conn.execute("SELECT app.fail('40001', 1)")

    def work(run: Any) -> None:
        for name in ("one", "two", "three"):
            with run.part(name) as part:
                if part:
                    done.append(name)
                    part.conn.execute(CREDIT)
                    if name == "two":
                        part.conn.execute("SELECT app.fail('40001', 1)")

    told = failing.run(async_work if wrap is asynchronous else work)
    assert told.code == 0, told.text
    assert done == ["one", "two", "two", "three"]
    assert failing.balance() == 30
