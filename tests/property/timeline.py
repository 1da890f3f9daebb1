"""One CronJob over its true time, written to as the API server notes it, and what it really meant.

Instants are true ones: the cluster's clock. What the API shows of them has whole seconds.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, cast

from k8sjob.kube import words
from k8sjob.kube.objects import CronJob, Managed, Owned
from k8sjob.schedule import Schedule, parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SECOND = timedelta(seconds=1)
LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)
FAR_OFF = datetime(2999, 1, 1, tzinfo=UTC)

#: What a write can set. The first four are the spec's: they make a new generation.
_SPEC = ("schedule", "timeZone", "suspend", "image")
_OURS = frozenset({"schedule", "timeZone", "suspend", "enabled-label", "annotations"})
#: A manager that applies on the server's side: what it takes away moves its time too.
APPLIES = "argocd"


class Fire(NamedTuple):
    """A slot that the schedule of its instant meant."""

    at: datetime
    zone: str


@dataclass(frozen=True)
class Entry:
    """One manager's entry in managedFields."""

    time: datetime
    fields: frozenset[str]


@dataclass(frozen=True)
class Stint:
    """The CronJob between two writes, from ``at`` on. ``values`` without ``schedule``: none."""

    at: datetime
    uid: str = ""
    created: datetime = LONG_AGO
    generation: int = 0
    values: Mapping[str, str] = field(default_factory=dict)
    entries: Mapping[str, Entry] = field(default_factory=dict)

    @property
    def exists(self) -> bool:
        """Whether there is a CronJob."""
        return "schedule" in self.values

    @property
    def enabled(self) -> bool:
        """Whether lists by the label show it."""
        return self.exists and "enabled-label" in self.values

    @property
    def broken(self) -> bool:
        """Whether an annotation of it does not parse."""
        return "typo" in self.values

    @property
    def starts(self) -> bool:
        """Whether its slots are meant."""
        return self.exists and "suspend" not in self.values

    @property
    def zone(self) -> str:
        """The zone that its fields are read in."""
        return self.values.get("timeZone", "Etc/UTC")

    @property
    def meaning(self) -> tuple[str, ...]:
        """What tells one schedule from another."""
        names = ("schedule", "timeZone", "suspend", "enabled-label")
        return (self.uid, *(self.values.get(name, "") for name in names))

    def fires(self, after: datetime, upto: datetime) -> Iterator[Fire]:
        """Return its slots in ``(after, upto]``, suspended or not."""
        if self.exists and after < upto:
            for at in _read(self.values["schedule"], self.zone).between(after, upto):
                yield Fire(at, self.zone)


@dataclass
class Timeline:
    """What was, stint by stint."""

    annotations: Mapping[str, str] = field(default_factory=dict)
    #: Whether managedFields are shown: some tools strip them.
    marks: bool = True
    stints: list[Stint] = field(default_factory=list)
    _made: int = 0

    @property
    def now(self) -> Stint:
        """What is."""
        return self.stints[-1]

    def create(self, at: datetime, manager: str, **values: str) -> None:
        """Make it, or make it anew."""
        self._made += 1
        fresh = Stint(at, f"uid-{self._made}", _whole(at))
        self.stints.append(fresh)
        self.write(at, manager, **values)

    def delete(self, at: datetime) -> None:
        """Take it away."""
        self.stints.append(Stint(at))

    def write(self, at: datetime, manager: str, **changes: str | None) -> None:
        """Change fields as one write of a manager does; None takes a field away.

        As the API server's field manager goes about it: an update moves the time of its manager's
        entry only if it has set something, and takes what it has changed out of all others.
        """
        old = self.now
        changed = {n: v for n, v in changes.items() if old.values.get(n) != v}
        if not changed:
            return
        values = {n: v for n, v in {**old.values, **changed}.items() if v is not None}
        self.stints.append(
            replace(
                old,
                at=at,
                generation=old.generation + any(name in _SPEC for name in changed),
                values=values,
                entries=_taken(old.entries, manager, changed, _whole(at)),
            )
        )

    def at(self, moment: datetime) -> Stint:
        """Return what was at a moment."""
        return next(one for one in reversed(self.stints) if one.at <= moment)

    def shows(self, moment: datetime) -> list[CronJob]:
        """Return what a list by the label shows at a moment."""
        stint = self.at(moment)
        return [self._object(stint)] if stint.enabled else []

    def spans(self) -> Iterator[tuple[Stint, datetime]]:
        """Return each stint with the instant at which it ended."""
        ends = [one.at for one in self.stints[1:]]
        yield from zip(self.stints, [*ends, FAR_OFF], strict=True)

    def _object(self, stint: Stint) -> CronJob:
        values = stint.values
        labels = {words.ENABLED: "true"}
        annotations = dict(self.annotations)
        if "team" in values:
            annotations["example.com/team"] = values["team"]
        if "typo" in values:
            annotations[words.GRACE] = values["typo"]
        return CronJob(
            namespace="billing",
            name="credit",
            uid=stint.uid,
            generation=stint.generation,
            created=stint.created,
            schedule=values["schedule"],
            zone=values.get("timeZone"),
            suspended="suspend" in values,
            labels=labels,
            annotations=annotations,
            managed=tuple(_managed(n, e) for n, e in stint.entries.items() if self.marks),
        )


def _taken(
    entries: Mapping[str, Entry], manager: str, changed: Mapping[str, str | None], time: datetime
) -> dict[str, Entry]:
    left = {n: replace(e, fields=e.fields - changed.keys()) for n, e in entries.items()}
    # To resume is to set suspend to false: the API's default, and so never absent.
    taken = frozenset(n for n, v in changed.items() if v is not None or n == "suspend")
    mine = left.get(manager, Entry(time, frozenset()))
    if taken or (manager == APPLIES and mine.fields):
        left[manager] = Entry(time, mine.fields | taken)
    return {name: entry for name, entry in left.items() if entry.fields}


def _managed(name: str, entry: Entry) -> Managed:
    owns = frozenset(cast("set[Owned]", set(entry.fields & _OURS)))
    kind = "Apply" if name == APPLIES else "Update"
    return Managed(manager=name, operation=kind, subresource=None, time=entry.time, owns=owns)


@cache
def _read(text: str, zone: str) -> Schedule:
    return parse(text, zone)


def _whole(at: datetime) -> datetime:
    return at.replace(microsecond=0)
