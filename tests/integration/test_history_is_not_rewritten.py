"""Nothing that a runner does changes what is done, or what was said of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import errors

from k8sjob.ledger.uuid7 import uuid7
from tests.integration.functions import JOB, Functions, call

if TYPE_CHECKING:
    from collections.abc import Iterator
    from uuid import UUID

    from tests.fix_stores import Connection, Database

DAY, PAYLOAD = "2026-02-01", b"paid"
KEY = {"job": JOB, "period": DAY}
START = {**KEY, "mode": "sql", "source": "--period", "client": "0.1.0"}


class History(Functions):
    """A ledger in which another role than the runner has blocked, reopened and done a period."""

    def __post_init__(self) -> None:
        """Make the history, and remember it."""
        super().__post_init__()
        self.attempt, self.running = uuid7(), uuid7()
        operator = self.conns["operator"]
        call(operator, "block", reason="no feed", **KEY)
        self.reopen(DAY)
        for attempt in (self.attempt, self.running):
            call(operator, "start_attempt", id=attempt, **START)
        with operator.transaction():
            call(operator, "claim", payload=PAYLOAD, attempt=self.attempt, **KEY)
        self.end(operator, self.attempt, "applied")
        self.hold = self.as_(
            "operator", "set_hold", namespace=None, job="shop/stock", reason="closed", by="ann"
        )
        self.before = self.rows()

    @staticmethod
    def end(conn: Connection, attempt: UUID, outcome: str) -> Any:
        """End an attempt."""
        words = {"outcome": outcome, "exit_code": 0, "speaker": "k8sjob"}
        return call(conn, "end_attempt", id=attempt, **words)

    def rows(self) -> dict[str, list[Any]]:
        """Return what was there when the history was made, as it is now."""
        before = getattr(self, "before", None)
        found = {}
        for table, key in (("periods", "job, period"), ("attempts", "id"), ("events", "id")):
            query = f"SELECT to_jsonb(t) AS row FROM k8sjob.{table} t ORDER BY {key}"
            found[table] = [row["row"] for row in self.all(query)]
        found["holds"] = [self.one("SELECT to_jsonb(t) AS row FROM k8sjob.holds t WHERE id = 1")]
        if before:  # others may have come; none may have gone or changed
            for table, rows in before.items():
                found[table] = [row for row in found[table] if row in rows]
        return found

    def holds(self) -> bool:
        """Tell whether the history is as it was."""
        return self.rows() == self.before


@pytest.fixture
def history(db: Database) -> Iterator[History]:
    """Give a history to the test, which must not have changed it."""
    history = History(db)
    assert {table: len(rows) for table, rows in history.before.items()} == {
        "periods": 1,
        "attempts": 2,
        "events": 2,
        "holds": 1,
    }
    yield history
    assert history.rows() == history.before


def _attempts_at_it(history: History) -> Iterator[tuple[str, dict[str, Any]]]:
    """Give each call that a runner could try on a done period."""
    own = uuid7()
    for attempt in (own, history.attempt, history.running):
        yield "claim", {**KEY, "attempt": attempt}
        yield "try_claim", {**KEY, "payload": PAYLOAD, "attempt": attempt}
        yield "claim_text", {**KEY, "payload": "other", "attempt": attempt}
        yield "block", {**KEY, "reason": "mine", "attempt": attempt, "by": "ann"}
        yield "skip", {**KEY, "reason": "mine", "attempt": attempt, "by": "ann"}
        yield "await", {**KEY, "reason": "mine", "attempt": attempt, "by": "ann"}
        yield "landed", {"p_job": JOB, "p_period": DAY, "p_attempt": attempt}
        yield "seal", {"p_attempt": attempt}
        yield "start_attempt", {"id": attempt, **START}
        for outcome in ("failed", "lost", None):
            words = {"exit_code": 1, "speaker": "child", "message": "mine"}
            yield "end_attempt", {"id": attempt, "outcome": outcome, **words}
        terms = {"p_payload_sha256": b"\0" * 32, "p_attempt": attempt}
        times = {"p_scheduled_for": None, "p_window_end": None, "p_zone": "Etc/UTC"}
        yield "claim_answer", {"p_job": JOB, "p_period": DAY, **terms, **times}
        run = {"p_lock_timeout": "1s", "p_sql_file": False}
        yield "run_claim", {"p_job": JOB, "p_period": DAY, **terms, **times, **run}


def _try_all(history: History, conn: Connection) -> int:
    """Call everything, each in a transaction that commits; return how many calls were answered."""
    answered = 0
    for function, args in _attempts_at_it(history):
        try:
            with conn.transaction():
                call(conn, function, **args)
                call(conn, "block", **KEY, reason="once more, in the same transaction")
        except psycopg.Error as error:
            refusal = error.sqlstate or ""
        else:
            refusal = ""
            answered += 1
        # Not applied, a bad value or setting, a key that is taken, a lock not had in time.
        assert refusal[:2] in {"", "KJ", "22", "23", "55"}, (function, refusal)
        assert history.holds(), function
    return answered


def test_no_call_of_the_runner_changes_what_is_done(history: History) -> None:
    assert _try_all(history, history.conns["runner"]) > 10


def test_somebody_elses_attempt_is_not_ended(history: History) -> None:
    assert history.end(history.conns["runner"], history.running, "lost") is False


def test_an_attempt_that_has_ended_is_not_ended_again(history: History) -> None:
    assert history.end(history.conns["operator"], history.attempt, "failed") is False
    own = uuid7()
    runner = history.conns["runner"]
    call(runner, "start_attempt", id=own, **START)
    assert history.end(runner, own, "duplicate") is True
    assert history.end(runner, own, "applied") is False
    assert history.one("SELECT outcome FROM k8sjob.attempts WHERE id = %s", own) == {
        "outcome": "duplicate"
    }


def test_an_attempt_is_not_started_over(history: History) -> None:
    with pytest.raises(errors.UniqueViolation):
        call(history.conns["runner"], "start_attempt", id=history.attempt, **START)


def test_what_only_an_operator_may_say_is_refused(history: History) -> None:
    runner = history.conns["runner"]
    said = {"reason": "mine", "by": "ann"}
    moved = {"p_to": "open", "p_from": ["done"], "p_reason": "mine", "p_by": "ann"}
    calls: dict[str, dict[str, Any]] = {
        "reopen": {**KEY, **said},
        "set_hold": {"namespace": None, "job": None, **said},
        "lift_hold": {"id": history.hold, **said},
        "prune_periods": {"job": JOB, "before": "2026-12-31"},
        "move": {"p_job": JOB, "p_period": DAY, **moved},
        "enter_gate": {"p_job": JOB, "p_kind": "once"},
        "grant_access": {"capability": "operator", "grantee": "k8sjob_runner"},
    }
    for function, args in calls.items():
        with pytest.raises(errors.InsufficientPrivilege):
            call(runner, function, **args)


# ------------------------------------------------------------------------------ forged settings

FORGED = [
    {"k8sjob.run": "", "k8sjob.seal": ""},
    {"k8sjob.run": "{attempt}", "k8sjob.seal": "{attempt}", "k8sjob.attempt": "{attempt}"},
    {"k8sjob.run": "{attempt}", "k8sjob.seal": ""},
    {"k8sjob.attempt": "no-uuid"},
    {"k8sjob.job": JOB, "k8sjob.period": DAY, "k8sjob.scheduled_for": "yesterday"},
    {"k8sjob.alone": "0"},
    {"k8sjob.lock_timeout": "0"},
    {"k8sjob.lock_timeout": "no time"},
    {"k8sjob.lock_timeout": "1us", "lock_timeout": "1"},
    {"default_transaction_isolation": "serializable"},
    {"default_transaction_isolation": "repeatable read"},
    {"standard_conforming_strings": "off", "escape_string_warning": "off"},
    {"transform_null_equals": "on"},
    {"bytea_output": "escape", "DateStyle": "SQL, DMY", "TimeZone": "Pacific/Apia"},
    {"row_security": "off", "constraint_exclusion": "on", "quote_all_identifiers": "on"},
    {"plpgsql.extra_errors": "all", "check_function_bodies": "off"},
]


def test_no_setting_lets_a_runner_change_what_is_done(history: History) -> None:
    conn = history.conns["runner"]
    for settings in FORGED:
        conn.execute("RESET ALL")
        for name, value in settings.items():
            forged = value.format(attempt=history.attempt)
            conn.execute("SELECT set_config(%s, %s, false)", (name, forged))
        _try_all(history, conn)


# -------------------------------------------------------------------- a schema that comes first

TRAP = """
GRANT USAGE ON SCHEMA evil TO PUBLIC;

