"""What people ask of the SQLite ledger and change in it. See :mod:`k8sjob.ledger.operate`.

The file is one lock, and a laptop's ledger is small: what Postgres selects is selected here.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from k8sjob.cycle import Cycle
from k8sjob.errors import ConfigError, K8sjobError, TryAgain, Unavailable
from k8sjob.key import JobName, Key
from k8sjob.ledger.operate import ChangedMeanwhile, Flight, Hold, JobFacts, Row, Scope, Sight
from k8sjob.ledger.queries import queries
from k8sjob.ledger.sqlite.claim import instant, is_busy, key_params, now, text
from k8sjob.ledger.sqlite.file import connect, migrate
from k8sjob.states import State

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from k8sjob.ledger.operate import Changes, Decision, Wanted

SQL = queries("sqlite_operator")


class SqliteOperator:
    """A connection of a person's to a file. See the contract."""

    def __init__(self, file: str, *, lock_timeout_s: float) -> None:
        """Open the file and make the tables where they are missing. Raises Unavailable."""
        migrate(file, lock_timeout_s)
        self._conn: sqlite3.Connection = connect(file, lock_timeout_s)

    def close(self) -> None:
        """Close the file; an open transaction is rolled back."""
        self._conn.close()

    @contextmanager
    def _transaction(self, mode: str) -> Iterator[None]:
        try:
            self._conn.execute(f"BEGIN {mode}")
            yield
            self._conn.execute("COMMIT")
        except sqlite3.Error as error:
            raise _explain(error) from error
        finally:
            if self._conn.in_transaction:
                self._conn.execute("ROLLBACK")

    def _rows(self, name: str, params: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        return self._conn.execute(SQL[name], params).fetchall()

    # ------------------------------------------------------------------------------- looking

    def look(self, wanted: Wanted) -> Sight:
        """Return what there is of it, of one moment."""
        moment = now()
        params = {"now": moment, "indicator": wanted.indicator}
        with self._transaction("DEFERRED"):
            awaited = self._rows("awaited", params) if wanted.indicator else []
            return Sight(
                now=_instant(moment),
                rows={row.key: row for row in self._wanted_rows(wanted)},
                jobs={facts.job: facts for facts in map(_facts, self._rows("jobs", params))},
                holds=[h for h in map(_hold, self._rows("holds", params)) if _touches(h, wanted)],
                flights=[f for f in map(_flight, self._rows("flights", params)) if _in(f, wanted)],
                blocked=self._blocked(wanted, params),
                awaited=Key.of(*awaited[0]) if awaited else None,
            )

    def _wanted_rows(self, wanted: Wanted) -> Iterator[Row]:
        for key in wanted.keys:
            yield from map(_row, self._rows("row", key_params(key)))
        for span in wanted.ranges:
            ends = {"job": str(span.job), "first": str(span.first), "last": str(span.last)}
            yield from map(_row, self._rows("rows_between", ends))

    def _blocked(self, wanted: Wanted, params: Mapping[str, Any]) -> dict[Scope, int]:
        jobs = [JobName.parse(job) for (job,) in self._rows("blocked", params)]
        return {scope: sum(scope.covers(job) for job in jobs) for scope in wanted.scopes}

    # ------------------------------------------------------------------------------ changing

    def change(self, changes: Changes) -> None:
        """Make all of it in one transaction."""
        words = {"reason": changes.reason, "by": changes.by, "now": now()}
        words["until"] = text(changes.until)  # type: ignore[assignment]  # may be None
        with self._transaction("IMMEDIATE"):
            for decision in changes.decisions:
                self._decide(decision, changes, words)
            for scope in changes.holds:
                job = None if scope.job is None else str(scope.job)
                self._rows("set_hold", words | {"namespace": _namespace(scope), "job": job})
            for hold in changes.lifts:
                if not self._rows("lift_hold", words | {"id": hold.id}):
                    raise ChangedMeanwhile

    def _decide(self, decision: Decision, changes: Changes, words: dict[str, Any]) -> None:
        key = decision.key
        params = key_params(key) | words
        floor = self._enter_gate(key, params)
        params |= {
            "verb": decision.verb,
            "from_state": decision.before,
            "to_state": str(decision.after),
            "generation": decision.generation,
            "until": words["until"] if decision.after is State.BLOCKED else None,
            "indicator": changes.indicator,
            "deadline": text(changes.deadline),
            "scheduled_for": text(key.period.scheduled_for(None)),
            "prior": None,
        }
        row = self._whole_row(params)
        if row is None:
            if decision.before is not None or (floor is not None and params["period"] <= floor):
                raise ChangedMeanwhile
            self._rows("insert", params)
        else:
            if not _is_as_planned(row, decision, params["now"]):
                raise ChangedMeanwhile
            params["prior"] = json.dumps(row, default=bytes.hex)
            self._rows("back" if decision.after is State.OPEN else "forward", params)
        self._rows("event", params)

    def _enter_gate(self, key: Key, params: Mapping[str, Any]) -> str | None:
        self._rows("make_gate", params)
        ((kind, floor),) = self._rows("gate", params)
        if kind != params["kind"]:
            raise ConfigError(
                f"{key.job.job} has periods of kind {kind}, {key} is of kind {params['kind']}\n"
                "  Nothing was changed. The kind of a job's periods is fixed: pass a period of its "
                "kind."
            )
        return str(floor) if floor is not None else None

    def _whole_row(self, params: Mapping[str, Any]) -> dict[str, Any] | None:
        cursor = self._conn.execute(SQL["whole_row"], params)
        row = cursor.fetchone()
        names = [column[0] for column in cursor.description]
        return None if row is None else dict(zip(names, row, strict=True))


def _is_as_planned(row: Mapping[str, Any], decision: Decision, moment: str) -> bool:
    state = row["state"]
    lapsed = state == State.BLOCKED and row["until"] is not None and row["until"] <= moment
    if lapsed and decision.before is State.OPEN:
        state = State.OPEN
    return bool((state, row["generation"]) == (decision.before, decision.generation))


def _instant(value: str) -> datetime:
    return datetime.fromisoformat(value)


def _row(row: tuple[Any, ...]) -> Row:
    job, period, state, generation, reason, until, done_at, changed_at, attempt, zone = row
    return Row(
        key=Key.of(job, period),
        state=State(state),
        generation=generation,
        reason=reason,
        until=instant(until),
        done_at=instant(done_at),
        changed_at=instant(changed_at),
        attempt=UUID(attempt) if attempt else None,
        zone=zone,
    )


def _facts(row: tuple[Any, ...]) -> JobFacts:
    job, kind, floor, zone = row
    cycle = Cycle(kind) if kind else None
    return JobFacts(job=JobName.parse(job), cycle=cycle, floor=floor, zone=zone)


def _hold(row: tuple[Any, ...]) -> Hold:
    number, namespace, job, reason, until, set_by, set_at = row
    return Hold(
        id=number,
        scope=Scope(namespace, None if job is None else JobName.parse(job)),
        reason=reason,
        until=instant(until),
        set_by=set_by,
        set_at=_instant(set_at),
    )


def _flight(row: tuple[Any, ...]) -> Flight:
    number, job, period, started_at, pod = row
    return Flight(UUID(number), Key.of(job, period), _instant(started_at), pod)


def _in(flight: Flight, wanted: Wanted) -> bool:
    key = flight.key
    return (
        key in wanted.keys
        or any(key in span for span in wanted.ranges)
        or any(scope.covers(key.job) for scope in wanted.scopes)
    )


def _touches(hold: Hold, wanted: Wanted) -> bool:
    """Whether a hold has to do with what is wanted: it holds it, or lies within it."""
    jobs = [key.job for key in wanted.keys] + [span.job for span in wanted.ranges]
    spaces = {job.namespace for job in jobs} | {_namespace(s) for s in wanted.scopes}
    return hold.scope.namespace is None or None in spaces or hold.scope.namespace in spaces


def _namespace(scope: Scope) -> str | None:
    return scope.job.namespace if scope.job is not None else scope.namespace


def _explain(error: sqlite3.Error) -> K8sjobError:
    if is_busy(error):
        return TryAgain(
            "the ledger's file is held by an attempt, or by somebody else\n"
            "  Nothing was changed. Run the same command again."
        )
    if "k8sjob_periods.indicator" in str(error):
        return K8sjobError(
            "another period awaits this indicator already\n"
            "  Nothing was changed. Confirm or reopen that one first, or name another indicator."
        )
    return Unavailable(f"the ledger's file cannot be used: {error}. Nothing was changed.")
