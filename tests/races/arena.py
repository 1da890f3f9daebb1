"""Where transactions meet at one key: each on a connection and a thread of its own, step by step.

A step that must wait is started, seen waiting in ``pg_stat_activity``, and only then is its rival
moved on. Every wait is bounded.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from k8sjob import Key
from tests.fix_stores import wait_until_blocked
from tests.races.racer import KEY, WAIT, Answer, Pending, Racer, caught

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.fix_pgbouncer import PgBouncer
    from tests.fix_stores import Database


NEXT_DAY = Key.parse("billing/daily-credit:2024-09-14")
#: Two periods of a job that nobody has ever run: its gate has no row.
NEW_JOB = Key.parse("billing/new-job:2024-09-13")
NEW_JOBS_NEXT_DAY = Key.parse("billing/new-job:2024-09-14")
#: How a period that can be claimed may stand before that; the block's time has passed.
FREE = ("absent", "open", "blocked-until-now")
GATE = 4711  # the advisory lock at which a claim is stopped between two of its statements

# Statement triggers fire for no row at all, so they stop a claim wherever it gets to.
PREPARE = f"""
CREATE FUNCTION app.pause() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('races.stop', true) = TG_WHEN || ' ' || TG_OP THEN
    PERFORM pg_advisory_xact_lock_shared({GATE});
  END IF;
  IF current_setting('races.stop', true) = 'tell' THEN
    RAISE EXCEPTION 'this claim waits % for a lock', current_setting('lock_timeout');
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER pause_before BEFORE INSERT OR UPDATE ON k8sjob.periods
  FOR EACH STATEMENT EXECUTE FUNCTION app.pause();
CREATE TRIGGER pause_after AFTER INSERT OR UPDATE ON k8sjob.periods
  FOR EACH STATEMENT EXECUTE FUNCTION app.pause();
-- So long after a wait began the server looks for deadlocks; its default is a second.
ALTER DATABASE {{database}} SET deadlock_timeout = '100ms';
"""

# The gate's row is there, as after the runner's start.
RESET = f"""
DO $$
DECLARE
  t regclass;
BEGIN
  FOR t IN SELECT c.oid FROM pg_class c
            WHERE c.relnamespace = 'k8sjob'::regnamespace AND c.relkind = 'r'
              AND c.relname NOT IN ('migrations', 'ledger', 'grants') LOOP
    EXECUTE format('DELETE FROM %s', t);
  END LOOP;
  INSERT INTO k8sjob.gate VALUES ('{KEY.job}', 'day');
  UPDATE app.accounts SET balance = 0;
END $$
"""


@dataclass
class Arena:
    """A database, the level at which its racers run, and the way to it."""

    db: Database
    level: psycopg.IsolationLevel
    pooler: PgBouncer | None = None
    racers: list[Racer] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Connect a superuser, who looks on."""
        self.admin = self.db.connect("admin", autocommit=True)

    @property
    def strict(self) -> bool:
        """Whether a transaction keeps its snapshot, so that a rival's commit makes it fail."""
        return self.level is not psycopg.IsolationLevel.READ_COMMITTED

    def racer(self) -> Racer:
        """Connect one more runner."""
        where = self.pooler or self.db
        conn = where.connect("runner", prepare_threshold=None)
        conn.isolation_level = self.level
        return self._add(Racer(conn, pooled=self.pooler is not None))

    def two(self) -> tuple[Racer, Racer]:
        """Connect two."""
        return self.racer(), self.racer()

    def operator(self) -> Racer:
        """Connect an operator: at the default level and without a pooler, as a person would."""
        return self._add(Racer(self.db.connect("operator"), pooled=False))

    def _add(self, racer: Racer) -> Racer:
        self.racers.append(racer)
        return racer

    def see_waiting(self, racer: Racer, *, behind: Racer | int | None) -> None:
        """Return once ``racer`` waits for a lock of ``behind``, a racer or a backend's pid.

        None is the superuser, who has stopped it.
        """
        wait_until_blocked(self.admin, racer.pid)
        if behind is None:
            behind = self.admin.info.backend_pid
        holder = behind.pid if isinstance(behind, Racer) else behind
        assert holder in self.ask("SELECT pg_blocking_pids(%s)", racer.pid)

    def start_behind(
        self, rival: Racer | int | None, racer: Racer, key: Key = KEY, **terms: Any
    ) -> Pending:
        """Start the claim of ``racer`` and see it wait for ``rival``."""
        pending = Pending(racer, key, terms)
        self.see_waiting(racer, behind=rival)
        return pending

    def after_commit(self, pending: Pending) -> Answer:
        """Return the answer of a claim that has met what a rival committed in the meantime.

        READ COMMITTED looks again and answers. The stricter levels raise 40001 out of the claim,
        and whoever owns the transaction does all of it again.
        """
        if not self.strict:
            return pending.answer()
        with pytest.raises(psycopg.errors.SerializationFailure):
            pending.future.result(WAIT)
        pending.racer.rollback()
        return caught(lambda: pending.racer.do(pending.call))

    def ask(self, text: str, *params: object) -> Any:
        """Return the one value that the superuser is told, of what is committed."""
        row = self.admin.execute(text.encode(), params or None).fetchone()
        return row[0] if row else None

    def balance(self) -> int:
        """How much was credited: 10 for each time that the work took effect."""
        value = self.ask("SELECT balance FROM app.accounts WHERE name = 'alice'")
        assert isinstance(value, int)
        return value

    def state(self, key: Key = KEY) -> str | None:
        """Return the committed state of a period; None where it has no row."""
        where = "WHERE job = %s AND period = %s"
        state = self.ask(f"SELECT state FROM k8sjob.periods {where}", str(key.job), str(key.period))
        assert state is None or isinstance(state, str)
        return state

    def set_up(self, free: str) -> None:
        """Let KEY stand in one of the ways of FREE before anybody claims it."""
        if free != "absent":
            state, _, until = free.partition("-")
            self.set_state(state, "2024-09-14" if until else None)

    def set_state(self, state: str, until: str | None = None) -> None:
        """Give KEY a row in this state."""
        self.ask(
            """INSERT INTO k8sjob.periods (job, period, state, origin, reason, until)
               VALUES (%s, %s, %s, 'test', 'as the test needs it', %s) RETURNING 1""",
            *(str(KEY.job), str(KEY.period), state, until),
        )

    @contextmanager
    def stopping(self, racer: Racer, point: str) -> Iterator[None]:
        """Stop the claims of ``racer`` at ``point``, such as AFTER UPDATE, until the block ends."""
        racer.sql("SELECT set_config('races.stop', %s, true)", point)
        self.admin.execute("SELECT pg_advisory_lock(%s)", [GATE])
        try:
            yield
        finally:
            self.admin.execute("SELECT pg_advisory_unlock(%s)", [GATE])

    def close(self) -> None:
        """End what still waits, then all threads and connections."""
        if not all(future.done() for racer in self.racers for future in racer.waiting):
            self.admin.execute(
                """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                    WHERE datname = current_database() AND pid <> pg_backend_pid()"""
            )
        for racer in self.racers:
            racer.close()
        self.admin.close()
