"""What holds for all periods, zones and instants, and not just for the ones we thought of."""

from __future__ import annotations

import string
from datetime import UTC, date, datetime, timedelta
from importlib.resources import files

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from k8sjob.errors import InvalidKey
from k8sjob.key import JobName, Key, KeyRange
from k8sjob.period import Cycle, Period, Window, periods_between, zone

SECOND = timedelta(seconds=1)
CALENDAR = [Cycle.DAY, Cycle.WEEK, Cycle.MONTH]

zones = st.sampled_from(files("tzdata").joinpath("zones").read_text().split())
calendar_cycles = st.sampled_from(CALENDAR)
days = st.dates(date(1970, 1, 1), date(2999, 12, 31))
instants = st.datetimes(datetime(1970, 1, 2), datetime(2100, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
seconds = st.integers(0, int(datetime(2999, 12, 31, 23, 59, 59, tzinfo=UTC).timestamp()))

scheduled_texts = seconds.map(lambda s: f"{datetime.fromtimestamp(s, UTC):%Y-%m-%dT%H:%M:%SZ}")
calendar_texts = st.one_of(
    days.map(lambda day: f"{day:%Y-%m-%d}"),
    days.map(lambda day: f"{day:%G-W%V}"),
    days.map(lambda day: f"{day:%Y-%m}"),
)
texts = st.one_of(scheduled_texts, calendar_texts, st.just("once"))

LOWER = string.ascii_lowercase + string.digits
namespaces = st.from_regex(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", fullmatch=True)
names = st.text(LOWER + "-.", min_size=1, max_size=40).map(lambda s: f"j{s}0".replace("..", "."))
parts = st.text(string.ascii_letters + string.digits + "._@=+~-", max_size=40).map(
    lambda s: f"P{s.replace('..', '._')}"
)
jobs = st.builds(JobName, namespaces, names.filter(lambda s: ".." not in s), st.none() | parts)


def window_after(period: Period, name: str) -> Window:
    """Return the window of the next period that the zone has: five zones left out a day."""
    try:
        return period.next().window(name)
    except InvalidKey:
        return period.next().next().window(name)


# ---------------------------------------------------------------------------------- round trips


@given(texts)
def test_a_canonical_text_goes_in_and_comes_out(text: str) -> None:
    assert Period.parse(text).text == str(Period.parse(text)) == text


@given(st.text() | st.from_regex(r"\d{4}-W?\d\d(-\d\d(T\d\d:\d\d:\d\dZ)?)?"))
def test_what_is_taken_at_all_is_taken_as_it_is(text: str) -> None:
    try:
        period = Period.parse(text)
    except InvalidKey:
        return
    assert period.text == text
    assert text.isascii()
    assert text.strip() == text


@given(texts)
def test_a_period_made_again_from_its_instant_is_the_same(text: str) -> None:
    period = Period.parse(text)
    instant = period.scheduled_for("UTC")
    assume(instant is not None and instant.year >= 1970)
    assert instant is not None
    assert Period.of(period.cycle, instant, "UTC") == period


@given(jobs, texts)
def test_a_key_goes_in_and_comes_out(job: JobName, text: str) -> None:
    key = Key(job, Period.parse(text))
    assert Key.parse(str(key)) == key
    assert Key.of(str(job), text) == key
    assert JobName.parse(str(job)) == job


@given(jobs, calendar_texts, st.integers(0, 40))
def test_a_range_goes_in_and_comes_out(job: JobName, text: str, steps: int) -> None:
    first = last = Period.parse(text)
    assume(text < "2995")
    for _ in range(steps):
        last = last.next()
    keys = KeyRange(job, first, last)
    assert KeyRange.parse(str(keys)) == keys
    between = list(periods_between(first, last))
    assert between == sorted(set(between))
    assert len(between) == steps + 1
    assert all(Key(job, period) in keys for period in between)


@given(seconds, seconds)
def test_scheduled_texts_sort_as_their_instants_do(one: int, other: int) -> None:
    first, second = (Period.at(datetime.fromtimestamp(s, UTC)) for s in (one, other))
    assert (first < second, first == second) == (one < other, one == other)


# -------------------------------------------------------------------------------------- windows


@given(calendar_cycles, instants, zones)
@example(Cycle.DAY, datetime(2011, 12, 30, 10, tzinfo=UTC), "Pacific/Apia")
@example(Cycle.DAY, datetime(2011, 12, 30, 9, 59, 59, tzinfo=UTC), "Pacific/Apia")
@example(Cycle.DAY, datetime(1990, 10, 28, 3, tzinfo=UTC), "America/St_Johns")
@example(Cycle.DAY, datetime(2024, 11, 3, 5, 30, tzinfo=UTC), "America/Havana")
@example(Cycle.DAY, datetime(2018, 11, 4, 3, tzinfo=UTC), "America/Sao_Paulo")
@example(Cycle.WEEK, datetime(2027, 1, 3, 23, tzinfo=UTC), "Europe/Berlin")
def test_an_instant_lies_in_the_window_of_its_period(
    cycle: Cycle, instant: datetime, name: str
) -> None:
    period = Period.of(cycle, instant, name)
    start, end = period.window(name)
    assert start <= instant < end
    assert Period.of(cycle, start, name) == Period.of(cycle, end - SECOND, name) == period
    assert start == period.scheduled_for(name)


@given(calendar_cycles, instants, zones)
@example(Cycle.DAY, datetime(2011, 12, 29, 12, tzinfo=UTC), "Pacific/Apia")
@example(Cycle.DAY, datetime(1993, 8, 20, 12, tzinfo=UTC), "Pacific/Kwajalein")
def test_windows_abut(cycle: Cycle, instant: datetime, name: str) -> None:
    period = Period.of(cycle, instant, name)
    this, following = period.window(name), window_after(period, name)
    assert this.start < this.end == following.start < following.end
    assert Period.of(cycle, this.end, name).window(name) == following


@given(instants, zones)
def test_clocks_show_the_day_at_its_start_and_not_a_second_before(
    instant: datetime, name: str
) -> None:
    period = Period.of(Cycle.DAY, instant, name)
    start = period.window(name).start
    assert f"{start.astimezone(zone(name)):%Y-%m-%d}" == period.text
    assert f"{(start - SECOND).astimezone(zone(name)):%Y-%m-%d}" < period.text


@given(st.integers(1970, 2998), st.integers(-8, 8))
def test_weeks_are_right_across_the_new_year(year: int, offset: int) -> None:
    day = date(year + 1, 1, 1) + timedelta(days=offset)
    noon = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
    week = Period.of(Cycle.WEEK, noon, "UTC")
    start, end = week.window("UTC")
    # ISO 8601: weeks start on Monday and belong to the year of their Thursday.
    thursday = start + timedelta(days=3)
    number = (thursday - datetime(thursday.year, 1, 1, tzinfo=UTC)).days // 7 + 1
    assert week.text == f"{thursday.year}-W{number:02}"
    assert (start.isoweekday(), end - start) == (1, timedelta(days=7))


@given(st.integers(1996, 2025), st.integers(0, 3599))
def test_datetimes_that_differ_in_fold_only_are_two_periods(year: int, second: int) -> None:
    last_sunday = max(
        day for day in range(25, 32) if date(year, 10, day).isoweekday() == 7
    )  # when clocks in the European Union go back from 03:00 to 02:00
    berlin = zone("Europe/Berlin")
    first = datetime(year, 10, last_sunday, 2, tzinfo=berlin) + second * SECOND
    again = first.replace(fold=1)
    assert (first, hash(first)) == (again, hash(again))
    one, other = Period.at(first), Period.at(again)
    assert one != other
    assert one < other
    assert datetime.fromisoformat(other.text) - datetime.fromisoformat(one.text) == 3600 * SECOND


# ------------------------------------------------------------------------------------ mutations


@given(texts, st.data(), st.sampled_from(" \t\n\r\v\f\0\u00a0\u2028\ufeff"))
def test_a_blank_anywhere_is_refused(text: str, data: st.DataObject, blank: str) -> None:
    place = data.draw(st.integers(0, len(text)))
    with pytest.raises(InvalidKey):
        Period.parse(text[:place] + blank + text[place:])


@given(scheduled_texts | calendar_texts, st.data(), st.sampled_from("٠۰०０𝟎"))  # noqa: RUF001
def test_a_digit_of_another_script_is_refused(text: str, data: st.DataObject, zero: str) -> None:
    digits = [place for place, letter in enumerate(text) if letter.isdigit()]
    place = data.draw(st.sampled_from(digits))
    digit = chr(ord(zero) + int(text[place]))
    assert int(digit) == int(text[place])
    with pytest.raises(InvalidKey):
        Period.parse(text[:place] + digit + text[place + 1 :])


@given(texts)
def test_the_other_case_is_refused(text: str) -> None:
    assume(text.swapcase() != text)
    with pytest.raises(InvalidKey):
        Period.parse(text.swapcase())


@given(
    scheduled_texts,
    st.sampled_from(
        [
            lambda text: text[:-1],
            lambda text: text[:-1] + "z",
            lambda text: text[:-1] + "+00:00",
            lambda text: text[:-1] + "-00:00",
            lambda text: text[:-1] + ".0Z",
            lambda text: text[:-1] + "ZZ",
            lambda text: text[:-4] + "Z",
            lambda text: text[:-3] + "60Z",
            lambda text: text[:-6] + "60:00Z",
            lambda text: text[:-9] + "24:00:00Z",
            lambda text: text.replace("T", " "),
            lambda text: text.replace("-", ""),
            lambda text: text.replace(":", ""),
        ]
    ),
)
def test_another_spelling_of_an_instant_is_refused(text: str, spell: object) -> None:
    assert callable(spell)
    with pytest.raises(InvalidKey, match=r"so nothing was done for it: (write|say)"):
        Period.parse(spell(text))
