"""The pieces of one CronJob: what is wanted becomes edits and a record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from k8sjob.kube import words
from k8sjob.manifest.inject.cut import name_of
from k8sjob.manifest.inject.put import Putting, Unwritable, own, style_of
from k8sjob.manifest.inject.record import ENV_PREFIX, Record
from k8sjob.manifest.inject.sums import sum_of, sums_of
from k8sjob.manifest.inject.written import Row, Table, Word

if TYPE_CHECKING:
    from k8sjob.manifest.inject.raw import Edit
    from k8sjob.manifest.inject.wanted import Wanted
    from k8sjob.manifest.inject.written import Written


@dataclass(slots=True, eq=False)
class Place:
    """The maps of a CronJob that something is put into."""

    root: Table
    metadata: Table
    spec: Table
    job: Table
    pod: Table

    @classmethod
    def of(cls, root: Table) -> Place:
        """Find them. Raises Unwritable."""
        spec = _table(root, "spec")
        job = _table(_table(spec, "jobTemplate"), "spec")
        pod = _table(_table(job, "template"), "spec")
        return cls(root, _table(root, "metadata"), spec, job, pod)

    def container(self, name: str) -> Table:
        """Find a container. Raises Unwritable."""
        row = own(self.pod, "containers")
        for item in row.items if isinstance(row, Row) else []:
            if name_of(item) == name and isinstance(item, Table):
                if item.shared:
                    raise Unwritable(item.start, f"its container {name} is another one's too")
                return item
        raise Unwritable(
            self.pod.start,
            f"its container {name} is not there any more, or is an alias: write it out",
        )


def _table(parent: Table, name: str) -> Table:
    value = own(parent, name)
    if isinstance(value, Table):
        return value
    raise Unwritable(parent.start, f"it has no {name}, or one that is no map")


def put_in(root: Table, wanted: Wanted, text: str, *, alone: bool) -> list[Edit]:
    """Return the edits that put ``wanted`` into a CronJob. Raises Unwritable.

    ``alone``: no other object stands in the document, so that labels may have aliases: a Pod that
    has the reconciler's label too is none the worse for it.
    """
    place = Place.of(root)
    container = place.container(wanted.container)
    before = _before(place, container, wanted, alone=alone)
    record = _record(wanted, before)
    putting = Putting(text, style_of(root, text))
    notes = {words.PREFIX + name: value for name, value in wanted.annotations.items()}
    if wanted.label:
        putting.into(place.metadata, "labels", {words.ENABLED: "true"})
    putting.into(place.metadata, "annotations", notes | {words.INJECTED: str(record)})
    if wanted.time_zone:
        putting.entry(place.spec, "timeZone", wanted.time_zone, after="schedule")
    if wanted.policy:
        putting.entry(place.job, "podFailurePolicy", wanted.policy, after=_above(place.job))
    _into_container(putting, container, wanted)
    if wanted.init:
        putting.into(place.pod, "initContainers", wanted.init)
        putting.into(place.pod, "volumes", wanted.volumes)
    return putting.edits


def _into_container(putting: Putting, container: Table, wanted: Wanted) -> None:
    if wanted.prefix:
        command = own(container, "command")
        if not isinstance(command, Row):
            raise Unwritable(container.start, "its command is no list")
        # In brackets all is in one line, and a shell takes either.
        front = [word.replace("\n", "; ") if command.flow else word for word in wanted.prefix]
        putting.in_front(command, front)
    if wanted.env:
        putting.into(container, "env", wanted.env)
    if wanted.mounts:
        putting.into(container, "volumeMounts", wanted.mounts)


def _above(job: Table) -> str | None:
    """Return the entry above the Pod's template, below which few would look for a short one."""
    names = [key.text for key, _ in job.entries]
    at = names.index("template")
    return names[at - 1] if at else None


def _before(place: Place, container: Table, wanted: Wanted, *, alone: bool) -> dict[str, str]:
    """Return what stands, though there is nothing in it, where maps and lists are to grow."""
    growing = {
        "labels": (place.metadata, wanted.label),
        "annotations": (place.metadata, True),
        "env": (container, wanted.env),
        "volumeMounts": (container, wanted.mounts),
        "initContainers": (place.pod, wanted.init),
        "volumes": (place.pod, wanted.volumes),
    }
    found = {}
    for name, (table, is_wanted) in growing.items():
        if is_wanted:
            there = own(table, name, shared=alone and name == "labels")
            if (word := _emptiness(there)) is not None:
                found[name] = word
    return found


def _emptiness(there: Written | None) -> str | None:
    match there:
        case Word(null=True, text=text):
            return text or "-"
        case Table(entries=[]):
            return "{}"
        case Row(items=[]):
            return "[]"
        case _:
            return None


def _record(wanted: Wanted, before: dict[str, str]) -> Record:
    return Record(
        mode=wanted.mode,
        container=wanted.container,
        label=wanted.label,
        annotations=tuple(wanted.annotations),
        time_zone=wanted.time_zone or "",
        policy=sum_of(wanted.policy) if wanted.policy else "",
        wrap=len(wanted.prefix),
        front=sum_of(wanted.prefix) if wanted.prefix else "",
        env=sums_of(wanted.env, ENV_PREFIX),
        mounts=sums_of(wanted.mounts),
        init=sums_of(wanted.init),
        volumes=sums_of(wanted.volumes),
        before=before,
    )
