"""The guards of K8sjobPeriodMissing."""

from __future__ import annotations

from tests.alerts.guards import JOB, Guard, held, known, waits

_OLDEST = "k8sjob_oldest_unfinished_deadline_timestamp_seconds"
_OVERDUE = "k8sjob:overdue_deadline_timestamp_seconds"
_PERIOD = "k8sjob:overdue_period_timestamp_seconds"
_LONG = "k8sjob:long_overdue_period_timestamp_seconds"

_RETRY = f"""\
          or
          min by {JOB} (
            {_OLDEST}{{state="running"}}
          ) == on {JOB} {_OVERDUE}
"""

_RESTART = (
    "K8sjobPeriodMissing fires: without a break while the exporter restarts elsewhere, "
    "a scrape fails, the ledger is away"
)
_UNCERTAIN = (
    "K8sjobPeriodMissing silent: a period is missing only because its schedule was being edited"
)
_GONE = (
    "K8sjobPeriodMissing silent: of a job that is gone and whose periods were decided on, "
    "while its ledger is seen"
)
_IN_FULL = (
    "K8sjobPeriodMissing fires: two minutes after a period is found missing, with its name "
    "and the commands"
)
_CRITICALLY = "K8sjobPeriodMissing fires: critically, without a break while a scrape fails"
_TRIED_MEANWHILE = (
    "K8sjobPeriodMissing fires: without a break though a try begins while the exporter restarts"
)
_IDLE = "over_days silent: nothing is due at a weekend, of a monthly job, while a job is suspended"
_ALL_THE_TIME = (
    "K8sjobPeriodMissing fires: all the time while other periods succeed, "
    "and old ones are done again"
)
_FIRST_RUN = "K8sjobPeriodMissing silent: a first run goes on beyond the deadline"
_OTHER_RUN = "K8sjobPeriodMissing silent: a run begins after another period was missing and is done"
_AHEAD = "K8sjobPeriodMissing silent: the exporter is ahead of Prometheus' clock by a minute"
_OWN_SEVERITY = (
    "over_days silent: a job with a severity of its own has one alert of that severity, "
    "however late it is"
)
_NINE = "K8sjobPeriodMissing silent: nine periods are missing, and that is not critical"
_TRIES = "K8sjobPeriodMissing fires: while a missing period is tried again and again"

GUARDS = [
    Guard(
        "0 is no deadline",
        _OVERDUE,
        '{state="missing"}\n          ) > 0\n',
        '{state="missing"}\n          )\n',
        (_IDLE,),
    ),
    Guard("0 is no deadline of the period that is named", _PERIOD, " > 0\n", "\n", (_IDLE,)),
    Guard(
        "what is uncertain pages nobody",
        "",
        '{state="missing"}',
        '{state=~"missing|uncertain"}',
        (_UNCERTAIN,),
    ),
    Guard(
        "what runs is not missing",
        "",
        '{state="missing"}',
        '{state=~"missing|running"}',
        (_FIRST_RUN, _OTHER_RUN),
    ),
    Guard(
        "what runs has to have been missing",
        _OVERDUE,
        f"== on {JOB} {_OVERDUE}",
        "> 0",
        (_FIRST_RUN, _OTHER_RUN),
    ),
    Guard(
        "what runs has to be the same period",
        _OVERDUE,
        f"== on {JOB} {_OVERDUE}",
        f"> 0 and on {JOB} {_OVERDUE}",
        (_OTHER_RUN,),
    ),
    Guard("a try does not clear", _OVERDUE, _RETRY, "", (_TRIES,)),
    Guard(
        "what is blocked is not missing",
        "",
        '{state="missing"}',
        '{state=~"missing|blocked"}',
        ("K8sjobPeriodMissing fires: beside a period that has been blocked for long",),
    ),
    Guard("a deadline to come is none yet", "", "time() > ", "", (_AHEAD,)),
    Guard(
        "the age of the last success says nothing",
        "",
        f'{_OLDEST}{{state="missing"}}',
        "(k8sjob_last_success_timestamp_seconds + 3600)",
        (_IDLE, _ALL_THE_TIME),
    ),
    waits(
        "K8sjobPeriodMissing",
        "2m",
        "K8sjobPeriodMissing silent: a period is done seconds after its deadline",
    ),
    Guard(
        "a severity of its own is the only one",
        _LONG,
        f'          unless on {JOB} k8sjob:info{{severity!=""}}\n',
        "",
        (_OWN_SEVERITY,),
    ),
    Guard("few periods are not critical", _LONG, ">= 10", ">= 9", (_NINE,)),
    Guard("hours are not critical", _LONG, "> 86400", "> 60", (_NINE,)),
    held(
        _OVERDUE,
        _TRIED_MEANWHILE,
    ),
    held("k8sjob:missing_periods", _CRITICALLY),
    known(_LONG, _CRITICALLY),
    held(_PERIOD, _RESTART),
    held("k8sjob:info", _RESTART),
    Guard(
        "what is seen is not held",
        "",
        " and on (cluster, ledger) k8sjob:unseen\n",
        "\n",
        (
            _GONE,
            _TRIES,
        ),
    ),
    Guard(
        "only what was so to the last is held",
        "",
        f"          {_PERIOD} and on (cluster, ledger) k8sjob:unseen\n",
        f"          last_over_time({_PERIOD}[1h]) and on (cluster, ledger) k8sjob:unseen\n",
        ("K8sjobPeriodMissing silent: of what was done long before the exporter restarts",),
    ),
    known(
        _PERIOD,
        "K8sjobPeriodMissing fires: without the series that tells the owner",
    ),
    Guard(
        "a job has one owner",
        "k8sjob:info",
        f"topk by {JOB} (1,",
        "(",
        ("K8sjobPeriodMissing fires: once, though two exporters do not agree about the owner",),
    ),
    Guard(
        "clusters are told apart",
        "",
        "(cluster, ledger, ",
        "(ledger, ",
        ("K8sjobPeriodMissing fires: in two clusters whose ledgers and jobs have the same names",),
    ),
    Guard(
        "only what never changes is a label",
        "K8sjobPeriodMissing",
        '          cycle: ""\n',
        "",
        (_IN_FULL,),
    ),
]