CREATE FUNCTION evil.strike() RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
  UPDATE k8sjob.periods SET reason = 'struck';
EXCEPTION WHEN OTHERS THEN NULL;
END $$;

DO $$
DECLARE
  f record;
BEGIN
  -- Functions and operators of these names, on the types that the ledger uses. They answer as the
  -- true ones do, so that nothing fails and rolls their strike back.
  FOR f IN
    SELECT p.oid, p.proname, pg_get_function_identity_arguments(p.oid) AS args,
           format_type(p.prorettype, NULL) AS result,
           (SELECT string_agg('$' || n, ', ') FROM generate_series(1, p.pronargs) n) AS params
      FROM pg_proc p
     WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind = 'f' AND NOT p.proretset
       AND p.proname IN ('clock_timestamp', 'statement_timestamp', 'set_config', 'current_setting',
                         'split_part', 'substr', 'strpos', 'length', 'sha256', 'btrim', 'timezone',
                         'make_date', 'make_timestamp', 'string_to_array', 'pg_current_xact_id')
  LOOP
    EXECUTE format('CREATE FUNCTION evil.%1$I(%2$s) RETURNS %3$s LANGUAGE plpgsql AS ''BEGIN
                    PERFORM evil.strike(); RETURN pg_catalog.%1$I(%4$s); END''',
                   f.proname, f.args, f.result, f.params);
  END LOOP;
  FOR f IN
    SELECT o.oid, o.oprname, format_type(o.oprleft, NULL) AS l, format_type(o.oprright, NULL) AS r,
           format_type(o.oprresult, NULL) AS result
      FROM pg_operator o
     WHERE o.oprnamespace = 'pg_catalog'::regnamespace
       AND o.oprname IN ('=', '<>', '<', '<=', '>', '>=', '||', '~', '!~', '~~', '+', '-')
       AND o.oprleft IN ('text'::regtype, 'uuid'::regtype, 'timestamptz'::regtype, 'xid'::regtype,
                         'bytea'::regtype, 'int4'::regtype, 'timestamp'::regtype)
       AND o.oprright IN ('text'::regtype, 'uuid'::regtype, 'timestamptz'::regtype, 'xid'::regtype,
                          'bytea'::regtype, 'int4'::regtype, 'interval'::regtype)
  LOOP
    EXECUTE format('CREATE FUNCTION evil.%I(%s, %s) RETURNS %s LANGUAGE plpgsql AS ''BEGIN
                    PERFORM evil.strike(); RETURN $1 OPERATOR(pg_catalog.%s) $2; END''',
                   'op' || f.oid, f.l, f.r, f.result, f.oprname);
    EXECUTE format('CREATE OPERATOR evil.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = evil.%I)',
                   f.oprname, f.l, f.r, 'op' || f.oid);
  END LOOP;
