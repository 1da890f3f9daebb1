"""Texts before and after an injection, and the objects in them."""

from __future__ import annotations

import re
from copy import deepcopy
from datetime import UTC, datetime
from typing import Any

from ruamel.yaml import YAML

from k8sjob.manifest.files import decode
from k8sjob.manifest.inject.injecting import Result, Told, inject
from k8sjob.manifest.inject.options import Options
from k8sjob.manifest.inject.record import Mode
from k8sjob.manifest.read import pieces, without_directives

NOW = datetime(2026, 9, 13, tzinfo=UTC)


def result(text: str, *, remove: bool = False, **options: Any) -> Result:
    """Return what comes of a text."""
    return inject(text, Options(**options), NOW, remove=remove)


def covered(text: str, **options: Any) -> str:
    """Return a text whose CronJobs are covered; nothing may be in the way of that."""
    made = result(text, **options)
    assert made.refusals == []
    return made.text


def taken_back(text: str, **options: Any) -> str:
    """Return a text without what was put in."""
    made = result(text, remove=True, **options)
    assert made.refusals == []
    return made.text


def told(text: str, **options: Any) -> Told:
    """Return what is said of the only CronJob."""
    made = result(text, **options)
    assert made.refusals == []
    (one,) = made.told
    return one


def refusal(text: str, **options: Any) -> str:
    """Return the only reason why nothing was done; then the text is as it was."""
    made = result(text, **options)
    assert made.text == text
    ((_, what),) = made.refusals
    return what


def objects(text: str) -> list[Any]:
    """Return all objects of a text, those in lists one by one."""
    plain = decode(text.encode())
    assert isinstance(plain, str)
    yaml = YAML(typ="safe", pure=True)
    found = [
        one
        for _, piece in pieces(re.sub(r"^\.\.\.$", "---", plain, flags=re.MULTILINE))
        for one in yaml.load_all(without_directives(piece))
        if one
    ]
    return [inner for one in found for inner in one.get("items", [one])]


def cronjobs(text: str) -> list[Any]:
    """Return the CronJobs of a text."""
    return [one for one in objects(text) if one["kind"] == "CronJob"]


def pod_of(cronjob: Any) -> Any:
    """Return the spec of a CronJob's Pods."""
    return cronjob["spec"]["jobTemplate"]["spec"]["template"]["spec"]


def main_of(cronjob: Any) -> Any:
    """Return the container called main."""
    (found,) = [c for c in pod_of(cronjob)["containers"] if c["name"] == "main"]
    return found


def env_of(container: Any) -> dict[str, Any]:
    """Return a container's variables: a text, or where it comes from."""
    return {one["name"]: one.get("value") or one["valueFrom"] for one in container["env"]}


def without(cron: Any, mode: Mode) -> Any:
    """Return a CronJob whose command claims without what an injection brings, key by key."""
    cron = deepcopy(cron)
    for where in ("labels", "annotations"):
        kept = cron["metadata"].get(where) or {}
        cron["metadata"][where] = {n: v for n, v in kept.items() if "k8sjob.io/" not in n}
    cron["spec"]["jobTemplate"]["spec"].pop("podFailurePolicy", None)
    pod, main = pod_of(cron), main_of(cron)
    main["command"] = main["command"][{Mode.RUN: 3, Mode.SIDECAR: 4}[mode] :]
    for holder, name in (
        (main, "env"),
        (main, "volumeMounts"),
        (pod, "initContainers"),
        (pod, "volumes"),
    ):
        kept = [
            one for one in holder.get(name) or [] if not one["name"].lower().startswith("k8sjob")
        ]
        holder[name] = kept
    return cron


def emptied(cron: Any) -> Any:
    """Return a CronJob with the empty value where nothing stands."""
    cron = deepcopy(cron)
    for holder, names in (
        (cron["metadata"], {"labels": {}, "annotations": {}}),
        (main_of(cron), {"env": [], "volumeMounts": []}),
        (pod_of(cron), {"initContainers": [], "volumes": []}),
    ):
        for name, nothing in names.items():
            holder[name] = holder.get(name) or nothing
    return cron
