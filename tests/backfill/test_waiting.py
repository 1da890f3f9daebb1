"""Some at a time, and how each ended: its row tells, which its Job's condition may contradict."""

from __future__ import annotations

import pytest

from k8sjob.backfill import apply
from tests.backfill.conftest import JOB, World, day, name


def running(world: World) -> int:
    return sum("conditions" not in job["status"] for job in world.api.jobs())


def test_one_runs_at_a_time_unless_more_are_asked_for(world: World) -> None:
    most: list[int] = []

    def meanwhile() -> None:
        most.append(running(world))
        world.finish()

    world.meanwhile = meanwhile
    assert world.call("--from", day(4), "--to", day(1)).code == 0
    assert (most, len(world.api.jobs())) == ([1, 1, 1], 4)


def test_as_many_run_as_are_asked_for_and_the_oldest_go_first(world: World) -> None:
    order: list[list[str]] = []

    def meanwhile() -> None:
        order.append(world.api.job_names())
        world.finish()

    world.meanwhile = meanwhile
    world.call("--from", day(5), "--to", day(1), "--parallelism", "2")
    assert order == [[name(5), name(4)], [name(5), name(4), name(3), name(2)]]
    assert running(world) == 1  # it does not stay for the last


def test_backfills_of_others_count_too(world: World) -> None:
    world.call("--from", day(3), "--to", day(3))
    seen: list[list[str]] = []

    def meanwhile() -> None:
        seen.append(world.api.job_names())
        world.finish()

    world.meanwhile = meanwhile
    world.call("--from", day(2), "--to", day(2))
    assert seen == [[name(3)]]
    assert world.api.job_names() == [name(3), name(2)]


def test_wait_stays_for_the_last_and_tells_each_end(world: World) -> None:
    world.meanwhile = world.finish
    told = world.call("--from", day(2), "--to", day(1), "--wait")
    assert told.code == 0
    assert told.err.splitlines() == [
        f"{day(2)}  Job {name(2)} created",
        f"{day(2)}  done",
        f"{day(1)}  Job {name(1)} created",
        f"{day(1)}  done",
        "2 created; 2 done, 0 not done",
    ]


def test_wait_stays_for_what_runs_already(world: World) -> None:
    world.call("--from", day(1), "--to", day(1))
    world.meanwhile = world.finish
    told = world.call("--from", day(1), "--to", day(1), "--wait")
    assert (told.code, told.err.splitlines()) == (
        0,
        [f"{day(1)}  done", "1 under way; 1 done, 0 not done"],
    )


def test_wait_stays_for_an_attempt_that_is_no_job_of_ours(world: World) -> None:
    attempt = "0199a1c4-0000-7000-8000-000000000001"
    start = "SELECT k8sjob.start_attempt(%s, %s, %s, 'callable', 'context', '0.1.0')"
    with world.db.connect("runner") as runner:
        runner.execute(start, (attempt, JOB, day(1)))
    world.meanwhile = lambda: world.done(day(1)) if len(world.pauses) == 3 else None
    told = world.call("--from", day(1), "--to", day(1), "--wait")
    assert told.lines[0][1] == "wait"
    assert (told.code, len(world.pauses)) == (0, 3)
    assert told.err.splitlines() == [f"{day(1)}  done", "1 under way; 1 done, 0 not done"]


def test_a_job_that_failed_leaves_its_period_undone_and_ends_with_1(world: World) -> None:
    world.meanwhile = lambda: world.finish(well=False)
    told = world.call("--from", day(2), "--to", day(1), "--wait")
    assert told.code == 1
    assert f"{day(2)}  not done; Job {name(2)} is Failed: BackoffLimitExceeded" in told.err
    assert len(world.api.jobs()) == 2  # the other period had its chance
    assert told.err.endswith("2 created; 0 done, 2 not done\n")


def test_a_job_that_goes_on_trying_is_no_silence(world: World) -> None:
    failed = iter([0, 1, 1, 3])

    def meanwhile() -> None:
        if (pods := next(failed, None)) is None:
            world.finish()
        else:
            world.api.jobs()[0]["status"]["failed"] = pods

    world.meanwhile = meanwhile
    told = world.call("--from", day(1), "--to", day(1), "--wait")
    assert told.code == 0
    why = f"failed so far; why: k8sjob describe billing/credit:{day(1)}"
    assert told.err.splitlines()[1:4] == [
        f"{day(1)}  Job {name(1)}: 1 try has {why}",
        f"{day(1)}  Job {name(1)}: 3 tries have {why}",
        f"{day(1)}  done",
    ]


def test_a_failure_seen_on_the_way_ends_with_1_without_waiting_too(world: World) -> None:
    world.meanwhile = lambda: world.finish(well=False)
    told = world.call("--from", day(2), "--to", day(1))
    assert told.code == 1
    assert f"{day(2)}  not done; Job {name(2)} is Failed" in told.err


