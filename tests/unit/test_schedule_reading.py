"""A schedule's text is read as the controller reads it, and what is wrong with one is told."""

from __future__ import annotations

import pytest

from k8sjob.errors import ConfigError, InvalidSchedule
from k8sjob.schedule import parse
from k8sjob.schedule.fields import Fields, values


def read(text: str) -> Fields:
    fields = parse(text, "UTC").fields
    assert fields is not None
    return fields


@pytest.mark.parametrize(
    ("minute", "taken"),
    [
        ("0", [0]),
        ("007", [7]),
        ("+5", [5]),
        ("1,3-5,59", [1, 3, 4, 5, 59]),
        ("1,2,,3", [1, 2, 3]),
        (",", []),
        ("*/15", [0, 15, 30, 45]),
        ("?/20", [0, 20, 40]),
        ("*/70", [0]),
        ("5/15", [5, 20, 35, 50]),
        ("10-20/5", [10, 15, 20]),
        ("50/9223372036854775807", [50]),
        ("*-5/30", [0, 30]),
        ("58-59", [58, 59]),
    ],
)
def test_a_field_takes_what_the_controller_takes(minute: str, taken: list[int]) -> None:
    assert values(read(f"{minute} * * * *").minutes) == taken


@pytest.mark.parametrize(
    ("text", "months", "weekdays"),
    [
        ("0 0 * jan SUN", [1], [0]),
        ("0 0 * JAN-Mar mon-Fri", [1, 2, 3], [1, 2, 3, 4, 5]),
        ("0 0 * feb/4 thu/2", [2, 6, 10], [4, 6]),
        ("0 0 * 11-dec 5-sat", [11, 12], [5, 6]),
    ],
)
def test_names_may_be_written_in_any_case(
    text: str, months: list[int], weekdays: list[int]
) -> None:
    assert values(read(text).months) == months
    assert values(read(text).weekdays) == weekdays


@pytest.mark.parametrize(
    ("day", "weekday", "star"),
    [
        ("*", "*", True),
        ("13", "*", True),
        ("13", "?", True),
        ("?", "5", True),
        ("*/1", "5", True),
        ("*-7", "5", True),
        ("13,*", "5", True),
        ("*/2", "5", False),
        ("13", "*/2", False),
        ("1-31", "0-6", False),
    ],
)
def test_a_star_stays_one_unless_it_has_a_step(day: str, weekday: str, *, star: bool) -> None:
    assert read(f"0 0 {day} * {weekday}").day_star is star


@pytest.mark.parametrize(
    ("word", "same"),
    [
        ("@yearly", "0 0 1 1 *"),
        ("@annually", "0 0 1 1 *"),
        ("@monthly", "0 0 1 * *"),
        ("@weekly", "0 0 * * 0"),
        ("@daily", "0 0 * * *"),
        ("@midnight", "0 0 * * *"),
        ("@hourly", "0 * * * *"),
    ],
)
def test_a_descriptor_stands_for_five_fields(word: str, same: str) -> None:
    assert read(word) == read(same)


@pytest.mark.parametrize("text", [" 0 0 * * * ", "0\t0  *\u00a0* \u2003*", "0 0 * * *\n"])
def test_blanks_around_fields_do_not_matter(text: str) -> None:
    assert read(text) == read("0 0 * * *")


