"""What a reconciler calls missing was missed, whatever is done to a CronJob between its lists.

The true timeline is known here, and the reconciler sees lists of it only: whole seconds, another
clock, some lists that fail. It must hide no miss, and call nothing missed for certain that was not
meant.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from k8sjob.cycle import Cycle
from k8sjob.key import Key
from k8sjob.period import Period
from tests.property.lives import (
    DAY,
    DENSE,
    HOUR,
    HOURLY,
    IRREGULAR,
    JOB,
    NIGHTLY,
    Act,
    Life,
    Script,
    at_random,
    live,
)
from tests.property.timeline import FAR_OFF, SECOND, Fire, Stint

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

#: Clocks may be so far apart, and passes take their time: what counts as around a list.
AROUND = timedelta(seconds=130)

worlds = st.randoms(use_true_random=True)


@settings(max_examples=400)
@given(by=worlds)
def test_slots_are_missing_if_and_only_if_they_were_meant(by: Random) -> None:
    hold(at_random(by, [Cycle.SCHEDULED], [*HOURLY, IRREGULAR, *DENSE, *NIGHTLY]))


@settings(max_examples=200)
@given(by=worlds)
def test_days_and_weeks_are_missing_if_and_only_if_they_were_meant(by: Random) -> None:
    hold(at_random(by, [Cycle.DAY, Cycle.WEEK], [*HOURLY, *NIGHTLY]))


@settings(max_examples=50)
@given(by=worlds)
def test_what_is_done_once_is_missing_if_and_only_if_it_was_meant(by: Random) -> None:
    hold(at_random(by, [Cycle.ONCE], [*HOURLY, *NIGHTLY]))


def hold(script: Script) -> None:
    """Fail with the shortest script that fails too, and with what is wrong in it."""
    if fault(script) is None:
        return
    n = 0
    while n < len(script.acts):
        less = replace(script, acts=[*script.acts[:n], *script.acts[n + 1 :]])
        script, n = (less, 0) if fault(less) else (script, n + 1)
    raise AssertionError(f"{fault(script)}\n{script}")


def fault(script: Script) -> str | None:
    """Return what is wrong, as one sentence; None: nothing."""
    life = live(script)
    looks = (hidden(life), false(life), without_reason(life), too_early(life), caught_up(life))
    return next((found for look in looks for found in look), None) or not_at_rest(life)


# -------------------------------------------------------------------------------- what must hold


def hidden(life: Life) -> Iterator[str]:
    """Return the slots that were meant and that nobody did, and that are not known."""
    for stint, end in stints_of_one_meaning(life):
        seen = any(stint.at < one < end for one in life.good)
        if not (seen and stint.starts and stint.enabled):
            continue  # what no list has shown cannot be known
        for fire in stint.fires(max(stint.at, tracked_since(life)), min(end, life.at - 2 * HOUR)):
            period = Period.of(life.cycle, fire.at, fire.zone)
            over = not life.cycle.on_calendar or period.window(fire.zone).end < life.at - DAY
            if over and Key(JOB, period) not in life.paper.rows:
                yield f"{period} of {fire.at} is hidden"


def tracked_since(life: Life) -> datetime:
    """Return since when it is tracked: one that cannot be read is not, until it can be."""
    shown = [one for one in life.good if life.timeline.at(one).enabled]
    before = [one for one in life.lists if shown and one < shown[0]]
    return max([life.lists[0], *before]) + AROUND


def false(life: Life) -> Iterator[str]:
    """Return what is called missing for certain and was not meant."""
    for text, uncertain in life.paper.open_rows().items():
        if not uncertain and not is_meant(life, Period(text)):
            yield f"{text} was not meant"


def is_meant(life: Life, period: Period) -> bool:
    """Whether it should have been done. A label that no list has missed was never away."""
    return any(
        stint.starts and (stint.enabled or not any(stint.at < one < end for one in life.lists))
        for stint, end in life.timeline.spans()
        for _ in fires_in(stint, min(end, life.at), period)
    )


def without_reason(life: Life) -> Iterator[str]:
    """Return what is called uncertain and lies around no change."""
    spans = list(lists_around_changes(life))
    each = [stint for stint in life.timeline.stints if stint.exists]
    for text, uncertain in life.paper.open_rows().items():
        whenever = [replace(stint, at=life.lists[0] - DAY) for stint in each]
        fires = [fire.at for one in whenever for fire in fires_in(one, life.at, Period(text))]
        if uncertain and not any(low <= at <= high for at in fires for low, high in spans):
            yield f"{text} is uncertain without a reason"


def lists_around_changes(life: Life) -> Iterator[tuple[datetime, datetime]]:
    """Return the stretches between two lists in which it was written to, and what came before."""
    lists = [life.lists[0] - DAY, *life.good]
    for low, high in pairwise(lists):
        if low < life.lists[0] or any(low < one.at <= high for one in life.timeline.stints):
            yield low - AROUND, high + AROUND


def too_early(life: Life) -> Iterator[str]:
    """Return what was called missing when it still was to be started."""
    for listed, made in life.made:
        now = life.timeline.at(listed)
        if life.cycle is Cycle.ONCE or now.broken or not (now.starts and now.enabled):
            continue
        for key in made:
            if any(fire.at > listed + AROUND for fire in fires_in(now, FAR_OFF, key.period)):
                yield f"{key.period} was called missing at {listed}"


def caught_up(life: Life) -> Iterator[str]:
    """Return what was started though it was uncertain, or not meant."""
    for launch in life.started:
        if life.paper.rows[launch.key].uncertain or not is_meant(life, launch.key.period):
            yield f"{launch.key} was started"


def not_at_rest(life: Life) -> str | None:
    """Return what is done again and again at the same time; the first may follow up the last."""
    report, before = None, None
    for _ in range(2):
        before = life.paper.dump()
        life.at = life.looked + timedelta(microseconds=1)
        report = life.one_pass(Act("pass"))
    told = [line for line in report.lines if line.action != "waits"] if report else []
    return f"the same again does {told}" if told or life.paper.dump() != before else None


# ------------------------------------------------------------------------------ what truly was


def stints_of_one_meaning(life: Life) -> Iterator[tuple[Stint, datetime]]:
    """Return stints with their ends; those that only differ in other things are one."""
    each = list(life.timeline.spans())
    while each:
        stint, end = each.pop(0)
        while each and each[0][0].meaning == stint.meaning:
            end = each.pop(0)[1]
        yield stint, end


def fires_in(stint: Stint, end: datetime, period: Period) -> list[Fire]:
    """Return the fires of a stint that are of a period."""
    low, high = stint.at, end
    if period.cycle is Cycle.SCHEDULED:
        high = datetime.fromisoformat(period.text)
        low = high - SECOND
    elif period.cycle is not Cycle.ONCE:
        window = period.window(stint.zone)
        low, high = window.start - SECOND, window.end - SECOND
    return list(stint.fires(max(low, stint.at), min(high, end)))
