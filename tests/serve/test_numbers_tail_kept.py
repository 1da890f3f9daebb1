"""What is kept of the tails from one scrape to the next hides no period, and adds none."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from k8sjob.cycle import Cycle
from k8sjob.expect import Expected, Version, expected
from k8sjob.ledger.scrape import JobFacts
from k8sjob.serve.tail import Tails

if TYPE_CHECKING:
    from collections.abc import Sequence

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)

#: Ordinary days, and nights when clocks change by an hour and by half of one.
STARTS = [
    datetime(2026, 9, 13, 11, 58, 30, tzinfo=UTC),
    datetime(2026, 10, 24, 22, 58, 30, tzinfo=UTC),
    datetime(2026, 4, 4, 13, 28, 30, tzinfo=UTC),
]
SCHEDULES = ["0 * * * *", "*/20 * * * *", "30 2 * * *", "45 2,3 * * *", "@every 90m", "0 25 * * *"]
ZONES = [None, "Europe/Rome", "Australia/Lord_Howe", "Pacific/Chatham"]
CYCLES = [Cycle.SCHEDULED, Cycle.DAY, Cycle.ONCE]


@dataclass
class World:
    """Some jobs, their schedules and marks, and the time."""

    now: datetime
    jobs: dict[str, JobFacts] = field(default_factory=dict)

    def enable(self, cycle: Cycle, expr: str, zone: str | None) -> None:
        """Track one more job."""
        name = f"ops/job-{len(self.jobs)}"
        begun = _version(1, expr, zone, self.now - HOUR, self.now)
        facts = JobFacts(name, cycle, done_until=begun.earliest_from, versions=[begun])
        self.jobs[name] = facts

    def edit(self, name: str, expr: str, zone: str | None, blur: timedelta, *, rests: bool) -> None:
        """Change a schedule, some time between ``blur`` ago and now, or suspend it."""
        job = self.jobs[name]
        *before, last = job.versions
        low = max(self.now - blur, last.valid_from)
        ended = replace(last, earliest_to=low, valid_to=self.now)
        begun = replace(_version(last.n + 1, expr, zone, low, self.now), suspended=rests)
        kept = [one for one in (*before, ended) if one.valid_to and one.valid_to > _mark(job)]
        self.jobs[name] = job._replace(versions=[*kept, begun])

    def reconcile(self, name: str, back: timedelta) -> None:
        """Move a mark to so long before now, never backwards."""
        job = self.jobs[name]
        mark = max(_mark(job), self.now - back)
        kept = [one for one in job.versions if one.valid_to is None or one.valid_to > mark]
        self.jobs[name] = job._replace(done_until=mark, versions=kept)


def _version(n: int, expr: str, zone: str | None, low: datetime, high: datetime) -> Version:
    return Version(n=n, expr=expr, zone=zone, earliest_from=low, valid_from=high)


def _mark(job: JobFacts) -> datetime:
    assert job.done_until
    return job.done_until


def asked_anew(job: JobFacts, now: datetime) -> list[Expected]:
    """Return what the schedule names, from nothing that was kept."""
    versions = [one for one in job.versions if one.expr not in {"@every 90m", "0 25 * * *"}]
    found = expected(versions, job.kind, after=_mark(job), upto=now, grace_s=job.grace_s)
    return [one for one in found if str(one.period) > (job.floor or "")]


def seen(each: Sequence[Expected]) -> list[Any]:
    """Return what a scrape takes from them."""
    return [(one.period, one.scheduled_for, one.deadline, one.uncertain) for one in each]


exprs, zones, which = st.sampled_from(SCHEDULES), st.sampled_from(ZONES), st.integers(0, 9)
minutes, seconds = st.integers(0, 600), st.integers(1, 7200)
acts = st.one_of(
    st.tuples(st.just("enable"), st.sampled_from(CYCLES), exprs, zones),
    st.tuples(st.just("edit"), which, exprs, zones, st.integers(0, 300), st.booleans()),
    st.tuples(st.just("reconcile"), which, minutes),
    st.tuples(st.just("grace"), which, st.sampled_from([None, 60, 7200])),
    st.tuples(st.just("floor"), which, minutes),
    st.tuples(st.just("wait"), seconds),
    st.tuples(st.just("wait"), seconds),
    st.tuples(st.just("back"), seconds),
)


def act(world: World, what: tuple[Any, ...]) -> None:
    """Let it happen, if there is a job that it can happen to."""
    kind, *rest = what
    if kind == "enable":
        world.enable(*rest)
    elif kind in {"wait", "back"}:
        (seconds,) = rest
        world.now += timedelta(seconds=seconds if kind == "wait" else -seconds)
    elif world.jobs:
        name = sorted(world.jobs)[rest[0] % len(world.jobs)]
        job = world.jobs[name]
        if kind == "edit":
            world.edit(name, rest[1], rest[2], rest[3] * MINUTE, rests=rest[4])
        elif kind == "reconcile":
            world.reconcile(name, rest[1] * MINUTE)
        elif kind == "grace":
            world.jobs[name] = job._replace(grace_s=rest[1])
        elif kind == "floor" and job.kind is Cycle.SCHEDULED:
            floor = f"{world.now - rest[1] * MINUTE:%Y-%m-%dT%H:%M:%SZ}"
            world.jobs[name] = job._replace(floor=floor)


@given(st.sampled_from(STARTS), st.lists(acts, min_size=2, max_size=25))
def test_what_is_kept_is_what_would_be_worked_out_anew(
    start: datetime, story: list[tuple[Any, ...]]
) -> None:
    world, tails = World(start), Tails()
    world.enable(Cycle.SCHEDULED, "*/20 * * * *", None)
    for what in story:
        act(world, what)
        beyond = tails(list(world.jobs.values()), world.now)
        for name, job in world.jobs.items():
            anew = asked_anew(job, world.now)
            assert seen(beyond.fired.get(name, ())) == seen(anew)
            event("none fired" if not anew else "uncertain" if anew[-1].uncertain else "fired")
        assert beyond.truncated == frozenset()


@given(
    st.sampled_from(STARTS),
    st.lists(acts, min_size=2, max_size=25),
    st.integers(1, 20),
    st.integers(1, 30),
)
def test_where_not_all_is_kept_it_is_the_oldest_and_told(
    start: datetime, story: list[tuple[Any, ...]], most: int, most_of_all: int
) -> None:
    world, tails = World(start), Tails(most, most_of_all)
    for _ in range(3):
        world.enable(Cycle.SCHEDULED, "*/20 * * * *", None)
    for what in story:
        act(world, what)
        beyond = tails(list(world.jobs.values()), world.now)
        for name, job in world.jobs.items():
            fired, anew = seen(beyond.fired.get(name, ())), seen(asked_anew(job, world.now))
            if name not in beyond.truncated:
                assert fired == anew
            elif job.kind is not Cycle.ONCE:
                assert fired == anew[: len(fired)]
                assert 1 <= len(fired) < len(anew)
            assert len(fired) <= most


def test_few_jobs_share_what_the_others_need_not() -> None:
    start = STARTS[0]
    world, tails = World(start), Tails(most_of_all=60)
    for expr in ("*/20 * * * *", "0 * * * *", "30 2 * * *"):
        world.enable(Cycle.SCHEDULED, expr, None)
    world.now = start + 15 * HOUR
    beyond = tails(list(world.jobs.values()), world.now)
    assert [len(each) for each in beyond.fired.values()] == [43, 16, 1]
    assert beyond.truncated == {"ops/job-0"}


def test_jobs_that_are_gone_are_forgotten() -> None:
    world, tails = World(STARTS[0]), Tails()
    world.enable(Cycle.SCHEDULED, "0 * * * *", None)
    assert len(tails(list(world.jobs.values()), STARTS[0] + DAY).fired["ops/job-0"]) == 24 + 1
    assert tails([], STARTS[0] + DAY).fired == {}
    assert not tails._tails  # noqa: SLF001  # what would grow for ever


@pytest.mark.parametrize(
    ("expr", "after"),
    [("0 0 29 2 *", "2028-02-29T00:00:00Z"), ("0 0 30 2 *", None), ("@every 5m", None)],
)
def test_a_job_fires_next_by_the_schedule_in_force(expr: str, after: str | None) -> None:
    world, tails = World(STARTS[0]), Tails()
    world.enable(Cycle.SCHEDULED, expr, None)
    for days in (0, 1, 400):
        beyond = tails(list(world.jobs.values()), STARTS[0] + days * DAY)
        assert beyond.next_fire.get("ops/job-0") == (after and datetime.fromisoformat(after))
