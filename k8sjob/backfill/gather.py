"""Look up what a plan is made from: ledger, CronJob, Jobs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from k8sjob.backfill.basis import check_cronjob
from k8sjob.backfill.candidates import in_range, missing
from k8sjob.backfill.plan import Line, Plan, Seen, judge, make_plan
from k8sjob.backfill.traces import by_period, selector
from k8sjob.key import Key
from k8sjob.kube.client import NotFound
from k8sjob.ledger.read import Where
from k8sjob.states import State
from k8sjob.view.state import has_lapsed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from k8sjob.backfill.asked import Asked
    from k8sjob.backfill.basis import Basis
    from k8sjob.backfill.candidates import Candidate
    from k8sjob.key import JobName
    from k8sjob.kube.client import Cluster
    from k8sjob.kube.objects import CronJob, Job
    from k8sjob.ledger.launches import Launches
    from k8sjob.ledger.read import Reader
    from k8sjob.period import Period


@dataclass(frozen=True, slots=True)
class Place:
    """Where a backfill looks. ``cluster`` and ``launches`` are None for runs in this process."""

    reader: Reader
    cluster: Cluster | None = None
    launches: Launches | None = None


@dataclass(frozen=True, slots=True)
class Survey:
    """What is known of the job, which periods it is about, and what to do for them."""

    basis: Basis
    candidates: Sequence[Candidate]
    plan: Plan


def survey(place: Place, asked: Asked, basis: Basis) -> Survey:
    """Make the plan. Raises what ledger and cluster raise, and what does not fit together."""
    if asked.missing:
        candidates = missing(basis, _open(place.reader, asked.job))
    else:
        candidates = in_range(asked, basis)
    periods = [c.period for c in candidates if c.period is not None]
    return Survey(
        basis, candidates, make_plan(asked, basis, candidates, look(place, basis, periods))
    )


def find_cronjob(place: Place, job: JobName) -> CronJob:
    """Return the CronJob of a job, by the name that the reconciler saw last, else the job's own.

    Raises NotFound, with what can be done without it; K8sjobError where it is another job's.
    """
    assert place.cluster is not None  # noqa: S101  # only asked for with one
    known = place.launches.cronjob(job) if place.launches else None
    found = _first(place.cluster, job, [known or job.name, job.name])
    check_cronjob(job, found)
    return found


def _first(cluster: Cluster, job: JobName, names: Sequence[str]) -> CronJob:
    for name in names[:-1]:
        try:
            return cluster.get_cronjob(job.namespace, name)
        except NotFound:  # renamed since, perhaps back to the job's own name
            continue
    try:
        return cluster.get_cronjob(job.namespace, names[-1])
    except NotFound as error:
        raise NotFound(
            f"{error}\n  Its periods can be done without it: k8sjob backfill {job} … --local TARGET"
        ) from None


def look(
    place: Place, basis: Basis, periods: Sequence[Period], jobs: Sequence[Job] | None = None
) -> Seen:
    """Return what there is of these periods now; ``jobs``: those that have just been listed."""
    keys = [Key(basis.job, period) for period in periods]
    # Without a key it is for the holds and the time.
    where = Where(keys=keys, limit=len(keys)) if keys else Where(prefixes=[str(basis.job)], limit=1)
    if jobs is None and basis.cronjob is not None and place.cluster is not None:
        jobs = list_jobs(place, basis, everything=True)
    return Seen(
        ledger=place.reader.periods(where),
        launches=place.launches.launched(keys) if place.launches and keys else {},
        jobs=by_period(basis, basis.cronjob, jobs or ()) if basis.cronjob else {},
    )


def list_jobs(place: Place, basis: Basis, *, everything: bool) -> list[Job]:
    """Return the backfill Jobs of the job's CronJob, whoever made them, or ``everything``.

    Scheduled Jobs bear no label that tells their CronJob: for them it is the whole namespace.
    """
    assert place.cluster is not None and basis.cronjob is not None  # noqa: S101, PT018  # as above
    labels = "" if everything else selector(basis.cronjob)
    return place.cluster.list_jobs(basis.cronjob.namespace, labels)


def look_again(
    place: Place, asked: Asked, basis: Basis, line: Line, jobs: Sequence[Job] | None = None
) -> Line:
    """Return a line anew, as it is by now."""
    assert line.candidate is not None and line.period is not None  # noqa: S101, PT018  # planned
    return judge(asked, basis, line.candidate, look(place, basis, [line.period], jobs))


def state_now(place: Place, key: Key) -> tuple[State | None, str]:
    """Return the stored state of a period (None: no row), and what its row says of it."""
    row = place.reader.periods(Where(keys=[key], limit=1)).rows.get(key)
    return (State(row.state), row.reason or "") if row else (None, "")


def _open(reader: Reader, job: JobName) -> list[Period]:
    seen = reader.jobs(Where(prefixes=[str(job)]))
    return [
        key.period
        for key, row in seen.rows.items()
        if key.job == job and row and (row.state == State.OPEN or has_lapsed(row, seen.now))
    ]
