from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from k8sjob.errors import InvalidKey
from k8sjob.key import Key
from k8sjob.kube.names import (
    LONGEST,
    backfill_name,
    is_backfill_name,
    is_slot_name,
    slot_name,
    slot_of,
)

SLOT = datetime(2026, 9, 13, tzinfo=UTC)
NAME = "daily-credit-29820960"
LONG = "x" * 52


def key(period: str, job: str = "billing/daily-credit") -> Key:
    return Key.parse(f"{job}:{period}")


# ------------------------------------------------------------------------ the controller's names


def test_a_slot_is_named_by_its_minutes_since_1970() -> None:
    assert slot_name("daily-credit", SLOT) == NAME
    assert slot_name("daily-credit", SLOT + timedelta(seconds=59)) == NAME
    assert slot_name("daily-credit", SLOT + timedelta(seconds=60)) != NAME


def test_an_offset_changes_the_text_of_an_instant_and_not_its_slot() -> None:
    rome = timezone(timedelta(hours=2))
    newfoundland = timezone(-timedelta(hours=2, minutes=30))

    assert is_slot_name(NAME, "daily-credit", datetime(2026, 9, 13, 2, tzinfo=rome))
    assert is_slot_name(NAME, "daily-credit", datetime(2026, 9, 12, 21, 30, tzinfo=newfoundland))
    assert not is_slot_name(NAME, "daily", SLOT)


def test_a_naive_instant_is_no_slot() -> None:
    with pytest.raises(InvalidKey, match="aware datetime"):
        slot_name("daily-credit", datetime(2026, 9, 13))  # noqa: DTZ001


def test_a_name_gives_its_slot_back() -> None:
    assert slot_of(NAME, "daily-credit") == SLOT
    assert slot_of(f"{LONG}-29820960", LONG) == SLOT


@pytest.mark.parametrize(
    "name",
    [
        "daily-credit",
        "daily-credit-",
        "29820960",
        "daily-credit29820960",
        "daily-credit-2982096",
        "daily-credit-298209600",
        "daily-credit-1789257600",  # seconds, as before Kubernetes 1.21
        "daily-credit-09820960",
        "daily-credit-29820960\n",
        "daily-credit-+2982096",
        "daily-credit-2982_096",
        "daily-credit-٢٩٨٢٠٩٦٠",  # digits of another script
        "daily-credit-29820960-x2v8q",  # a Pod
        "daily-credit-bf-20260911-0-1",
        "other-daily-credit-29820960",
        "daily-credit-manual-xyz",
    ],
)
def test_other_names_have_no_slot(name: str) -> None:
    assert slot_of(name, "daily-credit") is None


# ----------------------------------------------------------------------------- backfill's names


@pytest.mark.parametrize(
    ("period", "name"),
    [
        ("2026-09-11T00:00:00Z", "daily-credit-bf-20260911-0-1"),
        ("2026-09-11T02:15:00Z", "daily-credit-bf-20260911t0215-0-1"),
        ("2026-09-11T02:00:00Z", "daily-credit-bf-20260911t0200-0-1"),
        ("2026-09-11T02:15:30Z", "daily-credit-bf-20260911t021530-0-1"),
        ("2026-09-11T00:00:30Z", "daily-credit-bf-20260911t000030-0-1"),
        ("2026-09-11", "daily-credit-bf-20260911-0-1"),
        ("2026-W37", "daily-credit-bf-2026w37-0-1"),
        ("2026-09", "daily-credit-bf-202609-0-1"),
        ("once", "daily-credit-bf-once-0-1"),
    ],
)
def test_a_backfill_is_named_by_its_period(period: str, name: str) -> None:
    assert backfill_name("daily-credit", key(period), 0, 1) == name
    assert is_backfill_name(name, "daily-credit", key(period))


def test_generation_and_try_are_part_of_the_name() -> None:
    day = key("2026-09-11")

    assert backfill_name("daily-credit", day, 2, 13) == "daily-credit-bf-20260911-2-13"
    assert is_backfill_name("daily-credit-bf-20260911-2-13", "daily-credit", day)


@pytest.mark.parametrize(
    "name",
    [
        "daily-credit-29820960",
        "daily-credit-bf-20260912-0-1",
        "daily-credit-bf-20260911-0",
        "daily-credit-bf-20260911-0-0",
        "daily-credit-bf-20260911-00-1",
        "daily-credit-bf-20260911-0-01",
        "daily-credit-bf-20260911-0-1-x2v8q",  # a Pod
        "daily-credit-bf-20260911-0-1\n",
        "daily-credit-bf-20260911-0-12345678",
        "daily-credit-bf-20260911-" + "9" * 5000 + "-1",
        "other-bf-20260911-0-1",
        "",
    ],
)
def test_a_name_that_backfill_does_not_give_is_not_its_own(name: str) -> None:
    assert not is_backfill_name(name, "daily-credit", key("2026-09-11"))


def test_a_long_name_is_cut_and_told_apart_by_its_keys_digest() -> None:
    first, second = (key(p, f"billing/{LONG}") for p in ("2026-09-11", "2026-09-12"))

    name = backfill_name(LONG, first, 0, 1)

    assert name == f"{'x' * 32}-bf-{name.split('-')[2]}-20260911-0-1"
    assert len(name) == LONGEST
    assert is_backfill_name(name, LONG, first)
    assert not is_backfill_name(name, LONG, second)
    assert name.split("-")[2] != backfill_name(LONG, second, 0, 1).split("-")[2]


def test_a_long_name_is_not_cut_after_a_dot_or_a_hyphen() -> None:
    cronjob = "x" * 31 + ".y" + "z" * 19

    name = backfill_name(cronjob, key("2026-09-11", f"billing/{cronjob}"), 0, 1)

    assert name.startswith("x" * 31 + "-bf-")


def test_a_job_of_another_name_than_its_cronjob_has_names_of_its_own() -> None:
    as_called = backfill_name("daily-credit", key("2026-09-11"), 0, 1)
    renamed = backfill_name("daily-credit", key("2026-09-11", "billing/credit-v2"), 0, 1)
    part = backfill_name("daily-credit", key("2026-09-11", "billing/daily-credit/eu"), 0, 1)

    assert len({as_called, renamed, part}) == 3
    assert is_backfill_name(renamed, "daily-credit", key("2026-09-11", "billing/credit-v2"))
    assert not is_backfill_name(renamed, "daily-credit", key("2026-09-11"))


@pytest.mark.parametrize(("generation", "try_"), [(-1, 1), (0, 0), (0, 10_000_000)])
def test_what_would_look_like_a_slot_has_no_name(generation: int, try_: int) -> None:
    with pytest.raises(InvalidKey, match="no Job was made"):
        backfill_name("daily-credit", key("2026-09-11"), generation, try_)
