"""A CronJob lives, and a reconciler looks at it now and then: passes over a ledger on paper."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from k8sjob.cycle import Cycle
from k8sjob.key import JobName, Key
from k8sjob.period import Period
from k8sjob.reconcile.one_pass import run
from k8sjob.reconcile.report import Report
from k8sjob.reconcile.seen import Span, World, take_census
from k8sjob.reconcile.state import Pass
from tests.property.paper_ledger import PaperLedger
from tests.property.timeline import APPLIES, LONG_AGO, SECOND, Stint, Timeline

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from random import Random

    from k8sjob.ledger.watch import Watcher
    from k8sjob.reconcile.catch_up import Launch
    from k8sjob.reconcile.seen import Named

JOB = JobName("billing", "credit")
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)

#: An ordinary day, and the nights when clocks change in Rome.
STARTS = (
    datetime(2026, 9, 13, 11, 58, 30, 500_000, tzinfo=UTC),
    datetime(2026, 10, 24, 22, 58, 30, 500_000, tzinfo=UTC),
    datetime(2026, 3, 28, 23, 58, 30, 500_000, tzinfo=UTC),
)
HOURLY = ("0 * * * *", "30 * * * *", "0,30 * * * *")
IRREGULAR = "22,23,24 * * * *"
#: Every minute is a slot of one of them, so that whatever happens happens near to one.
DENSE = ("*/3 * * * *", "1-59/3 * * * *", "2-59/3 * * * *")
NIGHTLY = ("30 2 * * *", "0 0 * * *", "45 23 * * *")
ZONES = (None, "Etc/UTC", "Europe/Rome", "America/New_York", "Asia/Kolkata")
MANAGERS = ("helm", "kubectl-patch", APPLIES)
#: What is done to it, the more likely the oftener it stands here.
KINDS = (
    *("edit", "edit", "edit", "edit", "zone", "zone", "suspend", "suspend", "image", "annotate"),
    *("label", "typo", "delete", "recreate", "recreate"),
)


@dataclass(frozen=True)
class Act:
    """Something that happens, ``wait`` after what came before it.

    Of a pass ``number`` is how many seconds the ledger's clock is ahead, ``slow`` how many pass
    before the list and after it; ``word`` is ``incomplete`` where there is no whole list.
    """

    kind: str
    wait: tuple[str, int] = ("s", 0)
    word: str | None = None
    zone: str | None = None
    manager: str = "helm"
    number: int = 0
    slow: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class Script:
    """All that happens. Of eleven slots ``lost`` are claimed by nobody.

    ``marks``: the API shows managedFields. ``grace``: the annotation.
    """

    acts: Sequence[Act]
    cycle: Cycle = Cycle.SCHEDULED
    start: datetime = STARTS[0]
    schedule: str = HOURLY[0]
    zone: str | None = None
    lost: int = 11
    marks: bool = True
    grace: str | None = None


@dataclass
class Life:
    """What came of a script. ``lists``: when complete ones were made; ``good``: that told of it."""

    cycle: Cycle
    lost: int
    timeline: Timeline
    paper: PaperLedger
    watcher: Watcher
    at: datetime
    looked: datetime = LONG_AGO
    claimed_upto: datetime = LONG_AGO
    lists: list[datetime] = field(default_factory=list)
    good: list[datetime] = field(default_factory=list)
    started: list[Launch] = field(default_factory=list)
    claims: list[Callable[[Key], object]] = field(default_factory=list)
    #: Which rows each pass has made.
    made: list[tuple[datetime, frozenset[Key]]] = field(default_factory=list)

    # --------------------------------------------------------------------------- the cluster

    def act(self, act: Act) -> None:
        """Let it happen."""
        self.at = max(self.at + SECOND / 8, _later(self.at, act.wait))
        if act.kind == "pass":
            self.one_pass(act)
        elif self.timeline.now.exists:
            self._write(act)
        elif act.kind == "recreate":
            values = {"timeZone": act.zone} if act.zone else {}
            values |= {} if act.number % 3 else {"suspend": "true"}
            values |= {"enabled-label": "true"} if act.number % 4 else {}
            schedule = act.word or HOURLY[0]
            self.timeline.create(self.at, act.manager, schedule=schedule, image="1", **values)

    def _write(self, act: Act) -> None:
        line, now, unique = self.timeline, self.timeline.now, f"{self.at}"
        if act.kind == "delete":
            line.delete(self.at)
        elif act.kind == "edit":
            resumed = {} if act.number % 5 else {"suspend": None}
            line.write(self.at, act.manager, schedule=act.word, **resumed)
        elif act.kind == "zone":
            line.write(self.at, act.manager, timeZone=act.zone)
        elif act.kind == "suspend":
            line.write(self.at, act.manager, suspend=_flipped(now, "suspend"))
        elif act.kind == "image":
            line.write(self.at, act.manager, image=unique)
        elif act.kind == "annotate":
            line.write(self.at, "kubectl-annotate", team=unique)
        elif act.kind == "label":
            flipped = {"enabled-label": _flipped(now, "enabled-label")}
            line.write(self.at, "kubectl-label", **flipped)
        elif act.kind == "typo":
            line.write(self.at, "kubectl-annotate", typo=_flipped(now, "typo"))

    def _claim_upto(self, now: datetime) -> None:
        """Let the Jobs claim that the controller has started until ``now``, but for the lost."""
        for stint, end in self.timeline.spans():
            upto = min(end, now)
            if stint.starts and upto > self.claimed_upto:
                fires = list(stint.fires(max(stint.at, self.claimed_upto), upto))
                if stint.at > self.claimed_upto and stint.generation > 1:
                    # At a resume the latest slot is started, sometimes after an edit (measured).
                    fires += list(stint.fires(stint.at - HOUR, stint.at))[-1:]
                for fire in fires:
                    if fire.at.timestamp() // 60 * 7 % 11 >= self.lost:
                        key = Key(JOB, Period.of(self.cycle, fire.at, fire.zone))
                        for claim in self.claims:
                            claim(key)
        self.claimed_upto = now

    # ----------------------------------------------------------------------------- the passes

    def one_pass(self, act: Act) -> Report:
        """Make a pass."""
        self.looked = self.at
        self._claim_upto(self.at)
        off, before = act.number * SECOND, frozenset(self.paper.rows)
        listed = self.at + act.slow[0] * SECOND
        ended = listed + act.slow[1] * SECOND
        self.paper.clock = self.at + off
        watched = self.watcher.look("*", None)
        cronjobs = None if act.word == "incomplete" else self.timeline.shows(listed)
        report = Report("paper", "*")
        work = Pass(
            watcher=self.watcher,
            watched=watched,
            scope="*",
            namespaces=None,
            world=World(cronjobs=cronjobs, jobs=[], pods=[]),
            census=take_census(cronjobs or ()),
            report=report,
            launcher=self._launch,
            budget=10_000,
        )
        run(work, Span(began=self.paper.clock, ended=ended + off, last=watched.last_list))
        if cronjobs is not None and all(line.action != "stale" for line in report.lines):
            self.lists.append(listed)
            self.good += [] if self.timeline.at(listed).broken else [listed]
        self.made.append((listed, frozenset(self.paper.rows) - before))
        self.at = ended
        return report

    def _launch(self, named: Named, launch: Launch) -> str:
        assert named.job == launch.key.job
        self.started.append(launch)
        which = (launch.key, launch.generation, launch.try_, "job", "catch-up", "uid")
        self.watcher.note_launch(*which)
        return "job"


def _flipped(now: Stint, name: str) -> str | None:
    return None if name in now.values else "true"


def _later(at: datetime, wait: tuple[str, int]) -> datetime:
    how, n = wait
    if how == "half":  # around the next half hour
        return at.replace(minute=0, second=0) + (1 + at.minute // 30) * HOUR / 2 + n * SECOND
    if how == "minute":  # around the next minute
        return at.replace(second=0) + MINUTE + n * SECOND
    return at + n * {"s": SECOND, "m": MINUTE, "h": HOUR}[how]


def live(script: Script, life: Life | None = None) -> Life:
    """Let it all happen, and then some passes that see the end of it."""
    life = life or born(script)
    for act in script.acts:
        life.act(act)
    if life.timeline.now.broken:
        life.act(Act("typo", ("s", 20)))
    for hours in (0, 3) if script.cycle is Cycle.SCHEDULED else (0, 24 * 9, 24):
        life.act(Act("pass", ("h", hours)))
    return life


def born(script: Script) -> Life:
    """Return the CronJob as it is before the first act."""
    words = {"cycle": str(script.cycle), "catch-up": "every", "catch-up-max-count": "10000"}
    words |= {"grace": script.grace} if script.grace else {}
    annotations = {f"k8sjob.io/{name}": text for name, text in words.items()}
    line, paper = Timeline(annotations, marks=script.marks), PaperLedger(script.start)
    values = {"enabled-label": "true"} | ({"timeZone": script.zone} if script.zone else {})
    line.create(LONG_AGO, "helm", schedule=script.schedule, image="1", **values)
    life = Life(script.cycle, script.lost, line, paper, paper, script.start)
    life.claimed_upto = script.start
    life.claims.append(paper.claim)
    return life


# ----------------------------------------------------------------------------- what happens


def at_random(by: Random, cycles: Sequence[Cycle], schedules: Sequence[str]) -> Script:
    """Return a script: now and then there is a burst of acts, within seconds of each other."""
    bursts = [by.randint(1, 5) for _ in range(by.randint(1, 4))]
    acts = [_any_act(by, schedules, first=n == 0) for size in bursts for n in range(size)]
    return Script(
        acts,
        cycle=by.choice(cycles),
        start=by.choice(STARTS),
        schedule=by.choice(schedules),
        zone=by.choice(ZONES),
        lost=by.choice([11, 11, 5, 2]),
        marks=by.random() < 0.7,
        grace=by.choice([None, None, "5s"]),
    )


def _any_act(by: Random, schedules: Sequence[str], *, first: bool) -> Act:
    act = Act("pass", _any_wait(by) if first else ("s", by.randint(0, 30)))
    if by.random() < 0.5:
        return replace(
            act,
            word=by.choice([None, None, None, None, "incomplete"]),
            number=by.randint(-30, 30),
            slow=(by.randint(0, 4), by.choice([0, 1, 4, 60])),
        )
    return replace(
        act,
        kind=by.choice(KINDS),
        word=by.choice(schedules),
        zone=by.choice(ZONES),
        manager=by.choice(MANAGERS),
        number=by.randint(0, 60),
    )


def _any_wait(by: Random) -> tuple[str, int]:
    how = by.choice(["minute", "half", "m", "h"])
    if how == "h":
        return how, by.choice([1, 2, 3, 25])
    return how, by.randint(*{"minute": (-30, 30), "half": (-45, 45), "m": (1, 90)}[how])
