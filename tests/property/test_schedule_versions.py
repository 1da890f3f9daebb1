"""A CronJob lives, a reconciler looks at it now and then: what it calls missing was missed.

The true timeline is known here, and the reconciler sees lists of it only: whole seconds, another
clock, some lists that fail. It must hide no miss, and call nothing missed for certain that was not
meant.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import chain, pairwise
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from k8sjob.cycle import Cycle
from k8sjob.key import JobName, Key
from k8sjob.period import Period
from k8sjob.reconcile.one_pass import run
from k8sjob.reconcile.report import Report
from k8sjob.reconcile.seen import Span, World, take_census
from k8sjob.reconcile.state import Pass
from tests.property.paper_ledger import PaperLedger
from tests.property.timeline import APPLIES, FAR_OFF, SECOND, Fire, Stint, Timeline

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from k8sjob.reconcile.catch_up import Launch
    from k8sjob.reconcile.seen import Named

JOB = JobName("billing", "credit")
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
#: Clocks may be so far apart, and passes take their time: what counts as around a change.
AROUND = timedelta(seconds=75)

#: Ordinary days, and the nights when clocks change in Rome.
STARTS = [
    datetime(2026, 9, 13, 11, 58, 30, 500_000, tzinfo=UTC),
    datetime(2026, 10, 24, 22, 58, 30, 500_000, tzinfo=UTC),
    datetime(2026, 3, 28, 23, 58, 30, 500_000, tzinfo=UTC),
]
SCHEDULES = ["0 * * * *", "30 * * * *", "0,30 * * * *", "22,23,24 * * * *"]
#: Every minute is a slot of one of them, so that whatever happens happens near to one.
DENSE = ["*/3 * * * *", "1-59/3 * * * *", "2-59/3 * * * *"]
NIGHTLY = ["30 2 * * *", "0 0 * * *", "45 23 * * *"]
ZONES = [None, "Etc/UTC", "Europe/Rome", "America/New_York", "Asia/Kolkata"]
MANAGERS = ["helm", "kubectl-patch", APPLIES]


@dataclass(frozen=True)
class Act:
    """Something that happens, ``wait`` after what came before it."""

    kind: str
    wait: tuple[str, int]
    word: str | None = None
    other: str | None = None
    manager: str = "helm"
    number: int = 0
    slow: tuple[int, int] = (1, 1)


@dataclass
class Life:
    """A timeline, a reconciler's ledger, and passes over it."""

    cycle: Cycle
    lost: int
    timeline: Timeline
    ledger: PaperLedger
    at: datetime
    looked: datetime = STARTS[0]
    started: list[Launch] = field(default_factory=list)
    lists: list[datetime] = field(default_factory=list)
    good: list[datetime] = field(default_factory=list)
    claims: list[tuple[datetime, Key]] = field(default_factory=list)
    claimed: set[Period] = field(default_factory=set)
    claimed_upto: datetime | None = None
    premature: list[str] = field(default_factory=list)

    # --------------------------------------------------------------------------- the cluster

    def act(self, act: Act) -> None:  # noqa: C901  # a table of what may happen
        """Let it happen."""
        self.at = max(self.at + SECOND / 8, _later(self.at, act.wait))
        now, line = self.timeline.now, self.timeline
        if act.kind == "pass":
            self.one_pass(act)
        elif act.kind == "recreate" and not now.exists:
            values = {} if act.other is None else {"timeZone": act.other}
            suspend = {"suspend": "true"} if act.number % 3 == 0 else {}
            label = {"enabled-label": "true"} if act.number % 4 else {}
            line.create(
                self.at,
                act.manager,
                schedule=act.word or SCHEDULES[0],
                image="1",
                **values,
                **suspend,
                **label,
            )
        elif not now.exists:
            return
        elif act.kind == "delete":
            line.delete(self.at)
        elif act.kind == "edit":
            resumed = {"suspend": None} if act.number % 5 == 0 else {}
            line.write(self.at, act.manager, schedule=act.word, **resumed)
        elif act.kind == "zone":
            line.write(self.at, act.manager, timeZone=act.other)
        elif act.kind == "suspend":
            flipped = None if "suspend" in now.values else "true"
            line.write(self.at, act.manager, suspend=flipped)
        elif act.kind == "image":
            line.write(self.at, act.manager, image=f"{act.number}-{self.at}")
        elif act.kind == "annotate":
            line.write(self.at, "kubectl-annotate", team=f"{act.number}-{self.at}")
        elif act.kind == "label":
            flipped = None if "enabled-label" in now.values else "true"
            line.write(self.at, "kubectl-label", **{"enabled-label": flipped})
        elif act.kind == "typo":
            line.write(self.at, "kubectl-annotate", typo=None if now.broken else "x")

    def claim_upto(self, now: datetime) -> None:
        """Let Jobs of slots that the controller started claim their periods."""
        for stint, end in self.timeline.spans():
            upto = min(end, now)
            after = max(stint.at, self.claimed_upto or stint.at)
            if stint.starts:
                for fire in stint.fires(after, upto):
                    if fire.at.timestamp() // 60 * 7 % 11 >= self.lost:
                        self.claim(fire)
        self.claimed_upto = now

    def claim(self, fire: Fire) -> None:
        """Claim the period of a slot."""
        period = Period.of(self.cycle, fire.at, fire.zone)
        self.claimed.add(period)
        self.ledger.claim(Key(JOB, period))

    # ----------------------------------------------------------------------------- the passes

    def one_pass(self, act: Act) -> Report:
        """Make a pass; ``number`` is how far the ledger's clock is off, in seconds."""
        self.looked = self.at
        self.claim_upto(self.at)
        off = act.number * SECOND
        listed = self.at + act.slow[0] * SECOND
        ended = listed + act.slow[1] * SECOND
        self.ledger.clock = self.at + off
        watched = self.ledger.look("*", None)
        cronjobs = None if act.word == "incomplete" else self.timeline.shows(listed)
        report, rows = Report("paper", "*"), set(self.ledger.rows)
        work = Pass(
            watcher=self.ledger,
            watched=watched,
            scope="*",
            namespaces=None,
            world=World(cronjobs=cronjobs, jobs=[], pods=[]),
            census=take_census(cronjobs or ()),
            report=report,
            launcher=self._launch,
            budget=10_000,
        )
        run(work, Span(began=self.ledger.clock, ended=ended + off, last=watched.last_list))
        if cronjobs is not None and not any(line.action == "stale" for line in report.lines):
            self.lists.append(listed)
            if not self.timeline.at(listed).broken:
                self.good.append(listed)
            self.premature += self.too_early(self.ledger.rows.keys() - rows, listed)
        self.at = ended
        return report

    def too_early(self, fresh: Iterable[Key], listed: datetime) -> list[str]:
        """Return which of these periods still have a start before them."""
        stint = self.timeline.at(listed)
        if self.cycle is Cycle.ONCE or stint.broken or not (stint.starts and stint.enabled):
            return []
        return [
            f"{key.period} at {listed}"
            for key in fresh
            for fire in fires_in(stint, FAR_OFF, key.period)
            if fire.at > listed + AROUND
        ]

    def _launch(self, _named: Named, launch: Launch) -> str:
        self.started.append(launch)
        self.ledger.launched[launch.key] = launch.try_
        return "job"


