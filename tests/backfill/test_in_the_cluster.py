"""Jobs are created as the plan says, and what can be done next is said."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from k8sjob.kube import words
from tests.backfill.conftest import JOB, World, day, name
from tests.kube.made import cronjob, job, template

if TYPE_CHECKING:
    from tests.template import Role


def test_a_dry_run_says_what_would_be_done_and_does_nothing(world: World) -> None:
    world.done(day(3))
    told = world.call("--from", day(3), "--to", day(1)[:10], "--dry-run")
    assert told.out.splitlines()[0].split() == ["PERIOD", "ACTION", "JOB", "REASON"]
    assert [line[:3] for line in told.lines] == [
        [day(3), "skip", "-"],
        [day(2), "create", name(2)],
        [day(1), "create", name(1)],
    ]
    assert told.err.splitlines() == ["2 to create, 1 skipped (dry run: nothing was created)"]
    assert (told.code, world.api.jobs(), world.launches()) == (0, [], [])


def test_the_real_run_prints_the_same_lines_and_creates_the_jobs(world: World) -> None:
    world.done(day(3))
    dry = world.call("--from", day(3), "--to", day(1), "--dry-run", "--parallelism", "5")
    told = world.call("--from", day(3), "--to", day(1), "--parallelism", "5")
    assert (told.code, told.out) == (0, dry.out)
    assert world.api.job_names() == [name(2), name(1)]
    assert told.err.splitlines() == [
        f"{day(2)}  Job {name(2)} created",
        f"{day(1)}  Job {name(1)} created",
        "2 created, 1 skipped",
    ]


def test_a_job_is_the_template_with_the_period_on_it(world: World) -> None:
    world.call("--from", day(1), "--to", day(1))
    (made,) = world.api.jobs()
    assert made["spec"] == template()["spec"] | {"ttlSecondsAfterFinished": 86_400}
    assert made["metadata"]["annotations"] == {
        "team.example.com/owner": "billing",
        words.JOB: JOB,
        words.PERIOD: day(1),
    }
    assert made["metadata"]["labels"] == {
        "app": "credit",
        words.BACKFILL: "true",
        words.CRONJOB: "credit",
    }


def test_a_job_is_noted_with_who_has_made_it(world: World) -> None:
    world.call("--from", day(1), "--to", day(1), "--by", "alice")
    assert world.launches() == [(day(1), 0, 1, name(1), True, "backfill by alice")]


def test_the_same_command_again_creates_nothing_more(world: World) -> None:
    flags = ("--from", day(2), "--to", day(1), "--parallelism", "2")
    world.call(*flags)
    told = world.call(*flags)
    assert (told.code, len(world.api.jobs())) == (0, 2)
    assert [line[1:] for line in told.lines] == [
        ["wait", name(2), "runs already"],
        ["wait", name(1), "runs already"],
    ]
    assert told.err == "2 under way\n"


def test_a_job_that_failed_is_followed_by_the_next_number(world: World) -> None:
    flags = ("--from", day(1), "--to", day(1))
    world.call(*flags)
    world.finish(well=False)
    told = world.call(*flags)
    assert told.code == 0
    assert f"{name(1)} failed: BackoffLimitExceeded" in told.out
    assert world.api.job_names() == [name(1), name(1, 2)]
    assert [row[2] for row in world.launches()] == [1, 2]


def test_a_job_that_is_gone_is_followed_by_the_next_number(world: World) -> None:
    flags = ("--from", day(1), "--to", day(1))
    world.call(*flags)
    world.api.remove("jobs", "billing", name(1))
    world.call(*flags)
    assert world.api.job_names() == [name(1, 2)]


def test_a_period_that_was_reopened_gets_a_job_of_its_generation(world: World) -> None:
    world.done(day(1))
    world.admin.execute("SELECT k8sjob.reopen(%s, %s, 'wrong account', 'alice')", (JOB, day(1)))
    told = world.call("--from", day(1), "--to", day(1))
    assert told.lines[0][2:] == [name(1, 1, 1), "due: wrong account"]
    assert world.api.job_names() == [name(1, 1, 1)]


def test_missing_takes_the_open_periods(world: World) -> None:
    world.done(day(3), day(2))
    world.admin.execute("SELECT k8sjob.reopen(%s, %s, 'again', 'alice')", (JOB, day(2)))
    told = world.call("--missing")
    assert world.api.job_names() == [name(2, 1, 1)]
    assert "only open ones are known to be missing" in told.err


def test_missing_takes_what_the_reconciler_has_not_come_to_yet(world: World) -> None:
    world.admin.execute(
        "INSERT INTO k8sjob.jobs (job, tracked_since, done_until) VALUES (%s, %s, %s)",
        (JOB, day(20), day(3)),
    )
    world.admin.execute("INSERT INTO k8sjob.gate (job, kind) VALUES (%s, 'scheduled')", (JOB,))
    world.admin.execute(
        "INSERT INTO k8sjob.schedule_versions (job, n, expr, zone, earliest_from, valid_from) "
        "VALUES (%s, 1, '0 0 * * *', 'Etc/UTC', %s, %s)",
        (JOB, day(20), day(20)),
    )
    world.done(day(2))
    told = world.call("--missing", "--parallelism", "9")
    assert told.code == 0
    assert [line[:2] for line in told.lines][:2] == [[day(2), "skip"], [day(1), "create"]]
    assert name(1) in world.api.job_names()
    assert name(3) not in world.api.job_names()


def test_nothing_to_do_is_said(world: World) -> None:
    told = world.call("--missing")
    assert (told.code, told.out) == (0, "")
    assert told.err.splitlines()[-1] == "nothing to do"


def test_a_refused_period_ends_with_1_and_keeps_no_other_from_it(world: World) -> None:
    told = world.call("--from", day(1), "--to", day(-2), "--parallelism", "9")
    assert told.code == 1
    assert [line[1] for line in told.lines] == ["create", "create", "refuse", "refuse"]
    assert len(world.api.jobs()) == 2
    assert told.err.endswith("2 created, 2 refused\n")


def test_a_bound_is_told_and_the_rest_is_left(world: World) -> None:
    told = world.call("--from", day(3), "--to", day(1), "--max", "2", "--parallelism", "9")
    assert [line[1] for line in told.lines] == ["create", "create", "left"]
    assert told.err.endswith("2 created, 1 left for another time\n")
    assert (told.code, len(world.api.jobs())) == (0, 2)


def test_a_foreign_job_of_that_name_is_an_error_and_the_others_go_on(world: World) -> None:
    world.api.add(job(f"billing/{name(2)}"))
    told = world.call("--from", day(2), "--to", day(1), "--parallelism", "9")
    assert told.code == 1
    assert f"a Job called billing/{name(2)} is there already, and it is no backfill" in told.err
    assert f"kubectl describe job -n billing {name(2)}" in told.err
    assert name(1) in world.api.job_names()


def test_names_alone_are_printed_for_a_program(world: World) -> None:
    flags = ("--from", day(1), "--to", day(1), "-o", "name")
    dry = world.call(*flags, "--dry-run")
    told = world.call(*flags)
    assert told.out == dry.out == f"job.batch/{name(1)}\n"


def test_json_is_a_list_for_kubectl_and_creates_nothing(world: World) -> None:
    world.done(day(2))
    told = world.call("--from", day(2), "--to", day(1), "-o", "json", role="reader")
    assert (told.code, world.api.jobs(), world.launches()) == (0, [], [])
    listed = told.json
    assert (listed["apiVersion"], listed["kind"]) == ("v1", "List")
    (manifest,) = listed["items"]
    assert (manifest["metadata"]["name"], manifest["kind"]) == (name(1), "Job")
    assert f"{day(2)}  skip: done" in told.err


def test_a_job_that_kubectl_made_of_the_list_is_known_again(world: World) -> None:
    flags = ("--from", day(1), "--to", day(1))
    (manifest,) = world.call(*flags, "-o", "json").json["items"]
    manifest["metadata"] |= {"uid": "1", "creationTimestamp": day(0)}
    world.api.add(manifest | {"status": {}})
    assert world.call(*flags).lines[0][1:3] == ["wait", name(1)]


def test_a_ledger_that_the_user_may_only_read_is_no_hindrance(world: World) -> None:
    told = world.call("--from", day(2), "--to", day(1), "--parallelism", "2", role="reader")
    assert (told.code, world.launches()) == (0, [])
    assert world.api.job_names() == [name(2), name(1)]
    assert "warning: this user may not note Jobs in the ledger" in told.err
    assert "k8sjob migrate --grant-operator ROLE" in told.err


def test_a_dry_run_asks_for_no_more_rights_than_to_look(world: World) -> None:
    world.api.rules = {("get", "cronjobs"), ("list", "jobs")}
    told = world.call("--from", day(1), "--to", day(1), "--dry-run", role="reader")
    assert told.code == 0


def test_these_rights_are_all_that_it_needs(world: World) -> None:
    world.api.rules = {
        ("get", "cronjobs"),
        ("create", "jobs"),
        ("get", "jobs"),
        ("list", "jobs"),
    }
    world.meanwhile = world.finish
    told = world.call("--from", day(2), "--to", day(1), "--wait")
    assert told.code == 0, told.err
    assert set(world.api.asked()) <= world.api.rules


@pytest.mark.parametrize("right", [("get", "cronjobs"), ("create", "jobs"), ("list", "jobs")])
def test_a_right_that_is_missing_is_named(world: World, right: tuple[str, str]) -> None:
    world.api.rules = {
        ("get", "cronjobs"),
        ("create", "jobs"),
        ("get", "jobs"),
        ("list", "jobs"),
    } - {right}
    told = world.call("--from", day(1), "--to", day(1))
    assert told.code == 77
    assert f'resources: ["{right[1]}"], verbs: ["{right[0]}"]' in told.err


def test_a_cronjob_that_is_gone_leaves_runs_in_this_process(world: World) -> None:
    world.api.remove("cronjobs", "billing", "credit")
    told = world.call("--from", day(1), "--to", day(1))
    assert told.code == 1
    assert "there is no cronjob billing/credit" in told.err
    assert "k8sjob backfill billing/credit … --local TARGET" in told.err


def test_a_renamed_cronjob_is_found_by_what_the_reconciler_saw(world: World) -> None:
    world.api.remove("cronjobs", "billing", "credit")
    renamed = cronjob(
        "billing/credit-v2", "0 0 * * *", annotations={words.JOB: JOB}, created=day(30)
    )
    world.api.add(renamed)
    world.admin.execute("INSERT INTO k8sjob.jobs (job, cronjob) VALUES (%s, 'credit-v2')", (JOB,))
    told = world.call("--from", day(1), "--to", day(1))
    assert told.code == 0, told.err
    (made,) = world.api.jobs()
    assert made["metadata"]["labels"][words.CRONJOB] == "credit-v2"
    assert made["metadata"]["annotations"][words.JOB] == JOB


def test_a_cronjob_that_got_its_first_name_back_is_found(world: World) -> None:
    world.admin.execute("INSERT INTO k8sjob.jobs (job, cronjob) VALUES (%s, 'credit-v2')", (JOB,))
    assert world.call("--from", day(1), "--to", day(1), "--dry-run").code == 0


@pytest.mark.parametrize("role", ["operator", "reader"])
def test_a_ledger_without_a_schema_says_so(world: World, role: Role) -> None:
    world.admin.execute("DROP SCHEMA k8sjob CASCADE")
    told = world.call("--from", day(1), "--to", day(1), role=role)
    assert told.code == 75
    assert "k8sjob migrate" in told.err


def test_an_api_that_is_away_creates_nothing_and_says_how_to_go_on(world: World) -> None:
    world.api.fail("create", "jobs", 422, after=1)
    told = world.call("--from", day(2), "--to", day(1), "--parallelism", "2")
    assert told.code == 1
    assert "stopped: 1 of 2 Jobs created; it goes on by itself" in told.err
    assert (
        f"To go on: k8sjob backfill billing/credit --from {day(2)} --to {day(1)} --parallelism 2"
        in told.err
    )
