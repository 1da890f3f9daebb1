"""What a target gets: its connection, its period, and its parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from k8sjob.errors import ConfigError, ProtocolError, TryAgain
from k8sjob.key import JobName, Key
from k8sjob.ledger.contract import CommitInDoubt, Terms, drive, explain
from k8sjob.period import Cycle, Window
from k8sjob.run.doubt import find_out
from k8sjob.states import NotApplied, Outcome

if TYPE_CHECKING:
    from datetime import datetime
    from types import TracebackType
    from uuid import UUID

    from k8sjob.ledger.contract import Claim, Ledger
    from k8sjob.run.request import Request


class PartRefused(NotApplied):
    """A part cannot be had, for a reason that holds for the whole job, such as a hold."""


class Run:
    """One attempt at a period, as its target sees it."""

    def __init__(self, ledger: Ledger, request: Request, attempt: UUID) -> None:
        """Made by the runner; a target only receives it. For your own tests: k8sjob.testing."""
        self._ledger = ledger
        self._request = request
        self._attempt = attempt
        self._conn_taken = False
        self.has_parts = False
        self.in_part = False

    @property
    def conn(self) -> Any:
        """The connection whose transaction carries the claim: psycopg's, or sqlite3's.

        What goes through it commits together with the claim when the target returns.
        Raises ProtocolError once the run has parts, which have transactions of their own.
        """
        if self.has_parts:
            raise ProtocolError(
                "run.conn is not usable once run.part was called. The parts that ended are kept.\n"
                "  Work with part.conn; put what comes last into a last part."
            )
        self._conn_taken = True
        return self._ledger.conn

    @property
    def key(self) -> Key:
        """Job and period."""
        return self._request.key

    @property
    def attempt(self) -> UUID:
        """The id of this try. A stable idempotency key is ``str(run.key)``, never this."""
        return self._attempt

    @property
    def payload(self) -> bytes | None:
        """What was passed with ``--payload`` or K8SJOB_PAYLOAD."""
        return self._request.payload

    @property
    def scheduled_for(self) -> datetime | None:
        """The period's nominal instant (aware, UTC); None for a natural one without a zone."""
        return self._request.scheduled_for

    @property
    def window(self) -> Window:
        """The stretch ``[start, end)`` that the period stands for (aware, UTC).

        Raises ConfigError where it is not known: a natural period needs its zone, a scheduled one
        the schedule that says when the next begins.
        """
        window = window_of(self._request)
        if window is None:
            needed = (
                "the job's schedule" if self.key.period.cycle is Cycle.SCHEDULED else "--time-zone"
            )
            raise ConfigError(
                f"the window of {self.key} is not known: that needs {needed}. Nothing was changed."
            )
        return window

    async def execute(self, statement: str) -> None:
        """Run one statement of an SQL file; for the runner."""
        await self._ledger.execute(statement)

    def check_parts(self) -> None:
        """Raise what the target tried in a part and then kept to itself; for the runner."""
        if (violation := self._ledger.violation()) is not None:
            raise violation

    def part(self, name: str) -> Part:
        """Return a step of this job, with a transaction and a claim of its own.

        ::

            for region in REGIONS:
                with run.part(region) as part:      # async with, for a coroutine
                    if part:                        # False: an earlier attempt has done it
                        part.conn.execute(…)

        The job's own row is written last, once the target returns. Raises ProtocolError where
        ``run.conn`` was used before, InvalidKey for a name that cannot stand in a key.
        """
        if self._conn_taken:
            raise ProtocolError(
                f"run.part({name!r}) comes after run.conn was used. Nothing was committed.\n"
                "  Put that first work into a part too: each part is a transaction of its own."
            )
        job = self.key.job
        return Part(self, Key(JobName(job.namespace, job.name, name), self.key.period))


def window_of(request: Request) -> Window | None:
    """Return the period's window, where what is known tells it."""
    period = request.key.period
    if period.cycle.on_calendar:
        return period.window(request.zone) if request.zone else None
    start, end = request.scheduled_for, request.window_end
    return Window(start, end) if start and end else None


def terms_of(request: Request, attempt: UUID) -> Terms:
    """Return what this run's claims bring with them."""
    window = window_of(request)
    return Terms(
        attempt=attempt,
        payload_sha256=request.payload_sha256,
        scheduled_for=request.scheduled_for,
        window_end=window.end if window else None,
        zone=request.zone,
        sql_file=request.target.mode == "sql",
    )


class Part:
    """A step of a job. True where it is yours to do; use it as a context manager."""

    def __init__(self, run: Run, key: Key) -> None:
        """Made by :meth:`Run.part`."""
        self._run = run
        self.key = key
        self._claim: Claim | None = None

    def __bool__(self) -> bool:
        """Whether this attempt does the part; False where an earlier one has done it."""
        return self._claim is not None and self._claim.applied

    @property
    def conn(self) -> Any:
        """The connection, inside the part's transaction.

        Raises NotApplied where the part is done, ProtocolError outside of its block.
        """
        if self._claim is None:
            raise ProtocolError(
                f"the connection of {self.key} was asked for outside of its block. Nothing was "
                "changed by this part.\n"
                "  Write: with run.part(…) as part: if part: part.conn.execute(…)"
            )
        if not self:
            raise NotApplied(
                Outcome.DUPLICATE,
                f"{self.key} is done, so its connection is not for use. Nothing was changed by "
                "this part.\n"
                "  Ask first: with run.part(…) as part: if part: …",
            )
        return self._run._ledger.conn  # noqa: SLF001  # Run and Part are one thing in two classes

    async def _enter(self) -> None:
        run = self._run
        if run.in_part:
            raise ProtocolError(
                f"{self.key} begins before another part has ended. Nothing was changed by it.\n"
                "  Let parts follow each other: each has a transaction of its own, and one at a "
                "time has the connection."
            )
        if not run.has_parts:
            await run._ledger.rollback()  # noqa: SLF001  # the job itself is claimed last
            run.has_parts = True
        run.check_parts()
        self._claim = await run._ledger.claim(self.key, terms_of(run._request, run.attempt))  # noqa: SLF001
        if not self._claim.applied:
            await run._ledger.rollback()  # noqa: SLF001
        if self._claim.outcome not in (Outcome.APPLIED, Outcome.DUPLICATE):
            raise PartRefused(
                self._claim.outcome,
                explain(self._claim, run._request.payload_sha256),  # noqa: SLF001
                self._claim.reason,
            )
        run.in_part = True

    async def _exit(self, failed: bool) -> None:  # noqa: FBT001  # as __exit__ knows it
        ledger, applied = self._run._ledger, bool(self)  # noqa: SLF001
        self._claim, self._run.in_part = None, False
        if failed or not applied:
            await ledger.rollback()
            return
        try:
            await ledger.commit(self._run.attempt)
        except CommitInDoubt as error:
            landed = await find_out(ledger, self.key, self._run.attempt, error)
            await ledger.open()
            if not landed:
                raise TryAgain(
                    f"the connection broke at the commit of {self.key}, which did not land\n"
                    "  Earlier parts are kept. Run the same command again: it goes on here."
                ) from error
        except BaseException:
            await ledger.rollback()
            raise

    def __enter__(self) -> Self:
        drive(self._enter())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        drive(self._exit(kind is not None))

    async def __aenter__(self) -> Self:
        await self._enter()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._exit(kind is not None)