def _later(at: datetime, wait: tuple[str, int]) -> datetime:
    how, n = wait
    if how == "half":  # around the next half hour
        return at.replace(minute=0, second=0) + (1 + at.minute // 30) * HOUR / 2 + n * SECOND
    if how == "minute":
        return at.replace(second=0) + (60 + n) * SECOND
    return at + n * {"s": SECOND, "m": 60 * SECOND, "h": HOUR}[how]


# -------------------------------------------------------------------------------- what holds


def no_miss_is_hidden(life: Life) -> None:
    known, tracked = life.ledger.rows, tracked_since(life)
    for stint, end in stints_of_one_meaning(life.timeline):
        if not (stint.starts and stint.enabled):
            continue
        if not any(stint.at < one < end for one in life.good):
            continue  # no list has ever shown it
        for fire in stint.fires(max(stint.at, tracked), min(end, life.at - 2 * HOUR)):
            period = Period.of(life.cycle, fire.at, fire.zone)
            if life.cycle.on_calendar and period.window(fire.zone).end > life.at - DAY:
                continue
            assert Key(JOB, period) in known, f"{period} ({fire.at}) is hidden"


def tracked_since(life: Life) -> datetime:
    """Return since when it is tracked: one that cannot be read is not, until it can be."""
    shown = [one for one in life.good if life.timeline.at(one).enabled]
    before = [one for one in life.lists if shown and one < shown[0]]
    return max([life.lists[0], *before]) + AROUND


def no_miss_is_false(life: Life) -> None:
    for text, uncertain in life.ledger.open_rows().items():
        if not uncertain:
            assert is_meant(life, Period(text)), f"{text} was not meant"


def is_meant(life: Life, period: Period) -> bool:
    return any(
        stint.starts and (stint.enabled or not any(stint.at < one < end for one in life.lists))
        for stint, end in life.timeline.spans()
        for fire in fires_in(stint, min(end, life.at), period)
    )


def fires_in(stint: Stint, end: datetime, period: Period) -> list[Fire]:
    if period.cycle is Cycle.SCHEDULED:
        at = datetime.fromisoformat(period.text)
        low, high = at - SECOND, at
    elif period.cycle is Cycle.ONCE:
        low, high = stint.at, end
    else:
        window = period.window(stint.zone)
        low, high = window.start - SECOND, window.end - SECOND
    return list(stint.fires(max(low, stint.at), min(high, end)))


def stints_of_one_meaning(line: Timeline) -> Iterator[tuple[Stint, datetime]]:
    """Return stints with their ends; those that only differ in other things are one."""
    each = list(line.spans())
    at = 0
    while at < len(each):
        stint, end = each[at]
        while at + 1 < len(each) and each[at + 1][0].meaning == stint.meaning:
            at += 1
            end = each[at][1]
        at += 1
        yield stint, end


def the_uncertain_lies_around_a_change(life: Life) -> None:
    spans = list(gaps_with_a_change(life))
    for text, uncertain in life.ledger.open_rows().items():
        if uncertain:
            fires = [
                fire.at
                for stint in life.timeline.stints
                if stint.exists
                for fire in fires_in(
                    Stint(life.lists[0] - DAY, values=stint.values), life.at, Period(text)
                )
            ]
            assert any(low <= at <= high for at in fires for low, high in spans), (
                f"{text} is uncertain without a reason"
            )


def gaps_with_a_change(life: Life) -> Iterator[tuple[datetime, datetime]]:
    lists = [life.lists[0] - DAY, *life.good]
    for low, high in pairwise(lists):
        if low < life.lists[0] or any(low < one.at <= high for one in life.timeline.stints):
            yield low - AROUND, high + AROUND


def nothing_else_is_caught_up(life: Life) -> None:
    for launch in life.started:
        assert is_meant(life, launch.key.period), f"{launch.key} was started, and was not meant"
        assert not life.ledger.rows[launch.key].uncertain


def another_pass_plans_nothing(life: Life) -> None:
    before = life.ledger.dump()
    life.at = life.looked + timedelta(microseconds=1)
    report = life.one_pass(Act("pass", ("s", 0)))
    assert {line.action for line in report.lines} <= {"waits"}
    assert life.ledger.dump() == before


# ----------------------------------------------------------------------------- what happens

waits = st.one_of(
    st.tuples(st.just("minute"), st.integers(-30, 30)),
    st.tuples(st.just("half"), st.integers(-45, 45)),
    st.tuples(st.just("m"), st.integers(1, 90)),
    st.tuples(st.just("h"), st.integers(1, 5)),
)
rarely_a_day = st.one_of(waits, waits, waits, st.just(("h", 25)))
at_once = st.tuples(st.just("s"), st.integers(0, 30))
KINDS = (
    *("edit", "edit", "edit", "edit", "zone", "zone", "suspend", "suspend", "image", "label"),
    *("annotate", "delete", "recreate", "recreate", "typo"),
)


def passes(wait: st.SearchStrategy[tuple[str, int]]) -> st.SearchStrategy[Act]:
    return st.builds(
        Act,
        kind=st.just("pass"),
        wait=wait,
        word=st.sampled_from([None, None, None, None, "incomplete"]),
        number=st.integers(-30, 30),
        slow=st.tuples(st.integers(0, 4), st.integers(0, 4)),
    )


def acts(schedules: Sequence[str], kinds: Sequence[str]) -> st.SearchStrategy[list[Act]]:
    """Return bursts of acts: some time passes, and then things happen within seconds."""
    first = st.one_of(passes(rarely_a_day), writes(schedules, kinds, waits))
    more = st.one_of(passes(at_once), writes(schedules, kinds, at_once))
    burst = st.tuples(first, st.lists(more, max_size=4)).map(lambda pair: [pair[0], *pair[1]])
    bursts = st.lists(burst, min_size=1, max_size=6)
    return bursts.map(lambda each: list(chain.from_iterable(each)))


def writes(
    schedules: Sequence[str], kinds: Sequence[str], wait: st.SearchStrategy[tuple[str, int]]
) -> st.SearchStrategy[Act]:
    return st.builds(
        Act,
        kind=st.sampled_from(kinds),
        wait=wait,
        word=st.sampled_from(schedules),
        other=st.sampled_from(ZONES),
        manager=st.sampled_from(MANAGERS),
        number=st.integers(0, 60),
    )


@dataclass(frozen=True)
class Script:
    """What happens."""

    cycle: Cycle
    start: datetime
    schedule: str
    zone: str | None
    lost: int
    marks: bool
    acts: Sequence[Act]


def scripts(
    cycles: Sequence[Cycle], schedules: Sequence[str], kinds: Sequence[str] = KINDS
) -> st.SearchStrategy[Script]:
    return st.builds(
        Script,
        cycle=st.sampled_from(cycles),
        start=st.sampled_from(STARTS),
        schedule=st.sampled_from(schedules),
        zone=st.sampled_from(ZONES),
        lost=st.sampled_from([11, 11, 5, 2]),
        marks=st.sampled_from([True, True, False]),
        acts=acts(schedules, kinds),
    )


def live(script: Script) -> Life:
    """Let it all happen, and then some passes at the end of it."""
    cycle, start = script.cycle, script.start
    annotations = {"k8sjob.io/cycle": str(cycle), "k8sjob.io/catch-up": "every"}
    annotations |= {"k8sjob.io/catch-up-max-count": "10000"}
    line = Timeline(annotations, marks=script.marks)
    line.create(
        datetime(2026, 1, 1, tzinfo=UTC),
        "helm",
        schedule=script.schedule,
        image="1",
        **{"enabled-label": "true"},
        **({"timeZone": script.zone} if script.zone else {}),
    )
    life = Life(cycle, script.lost, line, PaperLedger(start), start)
    life.claimed_upto = start
    for act in script.acts:
        life.act(act)
    if life.timeline.now.broken:
        life.act(Act("typo", ("s", 20)))
    for n in (0, 3) if cycle is Cycle.SCHEDULED else (0, 24 * 9, 24):
        life.act(Act("pass", ("h", n)))
    return life


def check(life: Life) -> None:
    no_miss_is_hidden(life)
    no_miss_is_false(life)
    the_uncertain_lies_around_a_change(life)
    nothing_else_is_caught_up(life)
    another_pass_plans_nothing(life)
    assert life.premature == []


@settings(max_examples=400)
@given(script=scripts([Cycle.SCHEDULED], SCHEDULES + DENSE + NIGHTLY))
def test_slots_are_missing_if_and_only_if_they_were_meant(script: Script) -> None:
    check(live(script))


@settings(max_examples=200)
@given(script=scripts([Cycle.DAY, Cycle.WEEK], ["0 * * * *", *NIGHTLY]))
def test_days_and_weeks_are_missing_if_and_only_if_they_were_meant(script: Script) -> None:
    check(live(script))
