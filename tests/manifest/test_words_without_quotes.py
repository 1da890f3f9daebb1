"""A word without quotes is to lint what it is to kubectl."""

from __future__ import annotations

import math

import pytest

from k8sjob.manifest.scalars import resolve


@pytest.mark.parametrize("word", ["yes", "Yes", "YES", "y", "Y", "on", "true", "True", "TRUE"])
def test_a_word_for_true_is_a_boolean(word: str) -> None:
    assert resolve(word) is True


@pytest.mark.parametrize("word", ["no", "n", "N", "Off", "false", "FALSE"])
def test_a_word_for_false_is_a_boolean(word: str) -> None:
    assert resolve(word) is False


@pytest.mark.parametrize("word", ["", "~", "null", "Null", "NULL"])
def test_a_word_for_nothing_is_null(word: str) -> None:
    assert resolve(word) is None


@pytest.mark.parametrize(
    ("word", "number"),
    [
        ("0", 0),
        ("60", 60),
        ("-1", -1),
        ("+7", 7),
        ("0600", 384),
        ("0o17", 15),
        ("0x1F", 31),
        ("-0b11", -3),
        ("1_000", 1000),
        ("9223372036854775807", 2**63 - 1),
    ],
)
def test_a_whole_number_is_one_in_each_base(word: str, number: int) -> None:
    assert resolve(word) == number
    assert isinstance(resolve(word), int)


@pytest.mark.parametrize(
    ("word", "number"),
    [
        ("1.5", 1.5),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("08", 8.0),
        ("-.inf", -math.inf),
        ("+.INF", math.inf),
    ],
)
def test_other_numbers_are_not_whole(word: str, number: float) -> None:
    assert resolve(word) == number
    assert isinstance(resolve(word), float)


def test_no_number_is_a_number_to_nobody() -> None:
    assert isinstance(nan := resolve(".nan"), float)
    assert math.isnan(nan)


@pytest.mark.parametrize("digits", [20, 100, 10_000])
def test_more_digits_than_64_bits_hold_are_no_whole_number(digits: int) -> None:
    assert isinstance(resolve("9" * digits), float)


@pytest.mark.parametrize(
    "word",
    [
        "truE",
        "tRue",
        "Etc/UTC",
        "2026-09-13",
        "30 4 * * *",
        "1h",
        "-",
        "+",
        ".",
        "0x",
        "1__e",
        "--1",
    ],
)
def test_all_else_is_a_text(word: str) -> None:
    assert resolve(word) == word
