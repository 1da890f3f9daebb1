"""The metrics: names, kinds, labels, meanings. docs/metrics.md is written from this table. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from k8sjob.states import Outcome

if TYPE_CHECKING:
    from collections.abc import Mapping

PREFIX: Final = "k8sjob_"

#: What an unfinished period can be. Uncertain: missing, while the schedule was being changed.
STATES: Final = ("missing", "uncertain", "due", "running", "blocked", "awaiting")
OUTCOMES: Final = tuple(str(outcome) for outcome in Outcome)

_LEDGER = ("ledger",)
_JOB = ("ledger", "namespace", "cronjob")
_SCOPE = ("ledger", "scope")


class Family(NamedTuple):
    """One metric. ``kind`` is gauge or counter; an instant's name ends in _timestamp_seconds."""

    kind: str
    labels: tuple[str, ...]
    help: str


#: By their names without the prefix; a counter's ends in _total.
METRICS: Final[Mapping[str, Family]] = {
    "build_info": Family("gauge", ("version",), "1, with the version of k8sjob."),
    "up": Family("gauge", _LEDGER, "Whether the ledger answered at this scrape: 1 or 0."),
    "scrape_duration_seconds": Family("gauge", _LEDGER, "How long the ledger took to be read."),
    "schema_version": Family("gauge", _LEDGER, "The number of the ledger's newest migration."),
    "job_info": Family(
        "gauge",
        (*_JOB, "schedule", "time_zone", "cycle", "catch_up", "owner", "severity", "kube_cronjob"),
        "1, with what the CronJob says of itself; kube_cronjob is its own name.",
    ),
    "job_suspended": Family("gauge", _JOB, "Whether the CronJob is suspended: 1 or 0."),
    "tracked_since_timestamp_seconds": Family(
        "gauge", _JOB, "Since when periods are expected; 0: never."
    ),
    "unfinished_periods": Family("gauge", (*_JOB, "state"), "Periods that are not finished."),
    "oldest_unfinished_period_timestamp_seconds": Family(
        "gauge", (*_JOB, "state"), "Nominal instant of the oldest of them; 0: none, or it has none."
    ),
    "oldest_unfinished_deadline_timestamp_seconds": Family(
        "gauge", (*_JOB, "state"), "By when the first of them should have been done; 0: none known."
    ),
    "tail_truncated": Family(
        "gauge", _JOB, "1 where not all that has fired since its mark is counted."
    ),
    "done_until_timestamp_seconds": Family(
        "gauge", _JOB, "The mark: what was due up to it is stored by the reconciler; 0: never."
    ),
    "last_done_period_timestamp_seconds": Family(
        "gauge", _JOB, "Nominal instant of the newest done period (once: when); 0: none."
    ),
    "last_success_timestamp_seconds": Family(
        "gauge", _JOB, "When an attempt applied last, whichever its period; 0: never."
    ),
    "next_period_timestamp_seconds": Family(
        "gauge", _JOB, "When the schedule fires next; 0: not known, suspended or gone."
    ),
    "running_since_timestamp_seconds": Family(
        "gauge", _JOB, "When the oldest attempt that shows life began; 0: none runs."
    ),
    "max_duration_seconds": Family(
        "gauge", _JOB, "How long a run may take (annotation max-duration); 0: not set."
    ),
    "created_unstarted_since_timestamp_seconds": Family(
        "gauge", _JOB, "Since when a Job of it stands that has started nothing; 0: none."
    ),
    "last_duration_seconds": Family("gauge", _JOB, "How long the last attempt that worked took."),
    "last_start_delay_seconds": Family(
        "gauge", _JOB, "From the nominal instant of that attempt's period to its first start."
    ),
    "last_start_slot_timestamp_seconds": Family(
        "gauge", _JOB, "The slot of the schedule that it was for; 0: the schedule did not start it."
    ),
    "consecutive_failures": Family("gauge", _JOB, "Attempts that failed since the last success."),
    "blocked_since_timestamp_seconds": Family(
        "gauge", _JOB, "Since when a hold or a blocked period stops it; 0: nothing does."
    ),
    "awaiting_deadline_timestamp_seconds": Family(
        "gauge", _JOB, "The earliest deadline of an effect that is awaited; 0: none."
    ),
    "attempts_total": Family(
        "counter", (*_JOB, "outcome"), "Attempts that ended, since ever; pruning takes none away."
    ),
    "reconcile_last_success_timestamp_seconds": Family(
        "gauge", _SCOPE, "When the last complete pass over the scope began; 0: none."
    ),
    "reconcile_duration_seconds": Family("gauge", _SCOPE, "How long its last pass took."),
    "reconcile_failing_jobs": Family(
        "gauge", _SCOPE, "Jobs that it could not look after in its last complete pass."
    ),
    "outbox_messages": Family(
        "gauge", (*_LEDGER, "state"), "Messages that are not sent: they wait, or were given up."
    ),
    "outbox_oldest_pending_timestamp_seconds": Family(
        "gauge", _LEDGER, "When the oldest message that waits was made; 0: none."
    ),
}
