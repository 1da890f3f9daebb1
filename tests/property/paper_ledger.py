"""A ledger of the reconciler's in memory: what the Postgres one does, in microseconds.

tests/reconcile/test_paper_agrees.py holds it to that.
"""

# ruff: noqa: ARG002  # it keeps the reconciler's contract, and needs not all that this gives

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from k8sjob.ledger.watch import Tracked, Unfinished, Watched

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from k8sjob.cycle import Cycle
    from k8sjob.expect import Version
    from k8sjob.key import JobName, Key
    from k8sjob.ledger.watch import Due, LastTry, VersionChange


@dataclass
class PaperLedger:
    """See :mod:`k8sjob.ledger.watch`. ``clock`` is what it takes for the time."""

    clock: datetime
    lists: dict[str, datetime] = field(default_factory=dict)
    jobs: dict[JobName, Tracked] = field(default_factory=dict)
    versions: dict[JobName, list[Version]] = field(default_factory=dict)
    rows: dict[Key, Unfinished] = field(default_factory=dict)
    launched: dict[Key, int] = field(default_factory=dict)

    def close(self) -> None:
        """Do nothing."""

    def now(self) -> datetime:
        """Return the time."""
        return self.clock

    def look(self, scope: str, namespaces: Sequence[str] | None) -> Watched:
        """Return what is unfinished."""
        return Watched(
            now=self.clock,
            last_list=self.lists.get(scope),
            jobs={job: self._tracked(job) for job in self.jobs},
            unfinished=[self._unfinished(k) for k, r in self.rows.items() if r.state == "open"],
        )

    def _tracked(self, job: JobName) -> Tracked:
        known, each = self.jobs[job], self.versions.get(job, [])
        mark = known.done_until
        left = [v for v in each if v.valid_to is None or (mark is not None and v.valid_to > mark)]
        return replace(known, versions=left, last_n=each[-1].n if each else 0)

    def _unfinished(self, key: Key) -> Unfinished:
        return replace(self.rows[key], tries=self.launched.get(key, 0))

    def states(self, keys: Sequence[Key]) -> Mapping[Key, str]:
        """Return the stored states."""
        return {key: self.rows[key].state for key in keys if key in self.rows}

    def done_at(self, keys: Sequence[Key]) -> Mapping[Key, datetime]:
        """Return nothing: it does not keep when."""
        return {}

    def last_tries(self, keys: Sequence[Key]) -> Mapping[Key, LastTry]:
        """Return none: there are no attempts."""
        return {}

    def is_connected(self, key: Key) -> bool:
        """Return False, as for `last_tries`."""
        return False

    @contextmanager
    def listing(self, scope: str, seen: datetime | None, began: datetime) -> Iterator[str]:
        """Take a complete list in."""
        last = self.lists.get(scope)
        if last is not None and last >= began:
            yield "stale"
        elif last != seen:
            yield "changed"
        else:
            self.lists[scope] = began
            yield "ok"

    def track(
        self, job: JobName, began: datetime, kind: Cycle, settings: Mapping[str, Any]
    ) -> bool:
        """Write what the CronJob says."""
        known = self.jobs.get(job, Tracked(job=job, kind=kind))
        self.jobs[job] = replace(
            known, settings=settings, gone=False, observed_at=began, blind_since=None
        )
        return True

    def change_version(self, change: VersionChange, began: datetime) -> bool:
        """End and begin versions, by the rules of the table."""
        each = self.versions.setdefault(change.job, [])
        last = each[-1] if each else None
        in_force = last.n if last is not None and last.valid_to is None else 0
        if in_force != change.known_n:
            return False
        if change.known_n and last is not None:
            assert change.valid_to is not None
            assert change.earliest_to is not None
            assert change.valid_to >= last.valid_from
            assert change.earliest_to <= change.valid_to
            each[-1] = replace(last, earliest_to=change.earliest_to, valid_to=change.valid_to)
        known, new = self.jobs[change.job], change.begins
        mark = known.done_until
        if new is not None:
            assert new.earliest_from <= new.valid_from
            each.append(replace(new, n=(last.n if last else 0) + 1))
            mark = mark or new.earliest_from
        self.jobs[change.job] = replace(
            known, gone=new is None, observed_at=began, done_until=mark, blind_since=None
        )
        return True

    def note_blind(self, job: JobName, since: datetime) -> None:
        """Say that lists since do not tell."""
        known = self.jobs[job]
        self.jobs[job] = replace(known, blind_since=known.blind_since or since)

    def expect(
        self, job: JobName, kind: Cycle, due: Sequence[Due], mark: datetime | None, by: str
    ) -> Mapping[Key, str]:
        """Store what is due and move the mark."""
        answers = {}
        for one in due:
            assert one.key.period.cycle is kind
            answers[one.key] = self.rows[one.key].state if one.key in self.rows else "made"
            row = self.rows.get(one.key)
            if row is None or (row.state == "open" and row.uncertain and not one.uncertain):
                self.rows[one.key] = _row(one, by)
        known = self.jobs[job]
        if mark is not None and (known.done_until is None or mark > known.done_until):
            self.jobs[job] = replace(known, done_until=mark)
        return answers

    def explain(self, key: Key, generation: int, code: str, reason: str) -> None:
        """Say anew why."""
        self.rows[key] = replace(self.rows[key], reason_code=code, reason=reason)

    def note_unstarted(self, job: JobName, since: datetime | None) -> None:
        """Note it."""
        self.jobs[job] = replace(self.jobs[job], unstarted_since=since)

    def skip(self, key: Key, generation: int, reason: str, by: str) -> bool:
        """Skip it."""
        self.rows[key] = replace(self.rows[key], state="skipped", reason=reason)
        return True

    def note_launch(  # noqa: PLR0913, PLR0917  # as the contract has it
        self,
        key: Key,
        generation: int,
        try_: int,
        name: str,
        reason: str,
        uid: str | None = None,
    ) -> None:
        """Note it."""
        if uid is not None:
            self.launched[key] = try_

    def close_attempt(self, attempt: UUID, message: str, exit_code: int | None) -> str | None:
        """Return None: there are no attempts."""
        return None

    def overdue(self, key: Key, generation: int, reason: str, by: str) -> str | None:
        """Return None: nothing awaits."""
        return None

    def start_pass(self, scope: str) -> int:
        """Return 1."""
        return 1

    def end_pass(self, number: int, *, ok: bool, failing: int, message: str | None) -> None:
        """Do nothing."""

    def scopes(self) -> Mapping[str, int]:
        """Return those that have a list; passes are not kept."""
        return dict.fromkeys(self.lists, 0)

    def forget_scope(self, scope: str) -> None:
        """Forget its list."""
        self.lists.pop(scope, None)

    # ------------------------------------------------------------------------- for the test

    def claim(self, key: Key) -> None:
        """Do a period."""
        row = self.rows.get(key)
        if row is None:
            row = Unfinished(
                key=key,
                state="done",
                generation=0,
                scheduled_for=None,
                deadline_at=None,
                uncertain=False,
                origin="claim",
                reason_code=None,
                reason=None,
                until=None,
                await_deadline=None,
                tries=0,
            )
        self.rows[key] = replace(row, state="done")

    def open_rows(self) -> dict[str, bool]:
        """Return what is open, and whether it is uncertain."""
        return {str(k.period): r.uncertain for k, r in self.rows.items() if r.state == "open"}

    def dump(self) -> Any:
        """Return all that a pass can change, but for when its list was."""
        jobs = {job: replace(known, observed_at=None) for job, known in self.jobs.items()}
        return jobs, {job: list(each) for job, each in self.versions.items()}, dict(self.rows)


def _row(due: Due, by: str) -> Unfinished:
    return Unfinished(
        key=due.key,
        state="open",
        generation=0,
        scheduled_for=due.scheduled_for,
        deadline_at=due.deadline,
        uncertain=due.uncertain,
        origin=by,
        reason_code=due.code,
        reason=due.reason,
        until=None,
        await_deadline=None,
        tries=0,
    )
