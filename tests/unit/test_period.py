"""Each period has one text, which is its identity; every other spelling is refused."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import k8sjob
from k8sjob.errors import InvalidKey
from k8sjob.period import Cycle, Period

TEXTS = ["2026-09-13T00:00:00Z", "2026-09-13", "2026-W37", "2026-09", "once"]


# ------------------------------------------------------------------------------------- texts


@pytest.mark.parametrize(("text", "cycle"), [*zip(TEXTS, Cycle, strict=True)])
def test_a_canonical_text_is_read_and_says_its_cycle(text: str, cycle: Cycle) -> None:
    period = Period.parse(text)
    assert (period.text, str(period), period.cycle) == (text, text, cycle)


@pytest.mark.parametrize(
    "text",
    [
        "1970-01-01T00:00:00Z",
        "2999-12-31T23:59:59Z",
        "1970-01-01",
        "2999-12-31",
        "1970-W01",
        "2999-W52",
        "1970-01",
        "2999-12",
        "2026-W53",
        "2024-02-29",
    ],
)
def test_the_ends_of_the_years_and_rare_days_are_periods(text: str) -> None:
    assert str(Period.parse(text)) == text


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("1969-12-31", "outside of the years 1970 to 2999"),
        ("1969-12-31T23:59:59Z", "outside of the years 1970 to 2999"),
        ("1969-W52", "outside of the years 1970 to 2999"),
        ("1969-12", "outside of the years 1970 to 2999"),
        ("3000-01-01", "outside of the years 1970 to 2999"),
        ("0000-01", "outside of the years 1970 to 2999"),
        ("2026-02-29", "not in the calendar"),
        ("2026-04-31T00:00:00Z", "not in the calendar"),
        ("2025-W53", "not in the calendar"),
        ("2999-W53", "not in the calendar"),
        ("2026-W00", "not in the calendar"),
        ("2026-W54", "not in the calendar"),
        ("2026-13", "not in the calendar"),
        ("2026-00-10", "not in the calendar"),
        ("", "not written as a period is"),
        ("2026", "not written as a period is"),
        ("20260", "not written as a period is"),
        ("yesterday", "not written as a period is"),
        ("2026-09-13T25:00:00Z", "not written as a period is"),
        ("2026-09-13T00:00:60Z", "not written as a period is"),
        ("2026-09-13T00:00:00.5Z", "not written as a period is"),
        ("2026-W37-1", "not written as a period is"),
        ("-2026-09-13", "not written as a period is"),
        ("12026-09-13", "not written as a period is"),
    ],
)
def test_a_period_that_cannot_be_meant_is_refused_with_all_the_forms(text: str, fault: str) -> None:
    with pytest.raises(InvalidKey) as caught:
        Period.parse(text)
    message = str(caught.value)
    assert message.startswith(f"period {text!r} ")
    assert f"{fault}, so nothing was done for it: write one of the forms." in message
    assert all(form in message for form in TEXTS)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("2026-09-13T02:00:00+02:00", "2026-09-13T00:00:00Z"),
        ("2026-09-12T22:30:00-0130", "2026-09-13T00:00:00Z"),
        ("2026-09-13T00:00:00+00:00", "2026-09-13T00:00:00Z"),
        ("2026-09-13T00:00:00z", "2026-09-13T00:00:00Z"),
        ("2026-09-13t00:00:00Z", "2026-09-13T00:00:00Z"),
        ("2026-09-13 00:00:00 UTC", "2026-09-13T00:00:00Z"),
        ("2026-09-13T00:00Z", "2026-09-13T00:00:00Z"),
        ("2026-09-13T00:00:00.000Z", "2026-09-13T00:00:00Z"),
        ("20260913T000000Z", "2026-09-13T00:00:00Z"),
        ("2026-12-31T24:00:00Z", "2027-01-01T00:00:00Z"),
        ("2026-9-3", "2026-09-03"),
        ("2026/09/03", "2026-09-03"),
        ("20260903", "2026-09-03"),
        (" 2026-09-03\n", "2026-09-03"),
        ("'2026-09-03'", "2026-09-03"),
        ("２０２６-09-03", "2026-09-03"),  # noqa: RUF001  # full-width digits are the point
        ("2026-w37", "2026-W37"),
        ("2026W37", "2026-W37"),
        ("2026-W9", "2026-W09"),
        ("2026-9", "2026-09"),
        ("2026/09", "2026-09"),
        ("Once", "once"),
    ],
)
def test_another_spelling_is_refused_with_the_right_one(wrong: str, right: str) -> None:
    with pytest.raises(InvalidKey) as caught:
        Period.parse(wrong)
    assert f"so nothing was done for it: write {right}. The forms are" in str(caught.value)
    assert str(Period.parse(right)) == right


def test_an_instant_without_a_zone_is_not_taken_for_utc() -> None:
    with pytest.raises(InvalidKey, match="in which zone it is; write 2026-09-13T02:00:00Z if that"):
        Period.parse("2026-09-13 02:00")


@pytest.mark.parametrize("spelling", ["2026111", "13.09.2026", "2026-09-13T02:00:00+99:00"])
def test_no_advice_is_given_on_a_guess(spelling: str) -> None:
    with pytest.raises(InvalidKey, match=r"nothing was done for it: write one of the forms\."):
        Period.parse(spelling)


@pytest.mark.parametrize("value", [None, 20260913, b"once", date(2026, 9, 13)])
def test_what_is_not_a_text_is_refused(value: Any) -> None:
    with pytest.raises(InvalidKey, match="not a text, so nothing was done for it: use Period"):
        Period.parse(value)


def test_an_invalid_period_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="nothing was done"):
        Period("2026-9-3")


def test_a_member_of_an_enum_does_not_become_the_identity() -> None:
    assert type(Period.parse(Cycle.ONCE).text) is str


def test_a_year_has_week_53_just_when_iso_8601_says_so() -> None:
    for year in range(1970, 3000):
        # A year has 53 weeks if it has 53 Thursdays.
        thursdays = {date(year, 1, 1).isoweekday(), date(year, 12, 31).isoweekday()}
        try:
            Period.parse(f"{year}-W53")
        except InvalidKey:
            assert 4 not in thursdays
        else:
            assert 4 in thursdays


def test_an_unknown_cycle_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidKey, match="'daily' is none of scheduled, day, week, month, once"):
        Cycle("daily")


# --------------------------------------------------------------------------- order and identity


def test_equal_texts_are_one_period() -> None:
    assert len({Period.parse("2026-09-13"), Period("2026-09-13")}) == 1
    assert Period("2026-09") != Period("2026-10")


def test_periods_of_one_cycle_sort_by_time() -> None:
    texts = ["2026-W53", "2027-W01", "2026-W01", "2026-W10", "2026-W09"]
    expected = ["2026-W01", "2026-W09", "2026-W10", "2026-W53", "2027-W01"]
    assert [str(period) for period in sorted(map(Period, texts))] == expected
    assert Period("2026-09") <= Period("2026-09") < Period("2026-10") >= Period("2026-10")


def test_periods_of_two_cycles_have_no_order() -> None:
    with pytest.raises(TypeError):
        _ = Period("2026-09") < Period("2026-09-13")


def test_a_period_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        setattr(Period("once"), "text", "2026-09")  # noqa: B010  # mypy refuses the plain form


@pytest.mark.parametrize("text", TEXTS)
def test_a_period_survives_pickle_and_copy(text: str) -> None:
    period = Period(text)
    for other in (pickle.loads(pickle.dumps(period)), copy.deepcopy(period)):  # noqa: S301
        assert (other, other.cycle) == (period, period.cycle)


# -------------------------------------------------------------------------------------- weight


def test_keys_and_periods_do_not_import_what_only_zones_and_messages_need() -> None:
    heavy = ("zoneinfo", "tzdata", "difflib", "importlib.resources", "pkgutil", "psycopg", "click")
    code = f"import sys, k8sjob.key; print([m for m in {heavy!r} if m in sys.modules])"
    root = str(Path(k8sjob.__file__).parents[1])
    # -S: what site imports for other packages is not ours.
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        env=os.environ | {"PYTHONPATH": root},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"
