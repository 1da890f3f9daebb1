"""What holds for the names of all Jobs, whatever the CronJob is called."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone

from hypothesis import assume, example, given
from hypothesis import strategies as st

from k8sjob.key import JobName, Key
from k8sjob.kube.names import (
    LONGEST,
    backfill_name,
    is_backfill_name,
    is_slot_name,
    slot_name,
    slot_of,
)
from k8sjob.period import Period

#: Kubernetes takes at most 52 characters for a CronJob (measured); dots only make it warn.
cronjobs = st.from_regex(
    r"[a-z0-9]([-a-z0-9]{0,14}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,14}[a-z0-9])?){0,2}"
    r"|[a-z0-9]([-a-z0-9]{40,50})[a-z0-9]",
    fullmatch=True,
).filter(lambda name: len(name) <= 52)
days = st.dates(date(1970, 1, 1), date(2999, 12, 31))
instants = st.integers(0, 32_503_679_999).map(lambda s: datetime.fromtimestamp(s, UTC))
periods = st.one_of(
    instants.map(Period.at),
    days.map(lambda day: Period.parse(f"{day:%Y-%m-%d}")),
    days.map(lambda day: Period.parse(f"{day:%G-W%V}")),
    days.map(lambda day: Period.parse(f"{day:%Y-%m}")),
    st.just(Period.parse("once")),
)
#: The minutes since 1970 have eight digits from 1989 to 2160.
slots = st.integers(10_000_000, 99_999_999).map(
    lambda n: datetime(1970, 1, 1, tzinfo=UTC) + timedelta(minutes=n)
)
offsets = st.integers(-14 * 60, 14 * 60).map(lambda n: timezone(timedelta(minutes=n)))
tries = st.integers(1, 9_999_999)
generations = st.integers(0, 2_147_483_647)  # an integer of the ledger

_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")


@given(cronjobs, slots, offsets)
def test_the_controllers_name_gives_the_slot_back(
    cronjob: str, slot: datetime, offset: timezone
) -> None:
    name = slot_name(cronjob, slot.astimezone(offset))

    assert len(name) <= 63 - 2
    assert slot_of(name, cronjob) == slot
    assert is_slot_name(name, cronjob, slot + timedelta(seconds=59))
    assert not is_slot_name(name, cronjob, slot - timedelta(seconds=1))


@given(cronjobs, st.text() | st.from_regex(r"-?[0-9]{1,12}"))
def test_what_has_a_slot_is_named_after_it(cronjob: str, rest: str) -> None:
    slot = slot_of(cronjob + rest, cronjob)

    assert slot is None or slot_name(cronjob, slot) == cronjob + rest


@given(cronjobs, st.none() | cronjobs, periods, generations, tries)
@example("a." * 25 + "aa", None, Period.parse("2026-09-11T02:15:30Z"), 2_147_483_647, 9_999_999)
def test_a_backfills_name_is_a_name_and_never_a_slots(
    cronjob: str, job: str | None, period: Period, generation: int, try_: int
) -> None:
    key = Key(JobName("billing", job or cronjob), period)

    name = backfill_name(cronjob, key, generation, try_)

    assert len(name) <= LONGEST
    assert _SUBDOMAIN.fullmatch(name)
    assert not re.search("-[0-9]{8}$", name)
    assert slot_of(name, cronjob) is None
    assert is_backfill_name(name, cronjob, key)


@given(cronjobs, cronjobs, periods, periods, generations, tries)
def test_two_keys_never_share_a_name(  # noqa: PLR0913, PLR0917  # two of each, and what they share
    cronjob: str, job: str, one: Period, other: Period, generation: int, try_: int
) -> None:
    # The kind of a job's periods is fixed.
    assume(job != cronjob or one.cycle is other.cycle)
    first = Key(JobName("billing", cronjob), one)
    second = Key(JobName("billing", job), other)
    assume(first != second)

    name = backfill_name(cronjob, first, generation, try_)

    assert name != backfill_name(cronjob, second, generation, try_)
    assert not is_backfill_name(name, cronjob, second)


@given(cronjobs, periods, st.tuples(generations, tries), st.tuples(generations, tries))
def test_two_tries_of_a_key_never_share_a_name(
    cronjob: str, period: Period, one: tuple[int, int], other: tuple[int, int]
) -> None:
    assume(one != other)
    key = Key(JobName("billing", cronjob), period)

    assert backfill_name(cronjob, key, *one) != backfill_name(cronjob, key, *other)


@given(cronjobs, cronjobs, periods, generations, tries)
def test_two_cronjobs_never_share_a_name(
    one: str, other: str, period: Period, generation: int, try_: int
) -> None:
    assume(one != other)
    first, second = (Key(JobName("billing", name), period) for name in (one, other))

    assert backfill_name(one, first, generation, try_) != backfill_name(
        other, second, generation, try_
    )
