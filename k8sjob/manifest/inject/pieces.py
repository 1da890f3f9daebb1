"""The pieces of one CronJob: what is wanted becomes edits and a record, a record becomes edits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from k8sjob.kube import words
from k8sjob.manifest.inject import sidecar
from k8sjob.manifest.inject.cut import Cutting, name_of
from k8sjob.manifest.inject.put import Putting, Unwritable, own, style_of
from k8sjob.manifest.inject.record import ENV_PREFIX, Mode, Record
from k8sjob.manifest.inject.wanted import SEPARATOR
from k8sjob.manifest.inject.written import Row, Table, Word

if TYPE_CHECKING:
    from k8sjob.manifest.inject.raw import Edit
    from k8sjob.manifest.inject.wanted import Wanted
    from k8sjob.manifest.inject.written import Written


#: The first and the last word that stand before a command.
_ENDS = {Mode.RUN: ("k8sjob", SEPARATOR), Mode.SIDECAR: ("sh", "k8sjob")}


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


# -------------------------------------------------------------------------------------- put in


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
        policy=wanted.policy is not None,
        wrap=len(wanted.prefix),
        env=tuple(one["name"].removeprefix(ENV_PREFIX) for one in wanted.env),
        before=before,
    )


# ------------------------------------------------------------------------------------ taken out


def take_out(root: Table, record: Record, text: str) -> list[Edit]:
    """Return the edits that take out of a CronJob what ``record`` says. Raises Unwritable."""
    place = Place.of(root)
    container = place.container(record.container)
    cutting = Cutting(text)

    def cut(table: Table, name: str, *ours: str) -> None:
        cutting.out_of(table, name, ours, record.before.get(name))

    if record.label:
        cut(place.metadata, "labels", words.ENABLED)
    notes = (words.PREFIX + name for name in record.annotations)
    cut(place.metadata, "annotations", words.INJECTED, *notes)
    zone = own(place.spec, "timeZone")
    if isinstance(zone, Word) and zone.text == record.time_zone:  # another one is a person's
        cutting.entries(place.spec, ["timeZone"])
    if record.policy:
        _check_policy(place.job)
        cutting.entries(place.job, ["podFailurePolicy"])
    _unwrap(cutting, container, record)
    cut(container, "env", *(ENV_PREFIX + name for name in record.env))
    if record.mode is Mode.SIDECAR:
        cut(container, "volumeMounts", sidecar.VOLUME)
        cut(place.pod, "initContainers", sidecar.RESOLVE, sidecar.SIDECAR)
        cut(place.pod, "volumes", sidecar.VOLUME, sidecar.TOKEN)
    return cutting.edits


def _check_policy(job: Table) -> None:
    """Raise Unwritable where a person has put a rule beside the one of an injection."""
    found = job.find("podFailurePolicy")
    policy = found[1] if found else None
    rules = own(policy, "rules") if isinstance(policy, Table) else None
    if isinstance(rules, Row) and len(rules.items) > 1:
        raise Unwritable(
            rules.start,
            "its podFailurePolicy has rules by hand beside the one that was put in, and they would "
            f"be lost: take policy=yes out of {words.INJECTED}, and all rules are yours to keep",
        )


def _unwrap(cutting: Cutting, container: Table, record: Record) -> None:
    if not record.wrap:
        return
    command = own(container, "command")
    if isinstance(command, Row) and len(command.items) > record.wrap:
        ours = [item.text if isinstance(item, Word) else "" for item in command.items]
        if (ours[0], ours[record.wrap - 1]) == _ENDS[record.mode]:
            cutting.front(command, record.wrap)
            return
    raise Unwritable(
        container.start,
        f"the command of its container {record.container} is not what was written in front of it "
        f"any more: write it as it was, take wrap={record.wrap} out of {words.INJECTED}",
    )
