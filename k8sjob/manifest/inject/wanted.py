"""What is to be put into a CronJob, and why. Pure: it reads the tree and writes nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from k8sjob.cycle import Cycle
from k8sjob.errors import EXIT_TABLE
from k8sjob.kube import words
from k8sjob.manifest.calls import BESIDE, COMMANDS, calls
from k8sjob.manifest.inject.emit import Inline, InlineList
from k8sjob.manifest.inject.put import Unwritable
from k8sjob.manifest.shown import clip

if TYPE_CHECKING:
    from k8sjob.manifest.case import Case
    from k8sjob.manifest.inject.options import Asked
    from k8sjob.manifest.inject.record import Mode
    from k8sjob.manifest.tree import Spot

#: Where a shell's words for a command end and its own begin.
SEPARATOR: Final = "--"
ACCOUNT: Final = "/var/run/secrets/kubernetes.io/serviceaccount"
_JOB_NAME = f"metadata.labels['{words.JOB_NAME_LABEL}']"
_JOB_UID = f"metadata.labels['{words.CONTROLLER_UID_LABEL}']"
_FIELDS: Final = {
    "K8SJOB_NAMESPACE": "metadata.namespace",
    "K8SJOB_JOB_NAME": _JOB_NAME,
    "K8SJOB_JOB_UID": _JOB_UID,
    "K8SJOB_POD_NAME": "metadata.name",
    "K8SJOB_POD_UID": "metadata.uid",
    "K8SJOB_NODE": "spec.nodeName",
}
#: With one of these a container has a ledger already; libpq's own count where there is no DSN.
_LEDGERS: Final = ("K8SJOB_DSN", "K8SJOB_DSN_FILE", "K8SJOB_LEDGERS_DIR", "PGHOST", "PGSERVICE")
#: What Kubernetes takes where nothing is written, and what k8sjob leaves of it for its own end.
_GRACE_S, _OWN_END_S = 30, 5


@dataclass(slots=True)
class Wanted:
    """What is to be put in; ``notes`` say what and why, ``warnings`` what was left and matters."""

    mode: Mode
    container: str
    label: bool = False
    annotations: dict[str, str] = field(default_factory=dict)
    time_zone: str | None = None
    policy: dict[str, Any] | None = None
    prefix: list[str] = field(default_factory=list)
    env: list[dict[str, Any]] = field(default_factory=list)
    mounts: list[dict[str, Any]] = field(default_factory=list)
    init: list[dict[str, Any]] = field(default_factory=list)
    volumes: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    #: Why nothing is to be put in.
    why: str = ""

    @property
    def is_nothing(self) -> bool:
        """Whether the CronJob has all of it already."""
        return not (
            self.label
            or self.annotations
            or self.time_zone
            or self.policy
            or self.prefix
            or self.env
            or self.init
        )


# ------------------------------------------------------------------------------- the container


def container_of(case: Case, name: str | None) -> tuple[Spot, str]:
    """Return the container that does the work, and its name. Raises Unwritable."""
    spots = {spot["name"].text or "": spot for spot in case.pod_spec["containers"].items()}
    if not spots or "" in spots:
        raise Unwritable(case.pod_spec.at, "it has no containers with names")
    callers = [said for said, spot in spots.items() if calls(spot).covers]
    name = callers[0] if name is None and len(callers) == 1 else name
    if name is None and len(spots) > 1:
        several = ", ".join(spots)
        raise Unwritable(
            case.pod_spec["containers"].at,
            f"which of its containers does the work? Pass --container: {several}",
        )
    name = name or next(iter(spots))
    if name not in spots:
        known = ", ".join(spots)
        raise Unwritable(
            case.pod_spec["containers"].at,
            f"it has no container {clip(name)}: pass --container with one of {known}, or --only "
            "with the CronJobs that have it",
        )
    return spots[name], name


def finds_its_period(case: Case) -> bool:
    """Whether its Pod has a container already that finds the period for the others."""
    return any(not BESIDE.isdisjoint(calls(container).commands) for container in case.containers())


def house_kept(case: Case, name: str | None) -> str | None:
    """Return the commands of a CronJob that works for k8sjob itself; None: it does other work.

    Such a one has no periods of its own. ``name`` is the container that does the work, if told.
    """
    spots = list(case.pod_spec["containers"].items())
    made = [calls(spot) for spot in spots if name in {None, spot["name"].text}]
    if not made or not all(one.keeps_house for one in made):
        return None
    return ", ".join(dict.fromkeys(said for one in made for said in one.commands))


def check_command(container: Spot, name: str) -> None:
    """Raise Unwritable where there is no command that could be wrapped."""
    if not any(True for _ in container["command"].items()):
        image = container["image"].text or "IMAGE"
        first = next((spot.text for spot in container["args"].items()), None)
        example = "[k8sjob], if that is what it starts" if first in COMMANDS else "[/app/credit]"
        raise Unwritable(
            container.at,
            f"its container {name} has no command, and what its image would start is not known "
            f"here: write it, e.g. command: {example}; docker image inspect {image} tells it "
            "(Entrypoint; args, else Cmd, go on behind it)",
        )


# ----------------------------------------------------------------------------- the environment


def downward(case: Case, *, with_job: bool) -> list[dict[str, Any]]:
    """Return the variables that say who and where a Pod is (docs/periods.md)."""
    first = [{"name": "K8SJOB_CRONJOB", "value": case.name}] if with_job else []
    rest = [
        {"name": name, "valueFrom": Inline(fieldRef={"fieldPath": path})}
        for name, path in _FIELDS.items()
    ]
    return [*first, *rest]


def identity(case: Case, asked: Asked) -> list[dict[str, Any]]:
    """Return the variables that say which periods: the first run fixes their kind for life."""

    def said(name: str) -> str | None:
        there = case.metadata.under("annotations", words.PREFIX + name).text
        return asked.annotations.get(name) or there

    made = {"K8SJOB_JOB": said("job"), "K8SJOB_CYCLE": said("cycle")}
    cycle = made["K8SJOB_CYCLE"]
    if cycle in list(Cycle) and Cycle(cycle).on_calendar:
        made["K8SJOB_TIME_ZONE"] = case.spec["timeZone"].text or asked.time_zone
    return [{"name": name, "value": text} for name, text in made.items() if text]


def from_secret(asked: Asked) -> dict[str, Any]:
    """Return the variable with the ledger's DSN."""
    source = {"secretKeyRef": {"name": asked.secret, "key": asked.key}}
    return {"name": "K8SJOB_DSN", "valueFrom": Inline(source)}


