"""The guards of the alerts about what looks after the jobs."""

from __future__ import annotations

from tests.alerts.guards import Guard, held, waits

_PASSED = "k8sjob:reconciled_last_timestamp_seconds"
_FAILING = "k8sjob:reconcile_failing_jobs"
_PENDING = "k8sjob:outbox_pending_since_timestamp_seconds"
_DEAD = "k8sjob:outbox_dead_messages"
_SCRAPE = "fires: without a break while a scrape fails"

_S = "K8sjobReconcilerStale"
_B = "K8sjobReconcilerFailingJobs"
RECONCILER = [
    Guard(
        "a pass may be lost",
        _PASSED,
        "time() - 900",
        "time() - 60",
        (f"{_S} silent: a pass each five minutes, one of which was lost",),
    ),
    waits(_S, "5m", f"{_S} silent: a pass takes longer than usual"),
    held(_PASSED, f"{_S} {_SCRAPE}"),
    Guard("0 is no job", _FAILING, " > 0\n", "\n", (f"{_B} silent: all are looked after",)),
    waits(_B, "15m", f"{_B} silent: one pass could not read one job"),
    held(_FAILING, f"{_B} {_SCRAPE}"),
]

_E = "K8sjobExporterDown"
_L = "K8sjobLedgerDown"
EXPORTER = [
    waits(_E, "5m", f"{_E} silent: it restarts within four minutes"),
    Guard(
        "Pods come and go",
        "",
        "group by (cluster, job)",
        "group by (cluster, job, pod)",
        (
            f"{_E} silent: a new Pod takes over from the old one",
            f"{_E} silent: one of two goes, in the same cluster",
        ),
    ),
    Guard(
        "there is one alert where none is left",
        _E,
        "          and on () k8sjob_build_info\n",
        "",
        (f"{_E} fires: the only one is gone",),
    ),
    Guard(
        "an exporter of another cluster does not stand in",
        _E,
        "          group by (cluster, job) (last_over_time(k8sjob_build_info[1d]))\n"
        "          unless group by (cluster, job) (k8sjob_build_info)\n"
        "          and on () k8sjob_build_info\n"
        "          or\n",
        "",
        (f"{_E} fires: the one of another cluster is gone",),
    ),
    waits(_L, "5m", f"{_L} silent: an exporter that has not seen the ledger yet"),
    Guard(
        "one that reads it is enough",
        _L,
        "max by",
        "min by",
        (f"{_L} silent: one of two exporters reads it",),
    ),
    Guard(
        "a scrape that fails does not begin anew",
        _L,
        "last_over_time(k8sjob_up[5m])",
        "k8sjob_up",
        (f"{_L} fires: though a scrape fails meanwhile",),
    ),
    Guard(
        "the last word is no word for ever",
        _L,
        "max by (cluster, ledger) (last_over_time(k8sjob_up[5m])) == 0",
        "(max by (cluster, ledger) (last_over_time(k8sjob_up[1d])) unless k8sjob_up == 1) < 2",
        (f"{_L} silent: no exporter is there, which is another alert",),
    ),
]

_O = "K8sjobOutboxStuck"
_T = "K8sjobTracksFailedJob"
_NAMES = "k8sjob:cronjobs"
_KUBE = "(cluster, namespace, kube_cronjob)"
OTHERS = [
    Guard("0 is no message", _PENDING, " > 0)", ")", (f"{_O} silent: nothing waits",)),
    Guard("none is dead", _DEAD, " > 0\n", "\n", (f"{_O} silent: nothing waits",)),
    Guard(
        "a message may wait a little",
        _PENDING,
        "time() - 900",
        "time() + 60",
        (f"{_O} silent: messages wait for seconds each",),
    ),
    held(_PENDING, f"{_O} {_SCRAPE}"),
    held(_DEAD, f"{_O} {_SCRAPE}"),
    Guard(
        "0 is no failure",
        _T,
        "kube_job_failed > 0",
        "kube_job_failed",
        (f"{_T} silent: a Job that has not failed",),
    ),
    Guard(
        "0 is no failure of a backfill",
        _T,
        '[0-9]+"} > 0',
        '[0-9]+"}',
        (f"{_T} silent: a Job that has not failed",),
    ),
    Guard(
        "the CronJob has to be known",
        _T,
        f"          * on {_KUBE} group_left (ledger, cronjob)\n"
        f"          topk by {_KUBE} (1, {_NAMES})\n",
        "",
        (f"{_T} silent: the Job of a CronJob that k8sjob does not know",),
    ),
    Guard(
        "a CronJob that two ledgers know is one",
        _T,
        f"topk by {_KUBE} (1, {_NAMES})",
        _NAMES,
        (f"{_T} fires: once, of a job that two ledgers know",),
    ),
    Guard(
        "the namespace has to be known",
        _T,
        f"          and on (cluster, namespace) {_NAMES}\n",
        "",
        (f"{_T} silent: the name of a backfill in a namespace of which k8sjob knows nothing",),
    ),
    Guard(
        "the namespace is enough where a name has a digest alone",
        _T,
        "[0-9a-f]{8}-[0-9a-z]+-[0-9]+-[0-9]+",
        "[0-9a-z]+-[0-9]+-[0-9]+",
        (f"{_T} silent: a short name of a backfill, whose CronJob k8sjob does not know",),
    ),
    Guard(
        "a CronJob has a name of its own",
        _NAMES,
        '            k8sjob_job_info{kube_cronjob!=""}\n            or\n',
        "",
        (f"{_T} fires: of a job that is not called as its CronJob, by the job's name",),
    ),
    Guard(
        "that name is the only one",
        _NAMES,
        '(k8sjob_job_info{kube_cronjob=""},',
        "(k8sjob_job_info,",
        (f"{_T} silent: a CronJob that is called as the job of another one",),
    ),
    held(_NAMES, f"{_T} fires: while the exporter restarts"),
    Guard(
        "a Job by hand has no period",
        _T,
        "(.+)-(?:[0-9]{8}|bf-.+)",
        "([a-z]+)-.+",
        (f"{_T} silent: a Job that was made by hand",),
    ),
]

GUARDS = [*RECONCILER, *EXPORTER, *OTHERS]
