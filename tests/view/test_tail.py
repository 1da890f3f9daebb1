"""What the reconciler has not stored yet is worked out when somebody looks."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from k8sjob.cli import looking
from k8sjob.cycle import Cycle
from tests.reconcile.conftest import Desk, cronjob
from tests.view.conftest import JOB, NOW, at, period
from tests.wire import WireProxy

if TYPE_CHECKING:
    from tests.view.tracked import Tracked

FAILED: dict[str, Any] = {"outcome": "failed", "exit_code": 1, "message": "KeyError: 'balance'"}


@pytest.fixture
def daily(tracked: Tracked) -> Tracked:
    """Give a job at 02:00 in Rome, midnight by UTC; the reconciler was there last on the 10th."""
    tracked.track(zone="Europe/Rome")
    tracked.version("0 2 * * *", "01T00:00:00")
    tracked.mark("10T00:00:00")
    return tracked


def hour(number: int) -> str:
    """Return the period of an hour of 13 September."""
    return f"2026-09-13T{number:02}:00:00Z"


def test_what_no_row_tells_of_beyond_the_mark_is_listed(daily: Tracked) -> None:
    daily.put(12, "done")
    daily.tried(1, 13, "13T00:00:05", ended_at=at("13T00:00:46"), **FAILED)
    told = daily.call("get", "periods", JOB)
    assert told.err == ""
    assert told.lines == [
        "PERIOD                SCHEDULED (Europe/Rome)  STATE    ATTEMPTS  LAST      AGE  REASON",
        (
            "2026-09-11T00:00:00Z  Fri 11 Sep 02:00         missing  0         -         2d   "
            "no attempt is known"
        ),
        "2026-09-12T00:00:00Z  Sat 12 Sep 02:00         done     0         -         1d",
        (
            "2026-09-13T00:00:00Z  Sun 13 Sep 02:00         missing  1         failed 1  19h  "
            "KeyError: 'balance'"
        ),
    ]
    assert daily.call("get", "periods", JOB, "--exit-code").code == 1


def test_it_is_told_from_what_is_stored(daily: Tracked) -> None:
    (line, _, _) = daily.call("get", "periods", JOB, "-o", "json").json["periods"]
    assert (line["stored"], line["origin"], line["uncertain"]) == (None, "computed", False)
    assert line["deadline"] == "2026-09-11T01:00:00Z"
    wide = daily.call("get", "periods", JOB, "-o", "wide").lines[1]
    assert wide.endswith("-           -        -        2026-09-11T01:00:00Z  computed")


def test_a_finished_row_that_is_not_asked_for_keeps_its_period_out(daily: Tracked) -> None:
    daily.put(11, "done")
    daily.put(12, "skipped", reason="bank holiday")
    assert daily.states(JOB, "--state", "missing") == {period(13): "missing"}
    (job,) = daily.call("get", "jobs", "-o", "json").json["jobs"]
    assert (job["unfinished"]["missing"], job["oldest_key"]) == (1, f"{JOB}:{period(13)}")


def test_what_fired_is_due_until_its_grace_is_over(tracked: Tracked) -> None:
    tracked.track(grace_s=1800)
    tracked.version("0 * * * *", "01T00:00:00", zone=None)
    tracked.mark("13T16:00:00")
    assert tracked.states() == {hour(17): "missing", hour(18): "missing", hour(19): "due"}
    tracked.patch.setattr(looking, "now", lambda _reader: NOW - timedelta(minutes=31))
    assert tracked.states() == {hour(17): "missing", hour(18): "due"}


def test_what_an_attempt_is_at_is_running(daily: Tracked) -> None:
    daily.tried(1, 13, "13T18:59:00")
    assert daily.states()[period(13)] == "running"


def test_an_open_row_takes_its_deadline_from_the_schedule(daily: Tracked) -> None:
    """The row of what a person has released has none until the reconciler comes by."""
    daily.put(12, "open", origin="operator")
    assert daily.states()[period(12)] == "missing"


def test_a_change_of_the_schedule_decides_what_is_meant(daily: Tracked) -> None:
    daily.version("0 4 * * *", "12T12:00:00")
    assert daily.states() == {
        period(11): "missing",
        period(12): "missing",
        "2026-09-13T02:00:00Z": "missing",
    }


def test_what_lies_around_a_change_is_uncertain(daily: Tracked) -> None:
    daily.version("0 4 * * *", "12T12:00:00", earliest="11T12:00:00")
    told = daily.call("get", "periods", JOB, "-o", "json").json["periods"]
    uncertain = [line for line in told if line["uncertain"]]
    assert [line["period"] for line in uncertain] == [period(12), "2026-09-12T02:00:00Z"]
    assert {(line["state"], line["reason"]) for line in uncertain} == {
        ("missing", "schedule uncertain")
    }
    daily.tried(1, 12, "12T00:00:05", ended_at=at("12T00:00:46"), **FAILED)
    (line,) = daily.call("get", "periods", f"{JOB}:{period(12)}", "-o", "json").json["periods"]
    assert line["reason"] == "KeyError: 'balance'"


def test_a_cronjob_that_is_gone_owes_nothing_since(daily: Tracked) -> None:
    daily.version(None, "12T12:00:00")
    assert daily.states() == {period(11): "missing", period(12): "missing"}
    assert daily.call("get", "jobs").lines[1].endswith("gone")


def test_a_day_is_due_at_its_last_fire(tracked: Tracked) -> None:
    tracked.track(kind=Cycle.DAY, grace_s=600)
    tracked.version("0 9-21 * * *", "01T00:00:00")  # in Rome 19:00 UTC is 21:00
    tracked.mark("11T19:00:00")
    assert tracked.states() == {"2026-09-12": "missing", "2026-09-13": "due"}
    assert tracked.states(JOB, "--to", "2026-09-12") == {"2026-09-12": "missing"}
    assert tracked.states(JOB, "--from", "2026-09-13") == {"2026-09-13": "due"}


def test_a_range_bounds_what_is_worked_out(daily: Tracked) -> None:
    for words, found in (
        ((JOB, "--from", "2026-09-12"), [12, 13]),
        ((JOB, "--to", "2026-09-12"), [11, 12]),
        ((JOB, "--from", period(12), "--to", period(12)), [12]),
        ((f"{JOB}:{period(11)}..{period(12)}",), [11, 12]),
        ((f"{JOB}:{period(12)}",), [12]),
        (("-n", "billing", "--since", "2d"), [12, 13]),
        (("-A", "--state", "missing"), [11, 12, 13]),
    ):
        assert list(daily.states(*words)) == [period(day) for day in found], words


def test_a_part_is_never_expected_by_itself(daily: Tracked) -> None:
    daily.put(12, "blocked", f"{JOB}/invoices", reason="no paper")
    assert daily.states(f"{JOB}/invoices") == {period(12): "blocked"}


def test_a_named_period_that_is_still_to_come_is_upcoming(daily: Tracked) -> None:
    assert daily.states(f"{JOB}:{period(14)}") == {period(14): "upcoming"}
    assert daily.states(f"{JOB}:2026-09-14T00:30:00Z") == {}
    assert period(14) not in daily.states()


# ---------------------------------------------------------------------------------- suspended


@pytest.fixture
def suspended(daily: Tracked) -> Tracked:
    """Suspend the job from noon of the 9th to noon of the 11th; its mark is behind that."""
    daily.store.query("UPDATE k8sjob.jobs SET done_until = '2026-09-09T00:00:00Z'")
    daily.version("0 2 * * *", "09T12:00:00", suspended=True)
    daily.version("0 2 * * *", "11T12:00:00")
    daily.mark("12T00:00:00")
    daily.put(12, "done")
    daily.put(13, "done")
    return daily


def test_slots_of_a_suspension_are_listed_where_they_are_asked_for(suspended: Tracked) -> None:
    slots = {period(10): "suspended", period(11): "suspended"}
    rest = {period(12): "done", period(13): "done"}
    assert suspended.states() == rest
    assert suspended.states(JOB, "--since", "7d") == slots | rest
    assert suspended.states(JOB, "--from", period(11)) == {period(11): "suspended"} | rest
    assert suspended.states(JOB, "--state", "suspended") == slots
    assert suspended.states(f"{JOB}:{period(10)}") == {period(10): "suspended"}


def test_slots_of_a_suspension_that_lasts_are_listed_only_where_they_are_asked_for(
    daily: Tracked,
) -> None:
    daily.version("0 2 * * *", "11T12:00:00", suspended=True)
    assert daily.states() == {period(11): "missing"}
    assert period(13) in daily.states(JOB, "--since", "2d")
    assert daily.call("get", "jobs", "-o", "json").json["jobs"][0]["unfinished"]["missing"] == 1


def test_slots_of_a_suspension_are_not_unfinished(suspended: Tracked) -> None:
    told = suspended.call("get", "periods", JOB, "--since", "7d", "--exit-code")
    assert told.code == 0
    assert told.lines[1].endswith("suspended  0         -     3d   the CronJob was suspended")
    (line, *_) = suspended.call("get", "periods", JOB, "--since", "7d", "-o", "json").json[
        "periods"
    ]
    assert (line["unfinished"], line["deadline"], line["origin"]) == (False, None, "computed")


def test_a_slot_that_kubernetes_started_at_the_resume_has_its_own_state(suspended: Tracked) -> None:
    suspended.put(11, "done")
    suspended.tried(1, 10, "11T12:00:05", ended_at=at("11T12:00:46"), **FAILED)
    found = suspended.states(JOB, "--since", "7d")
    assert (found[period(11)], found[period(10)]) == ("done", "due")


def test_what_may_have_been_meant_is_uncertain_and_not_suspended(daily: Tracked) -> None:
    daily.version("0 2 * * *", "12T12:00:00", earliest="11T12:00:00", suspended=True)
    assert daily.states(JOB, "--since", "7d") == {
        period(11): "missing",
        period(12): "missing",
        period(13): "suspended",
    }


def test_what_was_pruned_is_not_a_slot(suspended: Tracked) -> None:
    suspended.store.query(f"UPDATE k8sjob.gate SET floor = '{period(10)}'")
    assert period(10) not in suspended.states(JOB, "--since", "7d")


# --------------------------------------------------------------------------------- its bounds


def test_five_hundred_of_a_job_are_worked_out_and_the_list_says_so(tracked: Tracked) -> None:
    tracked.track()
    tracked.version("* * * * *", "01T00:00:00", zone=None)
    tracked.mark("13T10:00:00")
    told = tracked.call("get", "periods", JOB, "--limit", "1000", "-o", "name")
    assert len(told.lines) == 500
    assert told.lines[0] == f"{JOB}:2026-09-13T10:01:00Z"
    assert told.err == (
        f"{JOB}: what no row tells of yet is shown for 500 periods only, from 2026-09-13T10:01:00Z "
        "on; k8sjob get periods --from shows later ones\n"
    )
    told = tracked.call("get", "periods", JOB, "--from", "2026-09-13T18:30:00Z", "-o", "json")
    assert (len(told.json["periods"]), told.json["notes"], told.err) == (31, [], "")
    told = tracked.call("get", "jobs", "-o", "json")
    assert len(told.json["notes"]) == 1
    assert "and 480 more periods" in tracked.call("describe", JOB).out


@pytest.mark.parametrize(
    ("expr", "why"),
    [
        ("@every 90m", "@every 90m has no fixed instants"),
        ("0 25 * * *", "'0 25 * * *' in zone Europe/Rome cannot be read"),
        ("0 2 * * * Mars", "'0 2 * * *' in zone Mars cannot be read"),
    ],
)
def test_a_schedule_without_instants_is_said_once(daily: Tracked, expr: str, why: str) -> None:
    zone = "Mars" if "Mars" in expr else "Europe/Rome"
    for name in ("ops/a", "ops/b"):
        daily.track(name)
        daily.version(expr.removesuffix(" Mars"), "01T00:00:00", job=name, zone=zone)
        daily.put(12, "open", name)
    told = daily.call("get", "periods", "-A")
    assert len(told.lines) == 1 + 3 + 2
    assert told.err == f"ops/a, ops/b: what no row tells of yet is not shown: {why}\n"
    assert daily.call("get", "periods", "-A", "--since", "3d").err == told.err
    assert daily.call("get", "jobs", "-A").err == told.err
    assert daily.call("get", "periods", JOB).err == ""


def test_it_costs_one_query_more_at_most(daily: Tracked) -> None:
    daily.know("ops/plain")
    daily.put(12, "open", "ops/plain")
    daily.put(12, "open")
    with WireProxy(daily.db.dsn("reader")) as proxy:
        for words in (("get", "periods"), ("get", "jobs"), ("describe",)):
            with proxy.counting() as plain:
                daily.call(*words, "ops/plain", dsn=proxy.conninfo())
            with proxy.counting() as worked_out:
                daily.call(*words, JOB, dsn=proxy.conninfo())
            assert worked_out.count <= plain.count + 1, words


# ---------------------------------------------------------------------------------- the same


def test_what_is_worked_out_is_what_the_reconciler_stores_then(tracked: Tracked) -> None:
    """Both over a schedule that was edited, suspended and resumed, at the same moment."""
    with tracked.watcher() as watcher:
        desk = Desk(
            tracked.db, watcher, cronjobs=[cronjob(schedule="*/20 * * * *", zone="Asia/Kolkata")]
        )
        desk.pass_at("06:00")
        desk.pass_at("08:10")
        desk.edit(schedule="15,45 * * * *")
        desk.pass_at("10:10")
        desk.edit(suspended=True)
        desk.pass_at("12:10")
        desk.edit(suspended=False)
        desk.pass_at("13:10")
        desk.claim("2026-09-13T14:15:00Z")
        moment = NOW + timedelta(seconds=20)
        tracked.patch.setattr(looking, "now", lambda _reader: moment)
        words = ("billing/credit", "--state", "missing,done", "--limit", "1000")
        before = tracked.states(*words)
        assert "computed" in tracked.call("get", "periods", "billing/credit", "-o", "wide").out
        desk.clock = moment + timedelta(seconds=40)  # nothing more is due by then
        desk.one_pass()
        assert tracked.states(*words) == before
        assert sum(state == "missing" for state in before.values()) > 15