def test_a_complete_job_whose_period_is_not_done_is_a_contradiction(world: World) -> None:
    world.meanwhile = lambda: world.end(name(1))
    told = world.call("--from", day(1), "--to", day(1), "--wait")
    assert told.code == 1
    assert f"{day(1)}  not done; Job {name(1)} is Complete" in told.err


def test_a_failed_job_whose_period_is_done_is_one_as_well_and_the_row_decides(
    world: World,
) -> None:
    def meanwhile() -> None:
        world.done(day(1))
        world.end(name(1), "Failed", reason="DeadlineExceeded")

    world.meanwhile = meanwhile
    told = world.call("--from", day(1), "--to", day(1), "--wait")
    assert told.code == 0
    assert f"{day(1)}  done, though Job {name(1)} is Failed: DeadlineExceeded" in told.err


def test_a_job_that_is_gone_before_anybody_looked_is_judged_by_the_row(world: World) -> None:
    def meanwhile() -> None:
        world.done(day(1))
        world.api.remove("jobs", "billing", name(1))

    world.meanwhile = meanwhile
    told = world.call("--from", day(1), "--to", day(1), "--wait")
    assert (told.code, f"{day(1)}  done, though its Job is gone" in told.err) == (0, True)


@pytest.mark.parametrize(
    ("decision", "code", "said"),
    [
        ("block", 1, "blocked: card declined; Job"),
        ("skip", 0, "skipped: card declined; Job"),
    ],
)
def test_what_the_run_decided_is_told(world: World, decision: str, code: int, said: str) -> None:
    def meanwhile() -> None:
        query = f"SELECT k8sjob.{decision}(%s, %s, 'card declined')"
        with world.db.connect("runner") as runner:
            runner.execute(query.encode(), (JOB, day(1)))
        world.end(name(1))

    world.meanwhile = meanwhile
    told = world.call("--from", day(1), "--to", day(1), "--wait")
    assert told.code == code
    assert f"{day(1)}  {said}" in told.err


def test_a_job_whose_pod_still_terminates_is_waited_for(world: World) -> None:
    def meanwhile() -> None:
        if len(world.pauses) == 1:
            world.end(name(1), "Failed")
            world.api.jobs()[0]["status"]["terminating"] = 1
        if len(world.pauses) == 2:
            world.done(day(1))
            world.api.jobs()[0]["status"]["terminating"] = 0

    world.meanwhile = meanwhile
    told = world.call("--from", day(1), "--to", day(1), "--wait")
    assert (told.code, len(world.pauses)) == (0, 2)


def test_a_period_that_was_done_meanwhile_gets_no_job(world: World) -> None:
    def meanwhile() -> None:
        world.done(day(1))
        world.finish()

    world.meanwhile = meanwhile
    told = world.call("--from", day(2), "--to", day(1))
    assert (told.code, world.api.job_names()) == (0, [name(2)])
    assert f"{day(1)}  not created any more: done " in told.err
    assert told.err.endswith("1 created, 1 skipped\n")


def test_a_timeout_ends_the_waiting_and_leaves_what_runs(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticks = iter(range(0, 1000, 10))
    monkeypatch.setattr(apply, "_clock", lambda: next(ticks))
    world.meanwhile = lambda: None
    told = world.call("--from", day(2), "--to", day(1), "--wait", "--timeout", "30s")
    assert told.code == 1
    assert told.err.splitlines()[1:] == [
        f"{day(2)}  Job {name(2)} is still under way",
        f"{day(1)}  not begun",
        "1 created; 0 done, 2 not done",
    ]
    assert (world.api.job_names(), len(world.pauses)) == ([name(2)], 2)


def test_looks_become_rarer_while_nothing_happens(world: World) -> None:
    world.meanwhile = lambda: world.finish() if len(world.pauses) == 9 else None
    world.call("--from", day(1), "--to", day(1), "--wait")
    assert world.pauses[0] == 1
    assert world.pauses == sorted(world.pauses)
    assert world.pauses[-1] == 10


def test_a_person_who_stops_it_is_told_how_to_go_on(world: World) -> None:
    def meanwhile() -> None:
        raise KeyboardInterrupt

    world.meanwhile = meanwhile
    told = world.call("--from", day(3), "--to", day(1), "--wait", "--parallelism", "2")
    assert told.code == 130
    again = f"k8sjob backfill billing/credit --from {day(3)} --to {day(1)} --wait --parallelism 2"
    assert told.err.splitlines()[-3:] == [
        "stopped: 2 of 3 Jobs created; they go on by themselves",
        f"To go on: {again}",
        "k8sjob: stopped",
    ]
    assert len(world.api.jobs()) == 2


def test_an_api_that_cannot_be_asked_for_a_while_changes_nothing(world: World) -> None:
    def meanwhile() -> None:
        world.api.fail("list", "jobs", 410, times=99)

    world.meanwhile = meanwhile
    told = world.call("--from", day(1), "--to", day(1), "--wait")
    assert told.code == 75
    assert "stopped: 1 of 1 Job created; it goes on by itself" in told.err
    world.api.faults.clear()
    world.meanwhile = world.finish
    assert world.call("--from", day(1), "--to", day(1), "--wait").code == 0
