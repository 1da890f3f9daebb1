"""What the Pod, or whatever this is, has to say: zone data, and the K8SJOB_ variables. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

from k8sjob import log
from k8sjob.doctor.line import fail, ok, one_line, warn
from k8sjob.doctor.purpose import Purpose
from k8sjob.duration import parse_duration
from k8sjob.errors import K8sjobError
from k8sjob.key import JobName
from k8sjob.period import Period
from k8sjob.run.origin.sources import Resolved
from k8sjob.run.request import Flags, make_request
from k8sjob.run.target import Target

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from k8sjob.doctor.line import Line
    from k8sjob.run.origin.sources import Asked

#: A zone with clock changes, by which the rules are tried.
EXAMPLE: Final = "Europe/Berlin"

#: All that is read somewhere; docs/reference.md says what each is for.
KNOWN: Final = frozenset(
    {
        *("K8SJOB_DSN", "K8SJOB_DSN_FILE", "K8SJOB_LEDGER", "K8SJOB_LEDGERS_DIR"),
        *("K8SJOB_JOB", "K8SJOB_NAMESPACE", "K8SJOB_CRONJOB", "K8SJOB_PERIOD", "K8SJOB_TIME_ZONE"),
        *("K8SJOB_JOB_NAME", "K8SJOB_JOB_UID", "K8SJOB_SCHEDULED_TIMESTAMP", "K8SJOB_CONTEXT"),
        *("K8SJOB_CYCLE", "K8SJOB_MANUAL_RUNS", "K8SJOB_MAX_LATENESS", "K8SJOB_PAYLOAD"),
        *("K8SJOB_LOCK_TIMEOUT", "K8SJOB_FAIL_ON", "K8SJOB_OUTPUT_BYTES", "K8SJOB_STOP_GRACE"),
        *("K8SJOB_LOG_FORMAT", "K8SJOB_TERMINATION_LOG", "K8SJOB_KUBE_FOLDER", "K8SJOB_CONTAINER"),
        *("K8SJOB_POD_NAME", "K8SJOB_POD_UID", "K8SJOB_NODE", "K8SJOB_BY"),
        *("K8SJOB_KEY", "K8SJOB_ATTEMPT", "K8SJOB_SCHEDULED_FOR", "K8SJOB_WINDOW_END"),
        "K8SJOB_SOURCE",
    }
)
#: Kubernetes gives these to each Pod of a namespace that has a Service called k8sjob…
#: (https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables).
_OF_A_SERVICE = re.compile(
    r"K8SJOB_(\w+_)?(SERVICE_(HOST|PORT(_\w+)?)|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)"
)

#: What a Pod of a Job needs (docs/periods.md), and how it gets it.
_NEEDED: Final[Mapping[str, str]] = {
    "K8SJOB_CRONJOB": "value: NAME_OF_THE_CRONJOB",
    "K8SJOB_NAMESPACE": "valueFrom: {fieldRef: {fieldPath: metadata.namespace}}",
    "K8SJOB_JOB_NAME": "valueFrom: {fieldRef: {fieldPath: "
    "\"metadata.labels['batch.kubernetes.io/job-name']\"}}",
    "K8SJOB_JOB_UID": "valueFrom: {fieldRef: {fieldPath: "
    "\"metadata.labels['batch.kubernetes.io/controller-uid']\"}}",
}


# ------------------------------------------------------------------------------------ time zones


@dataclass(frozen=True, slots=True)
class Zones:
    """The rules of zones: ``version`` None where there are none, ``trouble`` of the example."""

    version: str | None
    trouble: str | None = None


def check_zones(zones: Zones, env: Mapping[str, str]) -> Line:
    """Say which rules k8sjob goes by, and which a target's own code does."""
    if zones.version is None:
        return fail("zones", "the package tzdata is not here", "pip install tzdata")
    if zones.trouble:
        seen = f"tzdata {zones.version}, but {zones.trouble}"
        return fail("zones", seen, "pip install --force-reinstall tzdata")
    seen = f"tzdata {zones.version}, {EXAMPLE} is in it"
    path = env.get("PYTHONTZPATH")
    if path:
        return ok("zones", f"{seen}; a target's own zoneinfo reads {path} first (PYTHONTZPATH)")
    if path is None:
        return ok(
            "zones",
            f"{seen}; a target's own zoneinfo reads the system's first, unless PYTHONTZPATH=\"\"",
        )
    return ok("zones", f"{seen}; PYTHONTZPATH is empty, so a target's own zoneinfo reads it too")


# ------------------------------------------------------------------------------------- variables


def check_environment(env: Mapping[str, str], *, context_is_there: bool = True) -> Line:
    """Say whether a run here learns its job and its period."""
    if context := env.get("K8SJOB_CONTEXT"):
        if not context_is_there:
            return warn(
                "environment",
                f"there is no context at {context}: a run that is not told --period finds none",
                "let k8sjob resolve --write make it first, in a volume that this container has too",
            )
        return ok("environment", f"the period is in the context at {context}")
    if not env.get("KUBERNETES_SERVICE_HOST"):
        return ok("environment", "not in a Pod: a run is told --job and --period")
    if absent := [name for name in _NEEDED if name not in env]:
        lines = ", ".join(f"{{name: {name}, {_NEEDED[name]}}}" for name in absent)
        return warn(
            "environment",
            f"{', '.join(absent)} not set: a run that is not told --period may find none",
            f"add to the container's env: {lines}",
        )
    if empty := [name for name in _NEEDED if not env[name]]:
        return ok(
            "environment",
            f"{', '.join(empty)} set, and empty here: this Pod is of no Job",
        )
    return ok("environment", f"Job {env['K8SJOB_NAMESPACE']}/{env['K8SJOB_JOB_NAME']}")


def check_settings(env: Mapping[str, str], purpose: Purpose) -> Iterator[Line]:
    """Read the variables as the commands do, and name those that nothing reads."""
    lines = [*_unreadable(env, purpose), *_unknown(env)]
    count = sum(name in KNOWN for name in env)
    yield from lines or [ok("settings", f"K8SJOB_ variables that are set: {count}, all are read")]


def _unreadable(env: Mapping[str, str], purpose: Purpose) -> Iterator[Line]:
    try:
        log.wants_json(env)
        if purpose is Purpose.RUN:
            make_request(Target("doctor.sql"), Flags(), env, resolve=_with_its_job)
            parse_duration(env.get("K8SJOB_STOP_GRACE") or "25s")
    except K8sjobError as error:
        seen, _, do = str(error).partition("\n")
        yield fail("settings", seen, do or "set it right, or take it away")


def _with_its_job(asked: Asked) -> Resolved:
    if asked.job or asked.cronjob:
        asked.job_of(namespace="default")
    job, period = JobName.parse("doctor/doctor"), Period.parse("once")
    return Resolved(job=job, period=period, source="")


def _unknown(env: Mapping[str, str]) -> Iterator[Line]:
    for name in sorted(env):
        if name.startswith("K8SJOB_") and name not in KNOWN and not _OF_A_SERVICE.fullmatch(name):
            near = get_close_matches(name, sorted(KNOWN), n=1)
            meant = f"is {near[0]} meant?" if near else "see docs/reference.md for what is read"
            yield warn("settings", f"{one_line(name)} is read by nothing", meant)
