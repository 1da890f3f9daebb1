"""What the reconciler asks of the Postgres ledger. See :mod:`k8sjob.ledger.watch`."""

from __future__ import annotations

from contextlib import contextmanager
from itertools import groupby
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.types.json import Jsonb

from k8sjob.cycle import Cycle
from k8sjob.key import JobName, Key
from k8sjob.ledger.postgres.connect import connect
from k8sjob.ledger.postgres.errors import translate
from k8sjob.ledger.postgres.rows import key_params
from k8sjob.ledger.postgres.watch_rows import (
    attempt_of,
    due_params,
    key_of,
    keys_params,
    scope_of,
    unfinished_of,
    version_of,
)
from k8sjob.ledger.queries import queries
from k8sjob.ledger.watch import LastTry, Tracked, Watched
from k8sjob.policy import CATCH_UP_MAX_AGE_S

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from k8sjob.ledger.watch import Due, VersionChange

SQL = queries("postgres_watch")


class PostgresWatcher:
    """A connection of the reconciler's. See the contract."""

    def __init__(self, dsn: str, *, lock_timeout_s: float) -> None:
        """Connect. Raises Unavailable, ConfigError."""
        self._lock_timeout = f"{lock_timeout_s * 1000:.0f}ms"
        self._conn = connect(dsn, application_name="k8sjob reconciler")
        # The stricter levels would not see what they have waited for.
        self._conn.isolation_level = psycopg.IsolationLevel.READ_COMMITTED

    def close(self) -> None:
        """Give the connection back; the server rolls an open transaction back."""
        self._conn.close()

    @contextmanager
    def _transaction(self, doing: str) -> Iterator[None]:
        """One transaction, or a savepoint of the one around it; what Postgres raises is ours."""
        try:
            with self._conn.transaction():
                self._rows("settings", lock_timeout=self._lock_timeout)
                yield
        except psycopg.Error as error:
            raise translate(error, doing=doing) from error

    def _rows(self, name: str, /, **params: Any) -> list[tuple[Any, ...]]:
        return self._conn.execute(SQL[name], params).fetchall()

    def _call(self, name: str, doing: str, /, **params: Any) -> Any:
        with self._transaction(doing):
            return self._rows(name, **params)[0][0]

    # ------------------------------------------------------------------------------- looking

    def now(self) -> datetime:
        """Return the time by the ledger's own clock."""
        at: datetime = self._call("now", "ask the time")
        return at

    def look(self, scope: str, namespaces: Sequence[str] | None) -> Watched:
        """Return what is unfinished, in one snapshot."""
        where = {"namespaces": None if namespaces is None else list(namespaces)}
        try:
            with self._conn.transaction():
                self._conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                self._rows("settings", lock_timeout=self._lock_timeout)
                last = self._rows("last_list", scope=scope)
                return Watched(
                    now=self._rows("now")[0][0],
                    last_list=last[0][0] if last else None,
                    jobs=self._jobs(where),
                    unfinished=[unfinished_of(row) for row in self._rows("unfinished", **where)],
                    attempts=[attempt_of(row) for row in self._rows("attempts", **where)],
                    holds=[scope_of(*row) for row in self._rows("holds")],
                )
        except psycopg.Error as error:
            raise translate(error, doing="look at the ledger") from error

    def _jobs(self, where: Mapping[str, Any]) -> dict[JobName, Tracked]:
        versions = {
            name: [version_of(row[1:]) for row in rows]
            for name, rows in groupby(self._rows("versions", **where), lambda row: row[0])
        }
        numbers = dict(self._rows("last_numbers"))
        launches: dict[str, list[datetime]] = {}
        for name, at in self._rows("launches", max_age=CATCH_UP_MAX_AGE_S, **where):
            launches.setdefault(name, []).append(at)
        jobs = {}
        for name, kind, *times, gone, settings in self._rows("jobs", **where):
            job = JobName.parse(name)
            done_until, observed_at, blind_since, unstarted_since = times
            jobs[job] = Tracked(
                job=job,
                kind=Cycle(kind),
                settings=settings,
                done_until=done_until,
                gone=gone,
                observed_at=observed_at,
                blind_since=blind_since,
                unstarted_since=unstarted_since,
                versions=versions.get(name, ()),
                last_n=numbers.get(name, 0),
                launches=launches.get(name, ()),
            )
        return jobs

    def states(self, keys: Sequence[Key]) -> Mapping[Key, str]:
        """Return the stored states of those that have a row."""
        with self._transaction("look at periods"):
            found = self._rows("states", **keys_params(keys))
        return {key_of(job, period): state for job, period, state in found}

    def done_at(self, keys: Sequence[Key]) -> Mapping[Key, datetime]:
        """Return when those that are done were done."""
        with self._transaction("look at periods"):
            found = self._rows("done_at", **keys_params(keys))
        return {key_of(job, period): at for job, period, at in found}

    def last_tries(self, keys: Sequence[Key]) -> Mapping[Key, LastTry]:
        """Return how the last attempt at each of them ended."""
        with self._transaction("look at attempts"):
            found = self._rows("last_tries", **keys_params(keys))
        return {
            key_of(job, period): LastTry(outcome=outcome, exit_code=code, message=message)
            for job, period, outcome, code, message in found
        }

    def is_connected(self, key: Key) -> bool:
        """Whether a connection that bears the key's name stands."""
        return bool(self._call("is_connected", f"look for {key}", **key_params(key)))

    # ------------------------------------------------------------------------------- writing

    @contextmanager
    def listing(self, scope: str, seen: datetime | None, began: datetime) -> Iterator[str]:
        """Take a complete list in; what is called inside stands in savepoints of its own."""
        with self._transaction("take a list of CronJobs in"):
            yield str(self._rows("enter_list", scope=scope, seen=seen, began=began)[0][0])

    def track(
        self, job: JobName, began: datetime, kind: Cycle, settings: Mapping[str, Any]
    ) -> bool:
        """Write what the CronJob says of its job."""
        params = {"job": str(job), "began": began, "kind": str(kind), "settings": Jsonb(settings)}
        return bool(self._call("track_job", f"track {job}", **params))

    def change_version(self, change: VersionChange, began: datetime) -> bool:
        """End and begin versions."""
        new = change.begins
        params = {
            "job": str(change.job),
            "began": began,
            "known_n": change.known_n,
            "earliest_to": change.earliest_to,
            "valid_to": change.valid_to,
            "expr": new.expr if new else None,
            "zone": new.zone if new else None,
            "suspended": new.suspended if new else None,
            "direct": new.direct if new else None,
            "earliest_from": new.earliest_from if new else None,
            "valid_from": new.valid_from if new else None,
            "cronjob_uid": change.cronjob_uid,
        }
        return bool(self._call("change_version", f"change the schedule of {change.job}", **params))

    def note_blind(self, job: JobName, since: datetime) -> None:
        """Say that lists after this one do not tell what its schedule is."""
        self._maybe("note_blind", f"note {job}", job=str(job), since=since)

    def expect(
        self, job: JobName, kind: Cycle, due: Sequence[Due], mark: datetime | None, by: str
    ) -> Mapping[Key, str]:
        """Store what is due, and move the mark with it."""
        params = {"job": str(job), "kind": str(kind), "by": by}
        with self._transaction(f"store what is due of {job}"):
            found: list[tuple[Any, ...]] = []
            if due:
                wanted = Jsonb([due_params(one) for one in due])
                found = self._rows("expect_periods", wanted=wanted, **params)
            answers = {key_of(str(job), period): answer for period, answer in found}
            if mark is not None and "busy" not in answers.values():
                self._rows("move_mark", job=str(job), mark=mark)
        return answers

    def explain(self, key: Key, generation: int, code: str, reason: str) -> None:
        """Say anew why an open period is not done."""
        params = {"generation": generation, "code": code, "reason": reason, **key_params(key)}
        self._maybe("explain_period", f"explain {key}", **params)

    def note_unstarted(self, job: JobName, since: datetime | None) -> None:
        """Say since when a Job of it stands without having started anything."""
        self._maybe("note_unstarted", f"note {job}", job=str(job), since=since)

    def _maybe(self, name: str, doing: str, /, **params: Any) -> bool:
        with self._transaction(doing):
            row = self._conn.execute(SQL[name], params).fetchone()
        return bool(row and row[0])

    def skip(self, key: Key, generation: int, reason: str, by: str) -> bool:
        """Skip an open period."""
        params = {"generation": generation, "reason": reason, "by": by, **key_params(key)}
        return self._maybe("skip", f"skip {key}", **params)

    def note_launch(  # noqa: PLR0913, PLR0917  # what a launch is
        self,
        key: Key,
        generation: int,
        try_: int,
        name: str,
        reason: str,
        uid: str | None = None,
    ) -> None:
        """Note that a Job of this name is about to be made, or is there."""
        params = {"generation": generation, "try": try_, "name": name, "reason": reason}
        params |= {"uid": uid, **key_params(key)}
        self._maybe("note_launch", f"note the Job of {key}", **params)

    def close_attempt(self, attempt: UUID, message: str, exit_code: int | None) -> str | None:
        """End an attempt that cannot do so itself."""
        params = {"id": attempt, "message": message, "exit_code": exit_code}
        outcome: str | None = self._call("close_attempt", f"close attempt {attempt}", **params)
        return outcome

    def overdue(self, key: Key, generation: int, reason: str, by: str) -> str | None:
        """Move an awaiting period whose deadline has passed."""
        params = {"generation": generation, "reason": reason, "by": by, **key_params(key)}
        state: str | None = self._call("overdue", f"look after {key}", **params)
        return state

    def start_pass(self, scope: str) -> int:
        """Note that a pass has begun."""
        return int(self._call("start_pass", "begin a pass", scope=scope))

    def end_pass(self, number: int, *, ok: bool, failing: int, message: str | None) -> None:
        """Note how it ended."""
        params = {"id": number, "ok": ok, "failing": failing, "message": message}
        self._call("end_pass", "end a pass", **params)

    def scopes(self) -> Mapping[str, int]:
        """Return the scopes that are known, and how many passes over each."""
        with self._transaction("look at the scopes"):
            return dict(self._rows("scopes"))

    def forget_scope(self, scope: str) -> None:
        """Forget the passes over a scope, and its last complete list."""
        self._call("forget_scope", f"forget the scope {scope}", scope=scope)
