"""How a snapshot is put together from named queries, the same for both stores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from k8sjob.cycle import Cycle
from k8sjob.key import JobName, Key
from k8sjob.ledger.known import read_known, read_version
from k8sjob.ledger.read import (
    AttemptRow,
    EventRow,
    HoldRow,
    JobRow,
    PassRow,
    PeriodRow,
    Snapshot,
    Tries,
    Where,
)
from k8sjob.ledger.tail import work_out

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from contextlib import AbstractContextManager

    from k8sjob.ledger.known import Known
    from k8sjob.ledger.launches import Launch

#: A job's portrait has the versions of its schedule of this time.
VERSIONS_OF = timedelta(days=56)
_EVER = datetime(1970, 1, 1, tzinfo=UTC)


class Reading(ABC):
    """A reader whose store has the queries ``now``, ``jobs``, ``rows`` … under these names."""

    @abstractmethod
    def _snapshot(self) -> AbstractContextManager[None]:
        """Keep one moment's view until the end of the block."""

    @abstractmethod
    def _rows(self, name: str, **params: Any) -> list[dict[str, Any]]:
        """Return the rows of a named query by their columns: times aware UTC, ids as UUID."""

    @abstractmethod
    def _keys(self, keys: Sequence[Key]) -> dict[str, Any]:
        """Return ``keys`` as the store's queries take them."""

    @abstractmethod
    def _texts(self, texts: Sequence[str]) -> Any:
        """Return ``texts`` as one parameter."""

    def now(self) -> datetime:
        """Return the time by the ledger's own clock, aware UTC."""
        with self._snapshot():
            return self._now()

    def jobs(self, where: Where) -> Snapshot:
        """Return jobs, their unfinished periods and the holds."""
        with self._snapshot():
            return self._periods(replace(where, finished=()))

    def periods(self, where: Where) -> Snapshot:
        """Return periods and the attempts at them."""
        with self._snapshot():
            return self._periods(where)

    def attempts(self, where: Where) -> Snapshot:
        """Return attempts, the newest first, one more than the limit."""
        with self._snapshot():
            return Snapshot(
                now=self._now(),
                jobs=self._jobs(where),
                attempts=self._attempts(where),
                names=self._names(),
            )

    def story(self, key: Key, upto: datetime) -> Snapshot:
        """Return all there is of one period."""
        where = Where(keys=[key], limit=100, upto=upto, versions_since=_EVER)
        with self._snapshot():
            seen = self._periods(where)
            events = self._rows("events", job=str(key.job), period=str(key.period))
            return replace(
                seen,
                attempts=self._attempts(where)[::-1],
                events=[EventRow(**row) for row in events],
                launches=self._launches(key),
            )

    def portrait(self, job: JobName, attempts: int, upto: datetime) -> Snapshot:
        """Return a job with its unfinished periods, counters, last attempts and passes."""
        where = Where(
            prefixes=[str(job)],
            limit=attempts,
            upto=upto,
            versions_since=upto - VERSIONS_OF,
            passes=True,
        )
        with self._snapshot():
            counted = self._rows("counters", job=str(job))
            return replace(
                self._periods(where),
                attempts=self._attempts(where)[:attempts],
                counters={row["outcome"]: row["n"] for row in counted},
            )

    def known(self, job: JobName) -> Known:
        """Return what is known of a job's schedule and settings; a part is known by its job."""
        with self._snapshot():
            (row,) = self._rows("known", job=str(job.job))
            return read_known(job.job, {"now_at": self._now(), **row})

    def passes(self) -> list[PassRow]:
        """Return the last passes of each scope of the reconciler, the newest first."""
        with self._snapshot():
            return [PassRow(**row) for row in self._rows("passes")]

    # -------------------------------------------------------------------------------- pieces

    def _now(self) -> datetime:
        now: datetime = self._rows("now")[0]["now_at"]
        return now

    def _names(self) -> list[str]:
        return [row["job"] for row in self._rows("names")]

    def _periods(self, where: Where) -> Snapshot:
        jobs, rows = self._jobs(where), self._found(where)
        tail = work_out(jobs.values(), where)
        rows |= dict.fromkeys(self._absent([key for key in tail.slots if key not in rows], where))
        return Snapshot(
            now=self._now(),
            jobs=jobs,
            rows=rows,
            tries=self._tries(list(rows)),
            holds=[HoldRow(**row) for row in self._rows("holds")],
            names=self._names(),
            slots=tail.slots,
            gaps=tail.gaps,
        )

    def _absent(self, keys: list[Key], where: Where) -> list[Key]:
        """Return those that have no row; what is finished was perhaps not asked for."""
        if not keys or where.has_all_of_its_keys:
            return keys
        found = self._rows("absent", **self._keys(keys))
        return [Key.of(row["job"], row["period"]) for row in found]

    def _launches(self, _key: Key) -> list[Launch]:
        """Return the Jobs that were made for a period; a file has none."""
        return []

    def _jobs(self, where: Where) -> dict[JobName, JobRow]:
        # A part is known by its job's row.
        names = {"/".join(text.split("/")[:2]) for text in where.prefixes}
        names |= {str(key.job.job) for key in where.keys}
        everything = where.everything or bool(where.attempts)
        found = self._rows(
            "jobs",
            names=self._texts(sorted(names)),
            everything=everything,
            versions_since=where.versions_since,
            passes=where.passes,
        )
        return {job.job: job for job in map(_job, found)}

    def _found(self, where: Where) -> dict[Key, PeriodRow | None]:
        params = self._where(where)
        found = self._rows("unfinished", **params)
        if where.finished:
            more = {"states": self._texts(where.finished), "limit": where.limit + 1}
            found += self._rows("finished", **more, **params)
        rows: dict[Key, PeriodRow | None] = {row.key: row for row in map(_period, found)}
        for row in self._rows("rowless", **params):
            rows.setdefault(Key.of(row["job"], row["period"]), None)
        return rows

    def _tries(self, keys: Sequence[Key]) -> dict[Key, Tries]:
        if not keys:
            return {}
        counts: dict[Key, int] = {}
        last: dict[Key, AttemptRow] = {}
        endless: dict[Key, list[AttemptRow]] = defaultdict(list)
        for row in self._rows("tries", **self._keys(keys)):
            count, rank = row.pop("tried"), row.pop("rank")
            attempt = _attempt(row)
            counts[attempt.key] = count
            if rank == 1:
                last[attempt.key] = attempt
            if attempt.ended_at is None:
                endless[attempt.key].append(attempt)
        return {key: Tries(counts[key], last.get(key), endless[key]) for key in counts}

    def _attempts(self, where: Where) -> list[AttemptRow]:
        begin = self._texts([f"{prefix}%" for prefix in where.attempts])
        params = self._where(where) | {"ids": begin, "since": where.since}
        return [_attempt(r) for r in self._rows("attempts", limit=where.limit + 1, **params)]

    def _where(self, where: Where) -> dict[str, Any]:
        low, high = where.bounds
        names = [*where.prefixes, *(str(key.job) for key in where.keys)]
        wide = where.everything or bool(where.attempts)
        return {
            # No name begins with '~', and '0' follows the '/' before a name's next piece.
            "first": "" if wide else min(names),
            "last": "~" if wide else max(f"{name}0" for name in names),
            "everything": where.everything,
            "prefixes": self._texts(where.prefixes),
            **self._keys(where.keys),
            **_numbered("low", low),
            **_numbered("high", high),
        }


