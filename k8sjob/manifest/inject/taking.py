"""A record becomes edits that take out what was put in, but for what a person has changed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from k8sjob.kube import words
from k8sjob.manifest.inject.cut import Cutting, name_of
from k8sjob.manifest.inject.pieces import Place
from k8sjob.manifest.inject.put import Unwritable, own
from k8sjob.manifest.inject.record import ENV_PREFIX
from k8sjob.manifest.inject.sums import data_of, sum_of
from k8sjob.manifest.inject.written import Row, Table, Word

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from k8sjob.manifest.inject.raw import Edit
    from k8sjob.manifest.inject.record import Record
    from k8sjob.manifest.inject.written import Written

_SERVING = {"volumeMounts": "mount", "initContainers": "container", "volumes": "volume"}


@dataclass(slots=True)
class Taken:
    """The edits that take something out of a CronJob.

    ``kept``: names of pieces that a person has changed, which stay. ``gone``: pieces that had such
    changes and go all the same, for they are no good without each other; kind, name and value.
    """

    edits: list[Edit] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    gone: list[tuple[str, str, Written]] = field(default_factory=list)

    @property
    def warnings(self) -> list[str]:
        """What is to be told of ``kept``."""
        return [
            f"{name} was changed by hand: it stays, and is yours from now on" for name in self.kept
        ]


def take_out(root: Table, record: Record, text: str) -> Taken:
    """Take out of a CronJob what ``record`` says. Raises Unwritable."""
    return _Taking(root, record, text).all()


class _Taking:
    def __init__(self, root: Table, record: Record, text: str) -> None:
        self.record, self.cutting, self.taken = record, Cutting(text), Taken()
        self.place = Place.of(root)
        self.container = self.place.container(record.container)

    def all(self) -> Taken:
        self._metadata()
        self._time_zone()
        self._policy()
        self._unwrap()
        self._env()
        self._serving(self.container, "volumeMounts", self.record.mounts)
        self._serving(self.place.pod, "initContainers", self.record.init)
        self._serving(self.place.pod, "volumes", self.record.volumes)
        self.taken.edits = self.cutting.edits
        return self.taken

    def _cut(self, table: Table, name: str, *ours: str) -> None:
        self.cutting.out_of(table, name, ours, self.record.before.get(name))

    def _metadata(self) -> None:
        metadata = self.place.metadata
        if self.record.label:
            found = metadata.find("labels")
            labels = data_of(found[1] if found else None)
            if isinstance(labels, dict) and labels.get(words.ENABLED, "true") != "true":
                self.taken.kept.append(f"label {words.ENABLED}")
            else:
                self._cut(metadata, "labels", words.ENABLED)
        notes = (words.PREFIX + name for name in self.record.annotations)
        self._cut(metadata, "annotations", words.INJECTED, *notes)

    def _time_zone(self) -> None:
        zone = own(self.place.spec, "timeZone") if self.record.time_zone else None
        if isinstance(zone, Word) and zone.text == self.record.time_zone:
            self.cutting.entries(self.place.spec, ["timeZone"])
        elif zone is not None:
            self.taken.kept.append("timeZone")

    def _policy(self) -> None:
        found = self.place.job.find("podFailurePolicy") if self.record.policy else None
        if found and sum_of(found[1]) == self.record.policy:
            self.cutting.entries(self.place.job, ["podFailurePolicy"])
        elif found:
            self.taken.kept.append("podFailurePolicy")

    def _env(self) -> None:
        sums = {ENV_PREFIX + name: one for name, one in self.record.env.items()}
        kept = dict.fromkeys(name for name, _ in _changed(self.container, "env", sums))
        self.taken.kept += kept
        self._cut(self.container, "env", *(name for name in sums if name not in kept))

    def _serving(self, table: Table, name: str, sums: Mapping[str, str]) -> None:
        kind = _SERVING[name]
        self.taken.gone += [(kind, one, item) for one, item in _changed(table, name, sums)]
        self._cut(table, name, *sums)

    def _unwrap(self) -> None:
        count = self.record.wrap
        command = own(self.container, "command") if count else None
        if not count:
            return
        if isinstance(command, Row) and len(command.items) > count:
            front = [data_of(item) for item in command.items[:count]]
            if sum_of(front) == self.record.front:
                self.cutting.front(command, count)
                return
        raise Unwritable(
            self.container.start,
            f"the command of its container {self.record.container} is not what was written in "
            f"front of it any more: write it as it was, take wrap={count} out of {words.INJECTED}",
        )


def _changed(table: Table, name: str, sums: Mapping[str, str]) -> Iterator[tuple[str, Written]]:
    """Return the items of a list that are called as ours are, and are not as they were put in."""
    found = table.find(name)
    for item in found[1].items if found and isinstance(found[1], Row) else []:
        title = name_of(item)
        if title in sums and sums[title] not in {"", sum_of(item)}:
            yield title, item
