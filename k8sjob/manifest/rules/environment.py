"""The rule about what containers are told in their environment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from k8sjob.kube import words
from k8sjob.manifest.rule import Found
from k8sjob.manifest.rules.times import has_natural_cycle
from k8sjob.manifest.shown import clip

if TYPE_CHECKING:
    from collections.abc import Iterator

    from k8sjob.manifest.case import Case
    from k8sjob.manifest.tree import Spot


def env_differs(case: Case) -> Iterator[Found]:
    """Find a variable that says something else than the CronJob does.

    The reconciler expects the periods of the one, the container does those of the other.
    """
    if not case.is_cronjob:
        return
    for container in case.containers():
        for variable in container["env"].items():
            name, spot = variable["name"].text, variable["value"]
            if spot.text and "$(" not in spot.text and (wanted := _wanted(case, name, spot.text)):
                yield Found(
                    spot.at,
                    f"{name} is {clip(spot.text)} and {wanted[0]} {clip(wanted[1])}, so other "
                    "periods are done than are expected: write the same in both",
                )


def _wanted(case: Case, name: str | None, text: str) -> tuple[str, str] | None:
    """Return what the CronJob says instead of ``text``, and where; None: nothing else."""
    annotations = case.metadata["annotations"]
    if name == "K8SJOB_JOB":
        return _other_job(case, annotations[words.JOB], text)
    if name == "K8SJOB_CYCLE":
        cycle = annotations[words.CYCLE].text
        return (f"the annotation {words.CYCLE}", cycle) if cycle and cycle != text else None
    if name == "K8SJOB_TIME_ZONE" and has_natural_cycle(case):
        zone = case.spec["timeZone"].text
        return ("timeZone", zone) if zone and zone != text else None
    return None


def _other_job(case: Case, annotation: Spot, text: str) -> tuple[str, str] | None:
    tracked = case.metadata.under("labels", words.ENABLED).text == "true"
    said = annotation.text or (case.name if tracked else None)
    if said is None:
        return None
    here, there = _pieces(case, said), _pieces(case, text)
    same = here[1] == there[1] and (here[0] == there[0] or None in {here[0], there[0]})
    where = f"the annotation {words.JOB}" if annotation.text else "the CronJob"
    return None if same else (where, said)


def _pieces(case: Case, text: str) -> tuple[str | None, str]:
    """Return namespace, where known, and name of ``NAME``, ``NS/NAME`` or ``NS/NAME/PART``."""
    match text.strip().split("/"):
        case [name]:
            return case.namespace, name
        case [namespace, name, *_]:
            return namespace, name
    return None, text
