"""``@every`` is read as Go reads it, and has no instants."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from k8sjob.errors import InvalidSchedule
from k8sjob.schedule import parse

NOON = datetime(2026, 9, 13, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("delay", "seconds"),
    [
        ("90m", 5400),
        ("1h30m", 5400),
        ("1.5h", 5400),
        (".5h", 1800),
        ("1.h", 3600),
        ("90s", 90),
        ("1h1h", 7200),
        ("+5m", 300),
        ("1.9s", 1),
        ("2500ms", 2),
        ("3000000\u00b5s", 3),
        ("3000000\u03bcs", 3),
        ("3000000us", 3),
        ("4000000000ns", 4),
        ("1ms", 1),
        ("0", 1),
        ("-1s", 1),
        ("-5m", 1),
        ("2562047h", 9223369200),
        ("1.5999999999999999999991h", 5760),
    ],
)
def test_a_delay_is_told_in_whole_seconds(delay: str, seconds: int) -> None:
    schedule = parse(f"@every {delay}", "UTC")
    assert schedule.every == seconds
    assert schedule.fields is None


@pytest.mark.parametrize(
    "delay", ["1d", "90", "", " 5m", "5m ", "5 m", "h", ".h", "1h-5m", "5M", "five minutes"]
)
def test_what_is_no_delay_is_refused(delay: str) -> None:
    with pytest.raises(InvalidSchedule, match=r"after @every is no delay.*write e\.g\. @every 90m"):
        parse(f"@every {delay}", "UTC")


def test_a_delay_that_does_not_fit_is_refused() -> None:
    with pytest.raises(InvalidSchedule, match="is over 292 years"):
        parse("@every 2562048h", "UTC")


@pytest.mark.parametrize(
    ("delay", "like"),
    [
        ("1s", "*/1 * * * *"),
        ("10m", "*/10 * * * *"),
        ("60m", "0 * * * *"),
        ("2h", "0 */2 * * *"),
        ("24h", "0 0 * * *"),
    ],
)
def test_it_has_no_instants_and_five_fields_are_advised(delay: str, like: str) -> None:
    schedule = parse(f"@every {delay}", "UTC")
    with pytest.raises(InvalidSchedule, match="has no instants of its own") as caught:
        schedule.next(NOON)
    assert str(caught.value).endswith(f"write five fields instead, e.g. {like!r}.")
    with pytest.raises(InvalidSchedule, match="has no instants of its own"):
        schedule.between(NOON, NOON)


def test_a_schedule_of_five_fields_has_no_delay() -> None:
    assert parse("0 0 * * *", "UTC").every is None
