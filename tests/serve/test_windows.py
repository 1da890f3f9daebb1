"""Which stretch of time a calendar shows, and what lies beside it."""

from __future__ import annotations

import pytest

from k8sjob.errors import UsageError
from k8sjob.serve.window import Window, Wish
from tests.serve.paper import Paper
from tests.serve.scene import at

DAILY, WEEKLY, MONTHLY, HOURLY, MINUTES = (
    "0 2 * * *", "0 4 * * 1", "0 6 1 * *", "0 * * * *", "* * * * *",
)  # fmt: skip


def window(expr: str, until: str | None = None, span: int | None = None) -> Window:
    """Return the window that is asked for at 19:00 (21:00 in Rome) on 13 September 2026."""
    return Paper(expr, wish=Wish(until=until, span=span)).window


@pytest.mark.parametrize(
    ("expr", "start", "end", "earlier"),
    [
        (DAILY, "2026-06-30 22:00", "2026-09-30 22:00", "2026-06"),
        (WEEKLY, "2025-09-30 22:00", "2026-10-06 22:00", "2025-09"),
        (MONTHLY, "2023-12-31 23:00", "2026-12-31 23:00", "2023"),
        (HOURLY, "2026-08-30 22:00", "2026-09-13 22:00", "2026-08-30"),
        (MINUTES, "2026-09-13 14:00", "2026-09-13 20:00", "2026-09-13T15"),
    ],
)
def test_what_is_usual_ends_with_the_present(expr: str, start: str, end: str, earlier: str) -> None:
    found = window(expr)
    assert (found.start, found.end) == (at(start), at(end))
    assert (found.earlier, found.later) == (earlier, None)


@pytest.mark.parametrize(
    ("expr", "until", "start", "end", "later"),
    [
        (DAILY, "2026-03", "2025-12-31 23:00", "2026-03-31 22:00", "2026-06"),
        (DAILY, "2026", "2026-06-30 22:00", "2026-09-30 22:00", None),
        (DAILY, "2026-08-31T10", "2026-05-31 22:00", "2026-08-31 22:00", "2026-09"),
        (HOURLY, "2026-08-01", "2026-07-18 22:00", "2026-08-01 22:00", "2026-08-15"),
        (HOURLY, "2026-02", "2026-02-14 23:00", "2026-02-28 23:00", "2026-03-14"),
        (MINUTES, "2026-09-01", "2026-09-01 16:00", "2026-09-01 22:00", "2026-09-02T05"),
        (MINUTES, "2026-09-01T09", "2026-09-01 02:00", "2026-09-01 08:00", "2026-09-01T15"),
        (MONTHLY, "2020-05", "2017-12-31 23:00", "2020-12-31 23:00", "2023"),
    ],
)
def test_a_time_may_be_asked_for_as_finely_as_one_likes(
    expr: str, until: str, start: str, end: str, later: str | None
) -> None:
    found = window(expr, until)
    assert (found.start, found.end) == (at(start), at(end))
    assert found.later == later


def test_later_leads_back_to_where_earlier_came_from() -> None:
    for expr in (DAILY, WEEKLY, MONTHLY, HOURLY, MINUTES):
        earlier = window(expr, window(expr).earlier)
        assert earlier.later is not None
        assert window(expr, earlier.later).start == window(expr).start


def test_what_has_not_come_is_the_present() -> None:
    assert window(DAILY, "2027-01") == window(DAILY)
    assert window(MINUTES, "2026-09-13T23") == window(MINUTES)


def test_a_longer_window_ends_with_the_same_day() -> None:
    found = window(DAILY, "2026-03", 12)
    assert (found.start, found.end) == (at("2025-03-31 22:00"), at("2026-03-31 22:00"))


def test_a_length_that_is_not_offered_is_the_usual_one() -> None:
    assert window(DAILY, span=400) == window(DAILY)


def test_there_is_nothing_before_the_first_year() -> None:
    found = window(DAILY, "1970-02")
    assert found.start == at("1969-12-31 23:00")
    assert found.earlier is None


@pytest.mark.parametrize(
    "text",
    ["now", "2026-13", "2026-02-30", "26-01", "0001", "1969", "2999", "2026-09-13T24", "²⁰²⁶"],
)
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no time of a calendar"):
        window(DAILY, text)