END $$;
"""

CARELESS = """
CREATE FUNCTION app.careless(job text) RETURNS text LANGUAGE sql SECURITY DEFINER
AS $$ SELECT split_part(job, '/', 1) $$"""


def _spring_the_trap(history: History) -> Connection:
    """Return the runner's connection, on which the runner's own functions come first."""
    history.conns["admin"].execute("CREATE SCHEMA evil AUTHORIZATION k8sjob_runner")
    conn = history.conns["runner"]
    conn.execute(TRAP)
    for table in ("periods", "gate", "holds", "events", "attempts", "jobs", "counters"):
        conn.execute(f"CREATE TEMPORARY TABLE {table} (LIKE k8sjob.{table})".encode())
    conn.execute("SET search_path = pg_temp, evil, pg_catalog")
    return conn


def test_no_search_path_lets_a_runner_change_what_is_done(history: History) -> None:
    conn = _spring_the_trap(history)
    # Named placeholders have no types: that calls find the ledger's functions is part of the test.
    assert _try_all(history, conn) > 10


def test_the_trap_would_catch_a_careless_function(history: History) -> None:
    history.conns["owner"].execute(CARELESS)
    conn = _spring_the_trap(history)
    assert history.holds()
    conn.execute("SELECT app.careless('a/b')")
    row = history.row(DAY)
    assert row
    assert row["reason"] == "struck"
    history.conns["owner"].execute("UPDATE k8sjob.periods SET reason = NULL")
