"""What the plans of these tests are made from. It is 2026-09-13 19:00:00Z, a Sunday."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from k8sjob.backfill.asked import Asked
from k8sjob.backfill.basis import Basis
from k8sjob.backfill.candidates import in_range, missing
from k8sjob.backfill.plan import Line, Plan, Seen, make_plan
from k8sjob.backfill.traces import by_period
from k8sjob.expect import Version
from k8sjob.key import JobName, Key
from k8sjob.kube.objects import CronJob, Job
from k8sjob.ledger.launches import Launch
from k8sjob.ledger.read import AttemptRow, HoldRow, PeriodRow, Snapshot, Tries
from k8sjob.period import Cycle, Period
from tests.kube.made import cronjob

if TYPE_CHECKING:
    from collections.abc import Iterable

NOW = datetime(2026, 9, 13, 19, tzinfo=UTC)
TRACKED = datetime(2026, 9, 1, tzinfo=UTC)
JOB = JobName("billing", "credit")
ID = UUID("0199a1c4-0000-7000-8000-000000000001")


def at(text: str) -> datetime:
    """Return an instant by its text."""
    return datetime.fromisoformat(text)


def version(expr: str = "0 0 * * *", zone: str | None = "Etc/UTC", **given: Any) -> Version:
    """Return a version of a schedule, in force since `TRACKED`."""
    made = Version(n=1, expr=expr, zone=zone, earliest_from=TRACKED, valid_from=TRACKED)
    return replace(made, **given)


def cron(expr: str = "0 0 * * *", **given: Any) -> CronJob:
    """Return the CronJob."""
    return CronJob.parse(cronjob(str(JOB), expr, **given))


def basis(*versions: Version, **given: Any) -> Basis:
    """Return what is known of the job: tracked, at midnight UTC each day, unless said otherwise."""
    own = versions or (version(),)
    usual: dict[str, Any] = {
        "cycle": Cycle.SCHEDULED,
        "zone": own[-1].zone,
        "tracked": True,
        "done_until": NOW - timedelta(hours=1),
        "cronjob": cron(),
    }
    return Basis(job=JOB, now=NOW, versions=own, **usual | given)


def asked(start: str | None = None, end: str | None = None, **given: Any) -> Asked:
    """Return a command; one text is both ends."""
    return Asked(job=JOB, start=start, end=end or start, missing=start is None, **given)


def key(text: str) -> Key:
    """Return the key of a period of the job; a day means its midnight."""
    return Key(JOB, Period.parse(f"{text}T00:00:00Z" if len(text) == len("2026-09-13") else text))


def row(text: str, state: str, **given: Any) -> PeriodRow:
    """Return the row of a period."""
    made = PeriodRow(
        key=key(text),
        state=state,
        generation=0,
        scheduled_for=None,
        zone=None,
        deadline_at=None,
        uncertain=False,
        origin="reconciler",
        reason=None,
        until=None,
        attempt=None,
        payload_sha256=None,
        done_at=None,
        changed_at=NOW,
        db_user=None,
        indicator=None,
        await_deadline=None,
    )
    return replace(made, **given)


def attempt(text: str, **given: Any) -> AttemptRow:
    """Return an attempt without an end, begun a minute ago."""
    made = AttemptRow(
        id=ID,
        key=key(text),
        generation=0,
        mode="callable",
        source="context",
        pod_name=None,
        node=None,
        db_user=None,
        started_at=NOW - timedelta(minutes=1),
        heartbeat_at=None,
        ended_at=None,
        outcome=None,
        exit_code=None,
        message=None,
        tail=None,
    )
    return replace(made, **given)


def hold(**given: Any) -> HoldRow:
    """Return a hold of the job's namespace."""
    made = HoldRow(
        id=1,
        namespace="billing",
        job=None,
        reason="maintenance",
        from_at=TRACKED,
        until=None,
        set_by="alice",
        set_at=TRACKED,
    )
    return replace(made, **given)


def launch(text: str, try_: int, *, uid: str | None = "u", generation: int = 0) -> Launch:
    """Return a noted Job; ``uid`` None: it was never seen to be created."""
    return Launch(key=key(text), generation=generation, try_=try_, name="any", uid=uid)


def seen(  # noqa: PLR0913  # each test names the few that it is about
    known: Basis,
    *,
    rows: Iterable[PeriodRow] = (),
    attempts: Iterable[AttemptRow] = (),
    holds: Iterable[HoldRow] = (),
    launches: Iterable[Launch] = (),
    jobs: Iterable[dict[str, Any]] = (),
) -> Seen:
    """Return what there is of the periods."""
    noted: dict[Key, list[Launch]] = {}
    for one in launches:
        noted.setdefault(one.key, []).append(one)
    tries = {one.key: Tries(1, one, [one] if one.ended_at is None else []) for one in attempts}
    there = [Job.parse(raw) for raw in jobs]
    return Seen(
        ledger=Snapshot(
            now=known.now, rows={one.key: one for one in rows}, tries=tries, holds=list(holds)
        ),
        launches=noted,
        jobs=by_period(known, known.cronjob, there) if known.cronjob else {},
    )


def plan(wanted: Asked, known: Basis | None = None, **there: Any) -> Plan:
    """Return the plan of a command."""
    known = known or basis()
    candidates = missing(known, ()) if wanted.missing else in_range(wanted, known)
    return make_plan(wanted, known, candidates, seen(known, **there))


def one(text: str, known: Basis | None = None, **there: Any) -> Line:
    """Return the line of one period that is named by its day."""
    (line,) = plan(asked(str(key(text).period)), known, **there).lines
    return line


def told(made: Plan) -> list[tuple[str, str]]:
    """Return label and action of each line."""
    return [(line.label, str(line.action)) for line in made.lines]
