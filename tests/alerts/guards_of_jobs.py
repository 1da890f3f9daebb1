"""The guards of the other alerts about jobs."""

from __future__ import annotations

from tests.alerts.guards import JOB, SUSPENDED, Guard, held, known, waits

_OVERDUE = "k8sjob:overdue_deadline_timestamp_seconds"
_NEVER = "k8sjob:never_succeeded_since_timestamp_seconds"
_FAILURES = "k8sjob:failures_in_a_row"
_RUNS = "k8sjob:running_too_long_since_timestamp_seconds"
_BLOCKED = "k8sjob:blocked_period_timestamp_seconds"
_AWAITED = "k8sjob:awaited_until_timestamp_seconds"
_UNSTARTED = "k8sjob:unstarted_since_timestamp_seconds"
_NAMED = "k8sjob:oldest_period_timestamp_seconds"
_STATES = "(cluster, ledger, namespace, cronjob, state)"
_LATE = "k8sjob:late_slot_timestamp_seconds"
_SCRAPE = "fires: without a break while a scrape fails"

_N = "K8sjobNeverSucceeded"
_F = "K8sjobFailingInARow"
NEVER_AND_FAILING = [
    Guard(
        "a success counts, however old",
        _NEVER,
        f"          unless on {JOB} k8sjob_last_success_timestamp_seconds > 0\n",
        "",
        (f"{_N} silent: it succeeded once, long ago",),
    ),
    Guard(
        "no series of a success is no success",
        _NEVER,
        f"unless on {JOB} k8sjob_last_success_timestamp_seconds > 0",
        f"and on {JOB} k8sjob_last_success_timestamp_seconds == 0",
        (f"{_N} fires: nothing has ever been done, and there is no series of a last success",),
    ),
    Guard(
        "what was confirmed counts",
        _NEVER,
        f"          unless on {JOB} k8sjob_last_done_period_timestamp_seconds > 0\n",
        "",
        (f"{_N} silent: its periods are handed over and confirmed, which is no attempt's success",),
    ),
    Guard(
        "a suspended job need not succeed",
        _NEVER,
        SUSPENDED,
        "",
        (f"{_N} silent: it is suspended",),
    ),
    Guard(
        "a period has to have been due",
        _NEVER,
        f"            {_OVERDUE}\n",
        "            k8sjob_tracked_since_timestamp_seconds\n",
        ("over_days silent: the first period of a new monthly job has not come",),
    ),
    Guard(
        "the mark has to have moved",
        _NEVER,
        f"> on {JOB}",
        f">= on {JOB}",
        (f"{_N} silent: the first period of a job with the policy skip has not come",),
    ),
    Guard(
        "only where nothing stays missing",
        _NEVER,
        '{catch_up="skip"}',
        "",
        (f"{_N} silent: a person has skipped all that was due so far",),
    ),
    waits(
        _N, "15m", f"{_N} silent: a first try that was late succeeds within a quarter of an hour"
    ),
    held(_NEVER, f"{_N} fires: without a break while the exporter restarts"),
    known(_NEVER, f"{_N} fires: without a break while the exporter restarts"),
    Guard(
        "two failures are not yet a row",
        _FAILURES,
        ">= 3",
        ">= 2",
        (f"{_F} silent: two attempts have failed",),
    ),
    Guard(
        "there has to be something to do",
        _FAILURES,
        ") == 0\n",
        ") < 0\n",
        (f"{_F} silent: nothing is to be done any more, since a person has skipped it",),
    ),
    Guard(
        "no series of what is to be done hides nothing",
        _FAILURES,
        f"unless on {JOB} sum",
        f"and on {JOB} sum",
        (f"{_F} fires: though no series tells what is to be done",),
    ),
    Guard("a suspended job may fail", _FAILURES, SUSPENDED, "", (f"{_F} silent: it is suspended",)),
    waits(_F, "5m", f"{_F} silent: the fourth attempt succeeds within minutes"),
    held(_FAILURES, f"{_F} {_SCRAPE}"),
    known(_FAILURES, f"{_F} {_SCRAPE}"),
]