@pytest.mark.parametrize(
    ("text", "wrong", "right"),
    [
        ("60 * * * *", "minute '60' is over 59", "write 0 to 59"),
        ("0 24 * * *", "hour '24' is over 23", "write 0 to 23"),
        ("0 0 0 * *", "day of month '0' is under 1", "write 1 to 31"),
        ("0 0 * 13 *", "month '13' is over 12", "write 1 to 12, or jan to dec"),
        ("0 0 * * 7", "day of week '7': 7 is no day", "write 0 or sun for Sunday"),
        ("0 0 * * 1-7", "day of week '1-7': 7 is no day", "write 0 or sun for Sunday"),
        ("5-70 * * * *", "minute '5-70' has 70, which is over 59", "write 0 to 59"),
        ("0 22-2 * * *", "hour '22-2' ends before it starts", "write 22-23,0-2"),
        ("0 22-4/2 * * *", "hour '22-4/2' ends before it starts", "write 22,0,2,4"),
        ("0 0 * * fri-mon", "day of week 'fri-mon' ends before", "write fri-sat,sun-mon"),
        ("0 0 * * sat-sun", "day of week 'sat-sun' ends before", "write sat,sun"),
        ("0 0 * nov-jan *", "month 'nov-jan' ends before it starts", "write nov-dec,jan"),
        ("0 0 * 5-0 *", "month '5-0' has 0, which is under 1", "write 1 to 12, or jan to dec"),
        ("*/0 * * * *", "minute '*/0' has the step 0", "write a step of 1 or more"),
        ("*/-1 * * * *", "minute '*/-1' has the step -1", "write a step of 1 or more"),
        ("*/x * * * *", "minute '*/x' has 'x', which is no number", "write 1 to 59"),
        ("*/9223372036854775808 * * * *", "which is no number", "write 1 to 59"),
        ("1/2/3 * * * *", "minute '1/2/3' has two slashes", "write 1/2"),
        ("1-2-3 * * * *", "minute '1-2-3' is no number", "write 0 to 59"),
        ("-1 * * * *", "minute '-1' lacks a value", "write 0 to 59"),
        ("5- * * * *", "minute '5-' lacks a value", "write 0 to 59"),
        ("/5 * * * *", "minute '/5' lacks a value", "write 0 to 59"),
        ("1_0 * * * *", "minute '1_0' is no number", "write 0 to 59"),
        ("\u0663 * * * *", "minute '\u0663' is no number", "write 0 to 59"),
        ("0 0 * january *", "is no number and no name of three letters", "write jan"),
        ("0 0 * * Thurs", "is no number and no name of three letters", "write thu"),
        ("0 0 * mon *", "month 'mon' is no number and no name", "write 1 to 12, or jan to dec"),
        ("0 0 L * *", "day of month 'L': Kubernetes has no L", "run on day 1"),
        ("0 0 * * 5L", "day of week '5L': Kubernetes has no L", "run on day 1"),
        ("0 0 15W * *", "day of month '15W': Kubernetes has no W", "write the days of week 1-5"),
        ("0 0 * * 1#2", "day of week '1#2': Kubernetes has no #", "8-14 is the second"),
        ("H * * * *", "minute 'H': Kubernetes has no H", "choose the number yourself"),
        ("", "there is nothing in it", "write five fields: minute, hour, day of month"),
        ("0 0 * *", "it has 4 fields and not 5,", "write minute, hour, day of month, month"),
        ("0 0 0 * * *", "it has 6 fields and not 5 (there is none for seconds", "write minute"),
        ("0 0 * * *\x1c*", "day of week '*\\x1c*' is no number and no name", "write 0 to 6"),
        ("@reboot", "there is no such word", "@monthly, @weekly, @daily"),
        ("@Daily", "there is no such word", "write @daily, or five fields"),
        ("@daily ", "there is no such word", "write @daily, or five fields"),
        ("TZ=Europe/Rome 0 0 * * *", "a time zone stands in it", "set timeZone beside it"),
        ("CRON_TZ=UTC @daily", "a time zone stands in it", "set timeZone beside it"),
        ("TZ=UTC", "a time zone stands in it", "set timeZone beside it"),
    ],
)
def test_what_is_wrong_is_told_with_the_field_and_what_would_be_right(
    text: str, wrong: str, right: str
) -> None:
    with pytest.raises(InvalidSchedule) as caught:
        parse(text, "UTC")
    message = str(caught.value)
    assert message.startswith(f"schedule {text!r}: ")
    before, _, after = message.partition(", so no period was worked out and nothing was done: ")
    assert wrong in before + ","
    assert right in after


def test_an_unknown_zone_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"write Europe/Berlin\.$"):
        parse("0 0 * * *", "Europe/berlin")


def test_schedules_of_equal_text_and_zone_are_equal() -> None:
    one, other = parse("0 0 * * *", "UTC"), parse("0 0 * * *", "UTC")
    assert one == other
    assert len({one, other}) == 1
    assert one != parse("0 0 * * *", "Europe/Rome")
    assert one != parse("@daily", "UTC")
