"""What people ask of the Postgres ledger and change in it. See :mod:`k8sjob.ledger.operate`."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import errors as pg

from k8sjob.cycle import Cycle
from k8sjob.errors import Denied, K8sjobError, TryAgain, Unavailable
from k8sjob.key import JobName, Key
from k8sjob.ledger.operate import ChangedMeanwhile, Flight, Hold, JobFacts, Row, Scope, Sight
from k8sjob.ledger.postgres.connect import connect
from k8sjob.ledger.postgres.errors import first_line, translate
from k8sjob.ledger.queries import queries
from k8sjob.states import State

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from k8sjob.ledger.operate import Changes, Decision, Wanted

SQL = queries("postgres_operator")


class PostgresOperator:
    """A connection of a person's, as the operator. See the contract."""

    def __init__(self, dsn: str, *, lock_timeout_s: float) -> None:
        """Connect. Raises Unavailable, ConfigError."""
        self._lock_timeout = f"{lock_timeout_s * 1000:.0f}ms"
        self._conn = connect(dsn, application_name="k8sjob operator")
        # The stricter levels would not see what they have waited for.
        self._conn.isolation_level = psycopg.IsolationLevel.READ_COMMITTED

    def close(self) -> None:
        """Give the connection back; the server rolls an open transaction back."""
        self._conn.close()

    @contextmanager
    def _transaction(self, doing: str) -> Iterator[None]:
        """One transaction with a bound on each wait; what Postgres raises comes out as ours."""
        try:
            with self._conn.transaction():
                self._rows("settings", lock_timeout=self._lock_timeout)
                yield
        except psycopg.Error as error:
            raise _explain(error, doing) from error

    def _rows(self, name: str, **params: Any) -> list[tuple[Any, ...]]:
        return self._conn.execute(SQL[name], params).fetchall()

    def _value(self, name: str, **params: Any) -> Any:
        return self._rows(name, **params)[0][0]

    # ------------------------------------------------------------------------------- looking

    def look(self, wanted: Wanted) -> Sight:
        """Return what there is of it."""
        where = _where(wanted)
        with self._transaction("look at the ledger"):
            return Sight(
                now=self._value("now"),
                rows={row.key: row for row in map(_row, self._rows("rows", **where))},
                jobs={facts.job: facts for facts in map(_facts, self._rows("jobs", **where))},
                holds=[_hold(*row) for row in self._rows("holds", **where)],
                flights=[
                    Flight(i, Key.of(job, period), at, pod)
                    for i, job, period, at, pod in self._rows("flights", **where)
                ],
                blocked={s: self._blocked(s) for s in wanted.scopes},
                awaited=self._awaited(wanted.indicator),
            )

    def _blocked(self, scope: Scope) -> int:
        job = None if scope.job is None else str(scope.job)
        found: int = self._value("blocked", namespace=scope.namespace, job=job)
        return found

    def _awaited(self, indicator: str | None) -> Key | None:
        rows = self._rows("awaited", indicator=indicator) if indicator else []
        return Key.of(*rows[0]) if rows else None

    # ------------------------------------------------------------------------------ changing

    def change(self, changes: Changes) -> None:
        """Make all of it in one transaction, in the order of keys: two that meet do not lock."""
        words = {"reason": changes.reason, "by": changes.by}
        with self._transaction("change the ledger"):
            for decision in sorted(changes.decisions, key=lambda d: (str(d.key), d.verb)):
                self._decide(decision, changes, words)
            for scope in changes.holds:
                job = None if scope.job is None else str(scope.job)
                where = {"namespace": scope.namespace, "job": job, "until": changes.until}
                self._rows("set_hold", **where, **words)
            for hold in changes.lifts:
                if not self._value("lift_hold", id=hold.id, **words):
                    raise ChangedMeanwhile

    def _decide(self, decision: Decision, changes: Changes, words: dict[str, str]) -> None:
        key = decision.key
        try:
            made = self._value(
                "decide",
                verb=decision.verb,
                job=str(key.job),
                period=str(key.period),
                before=decision.before,
                generation=decision.generation,
                until=changes.until,
                indicator=changes.indicator,
                deadline=changes.deadline,
                **words,
            )
        except pg.LockNotAvailable as error:
            raise _busy(decision) from error
        except pg.UniqueViolation as error:
            raise _taken(decision, changes.indicator) from error
        if not made:
            raise ChangedMeanwhile

    # ------------------------------------------------------------------------------- pruning

    def jobs(self, scopes: Sequence[Scope]) -> tuple[datetime, list[JobFacts]]:
        """Return the ledger's time, and what is known of the jobs in these scopes."""
        from k8sjob.ledger.operate import Wanted  # noqa: PLC0415  # at run time only here

        sight = self.look(Wanted(scopes=scopes))
        return sight.now, list(sight.jobs.values())

    def count(self, job: JobName, upto: str | None, before: datetime) -> tuple[int, int, int]:
        """Return how many periods and attempts pruning would take, and attempts without an end."""
        with self._transaction(f"count what is old of {job}"):
            periods = self._value("finished", job=str(job), upto=upto) if upto else 0
            ((attempts, endless),) = self._rows("old_attempts", job=str(job), before=before)
        return periods, attempts, endless

    def prune_periods(self, job: JobName, upto: str, batch: int) -> int:
        """Raise the floor and delete one batch, in one transaction; return how many went."""
        with self._transaction(f"prune periods of {job}"):
            gone: int = self._value("prune_periods", job=str(job), upto=upto, batch=batch)
        return gone

    def prune_attempts(self, job: JobName, before: datetime, batch: int) -> int:
        """Delete one batch of attempts, in one transaction; return how many went."""
        with self._transaction(f"prune attempts of {job}"):
            gone: int = self._value("prune_attempts", job=str(job), before=before, batch=batch)
        return gone