def ledger_of(container: Spot) -> str | None:
    """Return by what a container says, or may say, where its ledger is."""
    there = names_in(container["env"])
    found = next((name for name in _LEDGERS if name in there), None)
    return found or ("envFrom" if container["envFrom"].present else None)


def mounts_a_token(container: Spot) -> bool:
    """Whether a container has a volume where Kubernetes would mount the account's token."""
    mounts = container["volumeMounts"].items()
    return any((one["mountPath"].text or "").rstrip("/") == ACCOUNT for one in mounts)


def names_in(spot: Spot) -> list[str]:
    """Return the names of a list's items."""
    return [item["name"].text or "" for item in spot.items()]


def stop_grace(case: Case) -> str | None:
    """Return how long a command has from a stop signal on, where the Pod has another grace."""
    grace = case.pod_spec["terminationGracePeriodSeconds"].number
    if grace is None or grace == _GRACE_S or grace < 1:
        return None
    return f"{grace - _OWN_END_S}s" if grace > 2 * _OWN_END_S else f"{max(grace * 500, 500)}ms"


# ------------------------------------------------------------------------------ the exit codes


def set_policy(wanted: Wanted, case: Case, container: str, whose: str) -> None:
    """Want a podFailurePolicy by the table of exit codes, where Kubernetes takes one."""
    if case.job_spec["podFailurePolicy"].present:
        wanted.warnings.append("podFailurePolicy is there already and was left as it is")
        return
    restart = case.pod_spec["restartPolicy"].text
    if restart != "Never":
        wanted.warnings.append(
            f"restartPolicy is {restart or 'not set'}, beside which Kubernetes takes no "
            "podFailurePolicy: failures that another try cannot help are tried again; with "
            "restartPolicy: Never they would not be"
        )
        return
    if case.job_spec["podReplacementPolicy"].text not in {None, "Failed"}:
        wanted.warnings.append(
            "podReplacementPolicy is not Failed, beside which Kubernetes takes no podFailurePolicy"
        )
        return
    permanent = sorted(int(code) for code, meaning in EXIT_TABLE.items() if meaning.permanent)
    codes = Inline(containerName=container, operator="In", values=InlineList(permanent))
    wanted.policy = {"rules": [{"action": "FailJob", "onExitCodes": codes}]}
    wanted.notes.append(f"podFailurePolicy: an exit code {whose} that no other try can help ends "
                        "the Job at once")  # fmt: skip
