"""What both modes want of a CronJob, and what each wants of its Pod. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from k8sjob.cycle import Cycle
from k8sjob.kube import words
from k8sjob.manifest.calls import calls
from k8sjob.manifest.inject import sidecar
from k8sjob.manifest.inject.put import Unwritable
from k8sjob.manifest.inject.record import Mode
from k8sjob.manifest.inject.wanted import (
    SEPARATOR,
    Wanted,
    check_command,
    container_of,
    downward,
    finds_its_period,
    from_secret,
    house_kept,
    identity,
    ledger_of,
    mounts_a_token,
    names_in,
    set_policy,
    stop_grace,
)
from k8sjob.manifest.shown import clip

if TYPE_CHECKING:
    from k8sjob.manifest.case import Case
    from k8sjob.manifest.inject.options import Asked
    from k8sjob.manifest.tree import Spot

_RECORD: Final = "--record-on-success"
#: What is written before a command that claims its period by itself, and before another one.
CLAIMING: Final = ("k8sjob", "run", SEPARATOR)
RECORDED: Final = ("k8sjob", "run", _RECORD, SEPARATOR)


def want(case: Case, asked: Asked) -> Wanted:
    """Return what is to be put into a CronJob that has nothing of an earlier injection.

    Raises Unwritable where a person has to decide or write something first.
    """
    if case.name is None:
        raise Unwritable(case.root.at, "it has no name: write metadata.name")
    if house := house_kept(case, asked.container):
        return Wanted(asked.mode, "", why=f"it works for k8sjob itself ({house}), so was left")
    if finds_its_period(case):
        return _around(case, asked)
    container, name = container_of(case, asked.container)
    wanted = Wanted(asked.mode, name)
    _say_who(wanted, case, asked)
    if asked.mode is Mode.RUN:
        _run(wanted, case, container, asked)
    else:
        sidecar.cover(wanted, case, container, asked)
    _warn(wanted, case)
    return wanted


def _around(case: Case, asked: Asked) -> Wanted:
    """Return what a CronJob lacks whose Pod is covered by hand, or by a chart."""
    first = next(case.pod_spec["containers"].items(), case.pod_spec)["name"].text or ""
    wanted = Wanted(Mode.RUN, first)  # which puts nothing into a Pod by itself
    _say_who(wanted, case, asked)
    wanted.warnings.append("an init container calls k8sjob by itself; the Pod was left")
    _warn(wanted, case)
    return wanted


# --------------------------------------------------------------------------- the CronJob itself


def _say_who(wanted: Wanted, case: Case, asked: Asked) -> None:
    _label(wanted, case)
    for name, text in asked.annotations.items():
        there = case.metadata.under("annotations", words.PREFIX + name)
        if not there.present:
            wanted.annotations[name] = text
        elif there.text != text:
            raise _contrary(there, words.PREFIX + name, there.text, text)
    if wanted.annotations:
        names = ", ".join(wanted.annotations)
        wanted.notes.append(f"annotations k8sjob.io/{names}: what was asked for")
    zone = case.spec["timeZone"]
    if asked.time_zone and not zone.present:
        wanted.time_zone = asked.time_zone
        wanted.notes.append(f"timeZone {asked.time_zone}: the zone that the schedule is read in")
    elif asked.time_zone and zone.text != asked.time_zone:
        raise _contrary(zone, "timeZone", zone.text, asked.time_zone)


def _label(wanted: Wanted, case: Case) -> None:
    label = case.metadata.under("labels", words.ENABLED)
    if not label.present:
        wanted.label = True
        wanted.notes.append(f"label {words.ENABLED}: the reconciler looks after it")
    elif label.text != "true":
        wanted.warnings.append(
            f"label {words.ENABLED} is {label.kind} and was left: no reconciler looks after it"
        )


def _contrary(spot: Spot, name: str, there: str | None, asked: str) -> Unwritable:
    return Unwritable(
        spot.at,
        f"its {name} is {clip(there or spot.kind)} already, by hand, and not {clip(asked)}: change "
        "it there, or leave the option out",
    )


# ------------------------------------------------------------------------------------- mode run


def _run(wanted: Wanted, case: Case, container: Spot, asked: Asked) -> None:
    if calls(container).covers:
        wanted.warnings.append(f"container {wanted.container} calls k8sjob by itself; it was left")
    else:
        check_command(container, wanted.container)
        _wrap(wanted, claims=asked.claims)
    _tell_the_container(wanted, case, container, asked)
    set_policy(wanted, case, wanted.container, "of k8sjob run")
    automatic = case.pod_spec["automountServiceAccountToken"].value is not False
    if not automatic and not mounts_a_token(container):
        wanted.warnings.append(
            "automountServiceAccountToken is false: the period comes from the Job's name then, "
            "and Jobs made by hand or by backfill find none"
        )


def _wrap(wanted: Wanted, *, claims: bool) -> None:
    if claims:
        wanted.prefix = [*CLAIMING]
        wanted.notes.append(
            "command behind k8sjob run --, which its image has to have: it claims its period by "
            "itself, and exit 0 without that is an error"
        )
        return
    wanted.prefix = [*RECORDED]
    wanted.notes.append(
        f"command behind k8sjob run {_RECORD} --, which its image has to have: the period is "
        "recorded when it ends with 0, so it is done at least once; exactly once takes a command "
        "that claims (--claims)"
    )


def _tell_the_container(wanted: Wanted, case: Case, container: Spot, asked: Asked) -> None:
    there = names_in(container["env"])
    made = [*downward(case, with_job=True), *identity(case, asked)]
    if wanted.prefix and (grace := stop_grace(case)):
        made.append({"name": "K8SJOB_STOP_GRACE", "value": grace})
        if "K8SJOB_STOP_GRACE" not in there:
            wanted.notes.append(
                f"K8SJOB_STOP_GRACE {grace}: the Pod's terminationGracePeriodSeconds, less what "
                "k8sjob needs itself"
            )
    ledger = ledger_of(container)
    if ledger is None or (asked.has_secret and not ledger.startswith("K8SJOB_")):
        made.append(from_secret(asked))
        wanted.notes.append(f"K8SJOB_DSN from Secret {asked.secret}, key {asked.key}: the ledger")
    else:
        wanted.warnings.append(f"{ledger} is taken to tell the ledger, so no Secret was named")
    wanted.env = [one for one in made if one["name"] not in there]
    if wanted.env:
        wanted.notes.append("K8SJOB_ variables: which Job the Pod is of, by the downward API")
    _warn_of_others(wanted, container, made)


def _warn_of_others(wanted: Wanted, container: Spot, made: list[dict[str, Any]]) -> None:
    plain = {one["name"]: one.get("value") for one in made}
    for item in container["env"].items():
        name, value = item["name"].text, item["value"]
        if name in plain and plain[name] and value.present and value.text != plain[name]:
            wanted.warnings.append(f"{name} is {value.kind} already and was left as it is")


# ------------------------------------------------------------------------------- what was left


def _warn(wanted: Wanted, case: Case) -> None:
    if case.spec["timeZone"].present or wanted.time_zone:
        return
    cycle = wanted.annotations.get("cycle")
    cycle = cycle or case.metadata.under("annotations", words.CYCLE).text
    natural = cycle in list(Cycle) and Cycle(cycle).on_calendar
    wanted.warnings.append(
        "there is no timeZone and none was asked for: the schedule is read in the zone of the "
        f"cluster's controller{', and its days in whichever' if natural else ''}: pass --time-zone"
    )