def _where(wanted: Wanted) -> dict[str, Any]:
    scopes = wanted.scopes
    keys = [*wanted.keys]
    of = [key.job for key in keys] + [r.job for r in wanted.ranges]
    jobs = {str(job.job) for job in of} | {str(s.job) for s in scopes if s.job is not None}
    spaces = {s.namespace for s in scopes if s.namespace is not None and s.job is None}
    return {
        "jobs": [str(key.job) for key in keys],
        "periods": [str(key.period) for key in keys],
        "range_jobs": [str(r.job) for r in wanted.ranges],
        "firsts": [str(r.first) for r in wanted.ranges],
        "lasts": [str(r.last) for r in wanted.ranges],
        "scope_jobs": [str(s.job) for s in scopes if s.job is not None],
        "scope_namespaces": sorted(spaces),
        "whole_jobs": sorted(jobs),
        "hold_namespaces": sorted(spaces | {job.partition("/")[0] for job in jobs}),
        "all": any(s.namespace is None and s.job is None for s in scopes),
    }


def _row(row: tuple[Any, ...]) -> Row:
    job, period, state, generation, reason, until, done_at, changed_at, attempt, zone = row
    return Row(
        key=Key.of(job, period),
        state=State(state),
        generation=generation,
        reason=reason,
        until=until,
        done_at=done_at,
        changed_at=changed_at,
        attempt=attempt,
        zone=zone,
    )


def _facts(row: tuple[Any, ...]) -> JobFacts:
    job, kind, floor, zone, tracked, done_until, retention_s = row
    return JobFacts(
        job=JobName.parse(job),
        cycle=Cycle(kind) if kind else None,
        floor=floor,
        zone=zone,
        tracked=tracked,
        done_until=done_until,
        retention_s=retention_s,
    )


def _hold(number: int, namespace: str | None, job: str | None, *rest: Any) -> Hold:
    reason, until, set_by, set_at = rest
    scope = Scope(namespace, None if job is None else JobName.parse(job))
    return Hold(id=number, scope=scope, reason=reason, until=until, set_by=set_by, set_at=set_at)


def _explain(error: psycopg.Error, doing: str) -> K8sjobError:
    if isinstance(error, pg.InsufficientPrivilege):
        return Denied(
            f"the database refused to {doing}: {first_line(error)}\n  Nothing was changed. As the "
            "ledger's owner: k8sjob migrate --grant-operator ROLE"
        )
    ours = translate(error, doing=doing)
    if isinstance(ours, Unavailable) and error.sqlstate is None:  # the answer may be what is lost
        return Unavailable(
            f"{ours}\n  It is not known whether that was done. Run the same command again: what is "
            "as wanted already is left alone."
        )
    return ours


def _busy(decision: Decision) -> TryAgain:
    return TryAgain(
        f"could not {decision.verb} {decision.key}: an attempt, or somebody else, holds it\n"
        "  Nothing was changed. It may be done by now; run the same command again. To stop what "
        f"begins later: k8sjob block {decision.key.job.job} --reason …"
    )


def _taken(decision: Decision, indicator: str | None) -> K8sjobError:
    return K8sjobError(
        f"could not {decision.verb} {decision.key}: another period awaits {indicator} already\n"
        "  Nothing was changed. Confirm or reopen that one first, or name another indicator."
    )