def _numbered(name: str, texts: Iterable[str]) -> dict[str, str]:
    return {f"{name}{n}": text for n, text in zip((20, 10, 8, 7), texts, strict=True)}


def _job(row: dict[str, Any]) -> JobRow:
    kind = row.pop("kind")
    versions, passes = row.pop("versions", None), row.pop("passes", None)
    return JobRow(
        job=JobName.parse(row.pop("job")),
        kind=Cycle(kind) if kind else None,
        suspended=bool(row.pop("suspended")),
        limits=row.pop("limits", None) or {},
        versions=[read_version(version) for version in versions or ()],
        passes=[_pass(one) for one in passes or ()],
        **row,
    )


def _pass(row: dict[str, Any]) -> PassRow:
    times = {name: row.pop(name) for name in ("started_at", "ended_at")}
    read = {n: datetime.fromisoformat(text).astimezone(UTC) for n, text in times.items() if text}
    return PassRow(**{"ended_at": None, **row, **read})


def _period(row: dict[str, Any]) -> PeriodRow:
    key = Key.of(row.pop("job"), row.pop("period"))
    return PeriodRow(key=key, uncertain=bool(row.pop("uncertain")), **row)


def _attempt(row: dict[str, Any]) -> AttemptRow:
    return AttemptRow(key=Key.of(row.pop("job"), row.pop("period")), **row)