_R = "K8sjobRunningTooLong"
_B = "K8sjobBlocked"
_A = "K8sjobAwaitingPastDeadline"
_U = "K8sjobCreatedNeverStarted"
SINCE_WHEN = [
    Guard(
        "0 is no run",
        _RUNS,
        f"min by {JOB} (k8sjob_running_since_timestamp_seconds > 0)",
        f"min by {JOB} (k8sjob_running_since_timestamp_seconds)",
        (f"{_R} silent: nothing runs",),
    ),
    Guard(
        "0 is no limit",
        _RUNS,
        "(k8sjob_max_duration_seconds > 0)",
        "(k8sjob_max_duration_seconds)",
        (f"{_R} silent: a run of an hour without a limit",),
    ),
    Guard(
        "its own limit counts",
        _RUNS,
        f"            max by {JOB} (k8sjob_max_duration_seconds > 0)\n            or\n",
        "",
        ("over_days silent: a run of two days that may take three",),
    ),
    held(_RUNS, f"{_R} {_SCRAPE}"),
    known(_RUNS, f"{_R} {_SCRAPE}"),
    Guard(
        "a hold blocks no period",
        _BLOCKED,
        f'          and on {JOB} k8sjob_unfinished_periods{{state="blocked"}} > 0\n',
        "",
        (f"{_B} silent: nothing is blocked", f"{_B} silent: a hold stops the job, for maintenance"),
    ),
    Guard(
        "a block may be short",
        _BLOCKED,
        "time() - 900",
        "time()",
        (f"{_B} silent: it opens again after ten minutes",),
    ),
    held(_BLOCKED, f"{_B} {_SCRAPE}"),
    known(_BLOCKED, f"{_B} {_SCRAPE}"),
    Guard(
        "0 is no deadline of an effect",
        _AWAITED,
        "            k8sjob_awaiting_deadline_timestamp_seconds > 0\n",
        "            k8sjob_awaiting_deadline_timestamp_seconds\n",
        (f"{_A} silent: what was handed over has no deadline",),
    ),
    Guard(
        "time is left until then", _AWAITED, "time() > ", "", (f"{_A} silent: there is time left",)
    ),
    held(_AWAITED, f"{_A} {_SCRAPE}"),
    known(_AWAITED, f"{_A} {_SCRAPE}"),
    Guard("0 is no Job", _UNSTARTED, " > 0)", ")", (f"{_U} silent: no Job waits",)),
    Guard(
        "a node takes its time",
        _UNSTARTED,
        "time() - 600",
        "time()",
        (f"{_U} silent: a node is being made for it, which takes nine minutes",),
    ),
    held(_UNSTARTED, f"{_U} {_SCRAPE}"),
    known(_UNSTARTED, f"{_U} {_SCRAPE}"),
]

_S = "K8sjobStartedLate"
STARTED_LATE = [
    Guard(
        "0 is no slot",
        _LATE,
        "(k8sjob_last_start_slot_timestamp_seconds > 0)",
        "(k8sjob_last_start_slot_timestamp_seconds)",
        (f"{_S} silent: a backfill does a period of two days ago, which no slot has started",),
    ),
    Guard("in time is not late", _LATE, "> 600", "> 6", (f"{_S} silent: it began in time",)),
    Guard(
        "a node may take its time",
        _LATE,
        "> 600",
        "> 300",
        (f"{_S} silent: it waited for a node, which took nine minutes",),
    ),
    Guard("a suspended job may be late", _LATE, SUSPENDED, "", (f"{_S} silent: it is suspended",)),
    Guard(
        "two exporters have to agree",
        _LATE,
        f"min by {JOB} (k8sjob_last_start_delay_seconds)",
        f"max by {JOB} (k8sjob_last_start_delay_seconds)",
        (f"{_S} silent: one of two exporters has not seen the next slot, which began in time",),
    ),
    Guard(
        "a day is enough",
        _LATE,
        "time() - 86400",
        "time() - 864000",
        ("over_days silent: a run began late two days ago, and the next slot is a month away",),
    ),
    Guard(
        "it wakes nobody",
        _S,
        "          severity: info\n",
        "          severity: '{{ with $labels.severity }}{{ . }}{{ else }}info{{ end }}'\n",
        (f"{_S} fires: 25 minutes late, and wakes nobody whatever the job's severity",),
    ),
    held(_LATE, f"{_S} {_SCRAPE}"),
    known(_LATE, f"{_S} {_SCRAPE}"),
]

PERIODS = [
    held(_NAMED, f"{_F} {_SCRAPE}"),
    Guard(
        "the oldest is named",
        _NAMED,
        "bottomk by",
        "topk by",
        (f"{_F} fires: and names the oldest period, which is missing by now",),
    ),
    Guard(
        "a state that no period is in is not named",
        _NAMED,
        f"            unless max by {_STATES} (k8sjob_unfinished_periods) == 0\n",
        "",
        (
            f"{_F} fires: three attempts have failed, before the deadline",
            f"{_F} fires: of a job that runs once, whose one period is tried again",
            f"{_N} fires: under the policy skip, where nothing stays missing",
        ),
    ),
    Guard(
        "it is recorded only where an alert names it",
        _NAMED,
        f"          and on {JOB} (\n"
        f"            {_NEVER}\n            or\n"
        f"            {_FAILURES}\n            or\n"
        f"            {_UNSTARTED}\n          )\n",
        "",
        (f"{_F} silent: two attempts have failed",),
    ),
    *(
        Guard(
            f"{alert} names its own cluster's period",
            alert,
            "cluster='%s'",
            "cluster=~'%s|.*'",
            (f"{alert} fires: in two clusters, and names each one's own period",),
        )
        for alert in (_N, _F, _R, _A, _U, _S)
    ),
]

GUARDS = [*NEVER_AND_FAILING, *SINCE_WHEN, *STARTED_LATE, *PERIODS]
