"""What an earlier injection was asked, read from what it has left. Pure.

What somebody has changed since (an image by a bot, an annotation by hand) is what was asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from k8sjob.kube import words
from k8sjob.manifest.inject import sidecar
from k8sjob.manifest.inject.covering import CLAIMING
from k8sjob.manifest.inject.options import Options
from k8sjob.manifest.inject.put import Unwritable
from k8sjob.manifest.inject.record import Mode, Record, parse, record_at

if TYPE_CHECKING:
    from k8sjob.manifest.case import Case
    from k8sjob.manifest.tree import Spot


def record_of(case: Case) -> Record | None:
    """Return what was put into a CronJob; None: nothing. Raises Unwritable."""
    spot = record_at(case)
    if not spot.present:
        return None
    if (record := parse(spot.text or "")) is None:
        raise Unwritable(
            spot.at,
            f"its annotation {words.INJECTED} is not as k8sjob inject writes it, so what is to be "
            "taken out is not known: take it from the manifest's history, or take it away",
        )
    return record


def options_of(case: Case, record: Record | None) -> Options:
    """Return what the injection was asked that left ``record``."""
    if record is None:
        return Options()
    texts = {name: case.metadata.under("annotations", words.PREFIX + name).text
             for name in record.annotations}  # fmt: skip
    init = _named(case.pod_spec["initContainers"], sidecar.RESOLVE)
    main = _named(case.pod_spec["containers"], record.container)
    has_secret = record.mode is Mode.SIDECAR or "DSN" in record.env
    source = _named((init if record.mode is Mode.SIDECAR else main)["env"], "K8SJOB_DSN")
    secret = source.under("valueFrom", "secretKeyRef")
    return Options(
        mode=record.mode,
        container=record.container,
        claims=record.wrap == len(CLAIMING) if record.mode is Mode.RUN and record.wrap else None,
        image=init["image"].text,
        secret=secret["name"].text if has_secret else None,
        key=secret["key"].text if has_secret else None,
        time_zone=record.time_zone if case.spec["timeZone"].text == record.time_zone else None,
        annotations={name: text for name, text in texts.items() if text},
    )


def _named(items: Spot, name: str) -> Spot:
    return next((item for item in items.items() if item["name"].text == name), items["none"])
