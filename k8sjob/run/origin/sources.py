"""What flags and environment say of a run's job and period; and what is known once it is found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from k8sjob.duration import parse_duration
from k8sjob.errors import ConfigError, K8sjobError, NoPeriod, UsageError
from k8sjob.key import JobName, Key
from k8sjob.period import Cycle, Period, zone

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from k8sjob.key import KeyRange
    from k8sjob.policy import ManualRuns
    from k8sjob.run.request import Flags

T = TypeVar("T")

#: What to pass where nothing tells the period.
ADVICE = (
    "Pass --period, e.g. --period 2026-09-13T00:00:00Z (UTC), 2026-09-13, 2026-W37, 2026-09 or "
    "once."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What flags and environment say. Empty variables count as absent; durations are seconds.

    ``job`` and ``cronjob`` are texts: whichever is used is checked then. ``period_from`` is
    ``--period`` or ``K8SJOB_PERIOD``. ``off_schedule`` is the reason that was given for it.
    """

    job: str | None = None
    namespace: str | None = None
    cronjob: str | None = None
    period: Period | None = None
    period_from: str = ""
    off_schedule: str | None = None
    context: str | None = None
    pod_namespace: str | None = None
    job_uid: str | None = None
    job_name: str | None = None
    scheduled_timestamp: str | None = None
    cycle: Cycle | None = None
    zone: str | None = None
    manual_runs: ManualRuns | None = None
    max_lateness_s: float | None = None
    in_pod: bool = False

    @property
    def source(self) -> str:
        """What is kept on the attempt for a period that was passed."""
        reason = f", off schedule: {self.off_schedule}" if self.off_schedule else ""
        return self.period_from + reason

    @property
    def stands_alone(self) -> bool:
        """Whether job and period are passed, so that nobody has to be asked for them."""
        whole = "/" in (self.job or "") or bool(self.job and self.namespace)
        return self.period is not None and not self.may_be_sourced and whole

    @property
    def is_bare(self) -> bool:
        """Whether there is nobody to ask: this is no Pod, and nothing names a Job."""
        told = (self.context, self.job_uid, self.job_name, self.scheduled_timestamp)
        return not self.in_pod and not any(told)

    @property
    def may_be_sourced(self) -> bool:
        """Whether the period may be what a shell has taken from the context's ``env`` file."""
        return bool(self.context) and self.period_from == "K8SJOB_PERIOD"

    def job_of(
        self, *, name: str | None = None, owner: str | None = None, namespace: str | None = None
    ) -> JobName:
        """Return the job: what is asked for, else ``name``, the CronJob, the ``owner``.

        ``namespace`` is for a name without one. Raises UsageError, InvalidKey.
        """
        text = self.job or name or self.cronjob or owner
        if not text:
            raise UsageError(
                "no job is named. Nothing was done.\n"
                "  Pass --job NAMESPACE/NAME, or set K8SJOB_JOB, or K8SJOB_NAMESPACE and "
                "K8SJOB_CRONJOB."
            )
        place = self.namespace or namespace
        return JobName.parse(f"{place}/{text}" if "/" not in text and place else text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """The period of a run, where it came from, and what goes with it. Instants are aware UTC.

    ``fire`` is the fire of the schedule that a natural period was worked out from. ``window_end``
    is known of a scheduled period only where its schedule is. ``late`` says that it is too late
    for it and is to be skipped. ``supersedes``: the periods that a run of this one makes needless.
    ``explicit``: it was passed, and nobody has looked yet whether it is on the schedule.
    ``at`` is when the ledger was asked, by its own clock; None without one.
    """

    job: JobName
    period: Period
    source: str
    zone: str | None = None
    fire: datetime | None = None
    window_end: datetime | None = None
    cronjob: str | None = None
    job_uid: str | None = None
    job_name: str | None = None
    supersedes: KeyRange | None = None
    late: str | None = None
    at: datetime | None = None
    explicit: bool = False
    off_schedule: bool = False

    @property
    def key(self) -> Key:
        """Job and period."""
        return Key(self.job, self.period)

    @property
    def cycle(self) -> Cycle:
        """The kind of the period."""
        return self.period.cycle

    @property
    def scheduled_for(self) -> datetime | None:
        """The nominal instant; None for a natural period whose zone is not known."""
        return self.period.scheduled_for(self.zone)


def passed(asked: Asked) -> Resolved:
    """Return what was passed, and ask nobody. Raises NoPeriod, UsageError, InvalidKey."""
    if asked.period is None:
        raise NoPeriod(f"no period is known for this run. Nothing was done.\n  {ADVICE}")
    return Resolved(
        job=asked.job_of(),
        period=asked.period,
        source=asked.source,
        zone=asked.zone,
        job_uid=asked.job_uid,
        job_name=asked.job_name,
        explicit=True,
        off_schedule=bool(asked.off_schedule),
    )


def read_asked(flags: Flags, env: Mapping[str, str]) -> Asked:
    """Read flags and environment. Raises UsageError, InvalidKey, ConfigError."""
    text = flags.period or env.get("K8SJOB_PERIOD")
    zone_name = flags.time_zone or env.get("K8SJOB_TIME_ZONE") or None
    if zone_name:
        zone(zone_name)  # says what is wrong with the name before anything is started
    return Asked(
        job=flags.job or env.get("K8SJOB_JOB") or None,
        namespace=flags.namespace or env.get("K8SJOB_NAMESPACE") or None,
        cronjob=env.get("K8SJOB_CRONJOB") or None,
        period=Period.parse(text) if text else None,
        period_from="--period" if flags.period else "K8SJOB_PERIOD",
        off_schedule=_reason(flags, has_period=bool(text)),
        context=env.get("K8SJOB_CONTEXT") or None,
        pod_namespace=env.get("K8SJOB_NAMESPACE") or None,
        job_uid=env.get("K8SJOB_JOB_UID") or None,
        job_name=env.get("K8SJOB_JOB_NAME") or None,
        scheduled_timestamp=env.get("K8SJOB_SCHEDULED_TIMESTAMP") or None,
        cycle=_read(env, "K8SJOB_CYCLE", Cycle),
        zone=zone_name,
        manual_runs=_read(env, "K8SJOB_MANUAL_RUNS", _manual_runs),
        max_lateness_s=_read(env, "K8SJOB_MAX_LATENESS", parse_duration),
        in_pod=bool(env.get("KUBERNETES_SERVICE_HOST")),
    )


def _reason(flags: Flags, *, has_period: bool) -> str | None:
    reason = " ".join((flags.reason or "").split())
    if flags.off_schedule == bool(reason) and (has_period or not reason):
        return reason or None
    raise UsageError(
        "--off-schedule, --reason and a period go together. Nothing was done.\n"
        '  Pass --period P --off-schedule --reason "why this period is right all the same".'
    )


def _read(env: Mapping[str, str], name: str, reader: Callable[[str], T]) -> T | None:
    text = env.get(name)
    if not text:
        return None
    try:
        return reader(text)
    except K8sjobError as error:
        raise ConfigError(f"{name}: {error}") from None


def _manual_runs(text: str) -> ManualRuns:
    from k8sjob.policy import ManualRuns  # noqa: PLC0415  # few jobs set it

    if text not in list(ManualRuns):
        raise ConfigError(
            f"{text!r} is no policy for manual runs. Nothing was done.\n"
            f"  Write {', '.join(ManualRuns)}."
        )
    return ManualRuns(text)
