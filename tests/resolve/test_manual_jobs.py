"""``kubectl create job --from=cronjob/…``: neither a slot nor a backfill."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from k8sjob.cycle import Cycle
from k8sjob.errors import ConfigError, NoPeriod, Unavailable
from k8sjob.expect import Version
from k8sjob.ledger.known import Resolution
from k8sjob.period import Period
from tests.resolve.world import AT, NOW, POD, UID, World, find, job, ledger

NAME = "by-hand"
ENV = POD | {"K8SJOB_JOB_NAME": NAME}
HOURLY = Version(
    n=1, expr="0 * * * *", zone="Etc/UTC", earliest_from=AT - timedelta(days=9),
    valid_from=AT - timedelta(days=9),
)  # fmt: skip


def at(*hours: int) -> list[Period]:
    """Return the periods so many hours before the slot."""
    return sorted(Period.at(AT - timedelta(hours=hour)) for hour in hours)


def manual(policy: str | None = None, **facts: object) -> World:
    limits = {"manual_runs": policy} if policy else {}
    return World(job=job(NAME), known_of=ledger(limits=limits, **facts))


def test_a_manual_job_is_refused_and_told_what_to_pass() -> None:
    with pytest.raises(NoPeriod) as refused:
        find(manual(), ENV)

    told = str(refused.value)
    assert "Job by-hand was made by hand" in told
    assert "Nothing was done" in told
    assert "--period" in told
    assert "k8sjob backfill billing/daily-credit --from P --to P" in told
    assert "k8sjob.io/manual-runs: oldest-missing" in told
    assert refused.value.exit_code == 66


def test_each_source_in_vain_has_a_line() -> None:
    with pytest.raises(NoPeriod) as refused:
        find(manual(), ENV)

    lines = str(refused.value).splitlines()
    for source in ("--period", "K8SJOB_CONTEXT", "the ledger", "annotation k8sjob.io/period"):
        assert any(line.startswith(f"  {source}") for line in lines), source


@pytest.mark.parametrize(
    ("policy", "chosen"), [("oldest-missing", at(30)), ("latest-missing", at(2))]
)
def test_the_policy_chooses_among_the_open_periods(policy: str, chosen: list[Period]) -> None:
    world = manual(policy)
    world.missing_of = at(30, 5, 2)

    found = find(world, ENV)

    assert ([found.period], found.source) == (chosen, f"manual {policy}")


def test_the_variable_wins_over_the_annotation() -> None:
    world = manual("oldest-missing")
    world.missing_of = at(30, 2)

    assert [find(world, ENV | {"K8SJOB_MANUAL_RUNS": "latest-missing"}).period] == at(2)
    with pytest.raises(NoPeriod):
        find(manual("oldest-missing"), ENV | {"K8SJOB_MANUAL_RUNS": "refuse"})


@pytest.mark.parametrize("policy", ["oldest-missing", "latest-missing"])
def test_another_kind_of_period_than_the_jobs_is_refused(policy: str) -> None:
    mark = AT - timedelta(hours=5)
    world = manual(policy, versions=[HOURLY], done_until=mark, cycle=Cycle.DAY)
    world.missing_of = [Period("2026-09-10")]

    with pytest.raises(ConfigError, match=r"daily-credit has periods of kind day, .* scheduled"):
        find(world, ENV | {"K8SJOB_CYCLE": "scheduled"})


def test_what_no_pass_has_looked_at_yet_is_missing_too() -> None:
    mark = AT - timedelta(hours=5)
    world = manual("oldest-missing", versions=[HOURLY], done_until=mark)
    world.rows = at(4)

    assert [find(world, ENV).period] == at(3)


def test_a_period_whose_deadline_has_not_passed_is_not_missing() -> None:
    # Half the gap of an hour is its grace; it is a minute past the slot.
    world = manual("latest-missing", versions=[HOURLY], done_until=AT - timedelta(hours=5))

    assert [find(world, ENV).period] == at(1)


def test_the_jobs_own_grace_counts() -> None:
    mark = AT - timedelta(hours=5)
    world = manual("latest-missing", versions=[HOURLY], done_until=mark, grace_s=30.0)

    assert [find(world, ENV).period] == at(0)


@pytest.mark.parametrize("policy", ["oldest-missing", "latest-missing"])
def test_open_rows_and_the_tail_are_one_list(policy: str) -> None:
    mark = AT - timedelta(hours=3)
    world = manual(policy, versions=[HOURLY], done_until=mark)
    world.missing_of = at(40)

    assert [find(world, ENV).period] == (at(40) if policy == "oldest-missing" else at(1))


@pytest.mark.parametrize("policy", ["oldest-missing", "latest-missing"])
def test_a_long_tail_is_asked_for_some_at_a_time(policy: str) -> None:
    minutely = Version(
        n=1, expr="* * * * *", zone="Etc/UTC", earliest_from=AT - timedelta(days=9),
        valid_from=AT - timedelta(days=9),
    )  # fmt: skip
    mark = AT - timedelta(hours=24)
    world = manual(policy, versions=[minutely], done_until=mark)
    every = [Period.at(mark + timedelta(minutes=n)) for n in range(1, 1441)]
    free = every[700]
    world.rows = [period for period in every if period != free]

    assert find(world, ENV).period == free


def test_the_latest_is_the_latest_though_a_whole_batch_is_done() -> None:
    minutely = Version(
        n=1, expr="* * * * *", zone="Etc/UTC", earliest_from=AT - timedelta(days=9),
        valid_from=AT - timedelta(days=9),
    )  # fmt: skip
    mark = AT - timedelta(hours=24)
    world = manual("latest-missing", versions=[minutely], done_until=mark)
    every = [Period.at(mark + timedelta(minutes=n)) for n in range(1, 1441)]
    world.rows = [period for period in every if period != every[100]]
    world.missing_of = at(100)  # older than all of the tail

    assert find(world, ENV).period == every[100]


def test_uncertain_periods_are_never_chosen() -> None:
    edited = Version(
        n=1, expr="0 * * * *", zone="Etc/UTC", earliest_from=AT - timedelta(hours=9),
        valid_from=AT - timedelta(minutes=30),
    )  # fmt: skip
    world = manual("oldest-missing", versions=[edited], done_until=AT - timedelta(hours=9))

    with pytest.raises(NoPeriod, match="uncertain"):
        find(world, ENV)


def test_nothing_missing_is_said_so() -> None:
    with pytest.raises(NoPeriod, match="no period is missing"):
        find(manual("oldest-missing"), ENV)


def test_natural_periods_are_chosen_alike() -> None:
    world = manual(
        "oldest-missing", versions=[HOURLY], done_until=AT - timedelta(days=3), zone="Etc/UTC",
        cycle=Cycle.DAY,
    )  # fmt: skip
    world.rows = [Period.parse("2026-09-10")]

    assert str(find(world, ENV).period) == "2026-09-11"


def test_a_job_that_is_not_tracked_has_its_open_rows_only() -> None:
    world = manual("oldest-missing")
    world.missing_of = at(7)

    assert [find(world, ENV).period] == at(7)


# ------------------------------------------------------------------------------------- retries


def test_a_retry_gets_the_same_period_though_the_policy_has_changed_its_answer() -> None:
    world = manual("oldest-missing")
    world.missing_of = at(30, 2)
    first = find(world, ENV)
    world.missing_of = at(2)  # the first Pod has done the oldest, or somebody else has
    world.known_of = ledger(limits={})  # and by now manual runs are refused

    second = find(world, ENV)

    assert second.key == first.key
    assert second.source == "remembered (manual oldest-missing)"


def test_a_retry_is_known_by_the_uid_of_the_api_too() -> None:
    env = {name: value for name, value in ENV.items() if name != "K8SJOB_JOB_UID"}
    world = manual("oldest-missing")
    world.missing_of = at(30)
    first = find(world, env)
    world.missing_of, world.known_of = [], ledger(limits={})

    assert first.job_uid == UID
    assert find(world, env).key == first.key


def test_of_two_pods_that_resolve_at_once_the_first_is_right() -> None:
    world = manual("latest-missing")
    world.missing_of = at(2)
    (other,) = at(5)

    class Meanwhile(World):
        def remember(self, job_uid: str, resolution: Resolution) -> Resolution | None:
            self.kept[job_uid] = Resolution(resolution.job, other, "manual latest-missing")
            return super().remember(job_uid, resolution)

    racing = Meanwhile(job=world.job, known_of=world.known_of, missing_of=world.missing_of)

    found = find(racing, ENV)

    assert (found.period, found.source) == (other, "remembered (manual latest-missing)")


# ----------------------------------------------------------------------------- without a ledger


def test_without_a_ledger_the_policies_are_passed_over() -> None:
    with pytest.raises(NoPeriod, match="only a ledger tells, and none is at hand"):
        find(World(job=job(NAME)), ENV | {"K8SJOB_MANUAL_RUNS": "oldest-missing"})


def test_a_ledger_that_is_away_may_tell_later() -> None:
    away = Unavailable("the ledger cannot be reached: timeout\n  Nothing was changed.")

    with pytest.raises(Unavailable, match="the ledger cannot be reached") as refused:
        find(World(job=job(NAME), ledger_away=away), ENV)

    assert refused.value.exit_code == 69


def test_now_is_nobodys_period() -> None:
    assert datetime.now(UTC) > NOW or NOW > AT  # the examples are of another day than today
    with pytest.raises(NoPeriod):
        find(World(job=job(NAME, TIMESTAMP="")), ENV)
