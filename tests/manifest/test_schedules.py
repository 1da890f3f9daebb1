"""What is found in a CronJob's schedule, time zone and starting deadline."""

from __future__ import annotations

import pytest

from tests.manifest.manifests import cronjob, found, message, rules


def scheduled(schedule: str, zone: str | None = "Europe/Rome", more: str = "") -> str:
    lines = f"schedule: {schedule}\n" + (f"timeZone: {zone}\n" if zone else "")
    return cronjob(schedule=lines + more)


def test_a_schedule_that_is_none_is_told_with_what_would_be_right() -> None:
    text = scheduled('"30 4 * * 7"')
    assert found(text) == [(7, "bad-schedule")]
    assert message(text).startswith("Kubernetes refuses this: schedule '30 4 * * 7'")
    assert "write 0 or sun for Sunday" in message(text)


@pytest.mark.parametrize(
    ("schedule", "what"),
    [
        ("5", "the number 5 and no text"),
        ("yes", "the boolean yes and no text"),
        ("[1, 2]", "a list and no text"),
        ("{a: 1}", "a map and no text"),
    ],
)
def test_a_schedule_of_another_type_is_no_text(schedule: str, what: str) -> None:
    assert what in message(scheduled(schedule))
    assert rules(scheduled(schedule)) == ["bad-schedule"]


def test_a_patch_without_a_schedule_is_told_so_and_nothing_else_is_missed_in_it() -> None:
    patch = "kind: CronJob\nmetadata: {name: credit}\nspec:\n  suspend: true\n"
    assert found(patch) == [(3, "bad-schedule")]
    assert "if this is a patch" in message(patch)


@pytest.mark.parametrize("variable", ["TZ", "CRON_TZ"])
def test_a_zone_in_the_schedule_is_told_with_the_lines_to_write(variable: str) -> None:
    text = scheduled(f'"{variable}=Asia/Tokyo 30 4 * * *"', None)
    assert found(text) == [(7, "zone-in-schedule")]
    assert message(text).endswith('schedule: "30 4 * * *" and below it timeZone: Asia/Tokyo')


def test_of_two_zones_the_one_that_is_meant_is_asked_for() -> None:
    told = message(scheduled('"TZ=Asia/Tokyo 30 4 * * *"', "Europe/Rome"))
    assert told.endswith(
        "timeZone: Europe/Rome (the schedule says 'Asia/Tokyo': keep the one that is meant)"
    )


def test_an_unknown_zone_in_the_schedule_is_told_with_the_nearest() -> None:
    assert "write Europe/Berlin." in message(scheduled('"TZ=Europe/Berln 30 4 * * *"', None))


def test_what_is_left_without_the_zone_is_looked_at_too() -> None:
    text = scheduled('"TZ=Europe/Berlin 30 2 * * 7"', None)
    assert rules(text) == ["bad-schedule", "zone-in-schedule"]
    text = scheduled('"TZ=America/New_York 30 1 * * *"', None)
    assert rules(text) == ["fires-twice", "zone-in-schedule"]
    assert rules(scheduled('"TZ=UTC"', None)) == ["bad-schedule", "zone-in-schedule"]


def test_a_delay_is_told_and_needs_no_zone() -> None:
    assert rules(scheduled('"@every 90m"', None)) == ["every"]
    assert message(scheduled('"@every 90m"')).endswith(
        "Write five fields instead, e.g. '0 * * * *'."
    )


def test_a_delay_under_a_minute_loses_starts_and_cannot_be_tracked() -> None:
    short = scheduled('"@every 25s"')
    assert "Of two starts within one minute the second is lost." in message(short)
    assert "The reconciler refuses it." not in message(short)
    tracked = cronjob(
        schedule='schedule: "@every 60s"\n', metadata='labels: {k8sjob.io/enabled: "true"}'
    )
    assert "The reconciler refuses it." in message(tracked)
    assert "within one minute" not in message(tracked)


def test_descriptors_that_have_instants_are_nothing_special() -> None:
    assert rules(scheduled('"@daily"')) == []
    assert rules(scheduled('"@daily"', None)) == ["no-time-zone"]


@pytest.mark.parametrize("zone", ["null", "~", ""])
def test_a_zone_of_null_is_none(zone: str) -> None:
    text = cronjob(schedule=f'schedule: "30 4 * * *"\ntimeZone: {zone}')
    assert found(text) == [(6, "no-time-zone")]


@pytest.mark.parametrize("zone", ['""', "5", "Local", "europe/rome", "CEST", "[]"])
def test_a_zone_that_kubernetes_refuses_is_told(zone: str) -> None:
    assert found(scheduled('"30 4 * * *"', zone)) == [(8, "unknown-time-zone")]


def test_a_wrong_schedule_in_a_wrong_zone_is_two_findings() -> None:
    assert rules(scheduled('"30 4 * * 7"', "Rome/Italy")) == ["bad-schedule", "unknown-time-zone"]


def test_an_hour_that_comes_twice_and_not_at_all_is_two_findings() -> None:
    text = scheduled('"30 2 * * *"', "Europe/Berlin")
    assert rules(text) == ["fires-twice", "left-out"]
    assert rules(scheduled('"30 2 * * *"', None)) == ["no-time-zone"]


@pytest.mark.parametrize("cycle", ["day", "week", "month", "once"])
def test_an_hour_that_comes_twice_does_not_matter_to_a_natural_cycle(cycle: str) -> None:
    text = cronjob(
        schedule='schedule: "30 1 * * *"\ntimeZone: America/New_York',
        metadata=f"annotations: {{k8sjob.io/cycle: {cycle}}}",
    )
    assert rules(text) == []
    assert rules(text.replace(cycle, "scheduled")) == ["fires-twice"]


def test_an_hourly_job_is_not_disturbed_by_clocks() -> None:
    assert rules(scheduled('"0 * * * *"', "Europe/Berlin")) == []


def test_day_fields_that_are_joined_by_or_are_told() -> None:
    assert "either" not in rules(scheduled('"30 4 13 * *"'))
    assert rules(scheduled('"30 4 13 * 5"')) == ["either-day"]
    assert "(*/2 does not count as a star)" in message(scheduled('"30 4 */2 * 5"'))


@pytest.mark.parametrize(
    ("seconds", "rule"),
    [
        ("0", ["starting-deadline-zero"]),
        ("9", ["starting-deadline-short"]),
        ("10", []),
        ("-1", []),
        ("soon", []),
    ],
)
def test_a_starting_deadline_must_leave_time_to_start(seconds: str, rule: list[str]) -> None:
    assert rules(cronjob(spec=f"startingDeadlineSeconds: {seconds}")) == rule


@pytest.mark.parametrize(
    ("seconds", "rule"), [(60, ["every", "starting-deadline-short"]), (90, ["every"])]
)
def test_a_starting_deadline_below_the_delay_never_starts(seconds: int, rule: list[str]) -> None:
    assert rules(scheduled('"@every 90s"', more=f"startingDeadlineSeconds: {seconds}")) == rule
