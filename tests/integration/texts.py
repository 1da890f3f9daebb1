"""Texts that are, or nearly are, periods and names of jobs."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import product
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from k8sjob.cycle import FIRST_YEAR, LAST_YEAR
from k8sjob.period import Period

if TYPE_CHECKING:
    from collections.abc import Iterable

ALL_YEARS = range(FIRST_YEAR - 1, LAST_YEAR + 2)
SOME_YEARS = range(2019, 2033)

WEEKS = [
    *(f"{year}-W{week:02}" for year in SOME_YEARS for week in (0, 1, 9, 10, 39, 40, 52, 53, 54)),
    *(f"{year}-W53" for year in ALL_YEARS),
]
DAYS = [
    *(f"{year}-02-{day}" for year in SOME_YEARS for day in (28, 29, 30)),
    *(f"2026-{month:02}-{day:02}" for month in range(14) for day in (0, 1, 28, 29, 30, 31, 32)),
]
LEAP_DAYS = [f"{year}-02-29" for year in ALL_YEARS]
MONTHS = [f"{y}-{m:02}" for y in (1969, 1970, 2026, 2999, 3000) for m in (0, 1, 9, 10, 12, 13)]
SCHEDULED = [
    *(f"{day}T00:00:00Z" for day in DAYS),
    *(
        f"2026-09-13T{hour:02}:{minute:02}:{second:02}Z"
        for hour, minute, second in product((0, 9, 19, 23, 24, 25), (0, 59, 60), (0, 59, 60, 61))
    ),
]
ONCE = ["once", "Once", "ONCE", "once ", " once", "once\n", "once\0", "onc\u0435", "onc", "twice"]
# Digits of other scripts are digits to many a function; a NUL ends a text for many another.
FULLWIDTH = "\uff12\uff10\uff12\uff16-\uff10\uff19-\uff11\uff13"
ARABIC = "\u0662\u0660\u0662\u0666-\u0660\u0669-\u0661\u0663"
DEVANAGARI = "\u0968\u0966\u0968\u096c-\u0966\u096f-\u0967\u0969"
ODD = [
    *(
        "",
        " ",
        "\n",
        "T",
        "Z",
        "-",
        "--",
        "2026",
        "2026-",
        "2026-W",
        "2026-9",
        "2026-9-13",
        "26-09",
    ),
    *("2026-W1", "2026-w37", "2026W37", "2026-W37-1", "2026-W37-7", "2026-W370", "2026-257"),
    *("20260913", "2026/09/13", "2026.09.13", "2026-Q3", "2026-09-13T", "2026-09-13T00"),
    *("2026-09-13T00:00Z", "2026-09-13T00:00:00", "2026-09-13T00:00:00z", "2026-09-13t00:00:00Z"),
    *("2026-09-13 00:00:00Z", "2026-09-13T00:00:00.0Z", "2026-09-13T00:00:00+00:00"),
    *("2026-09-13T00:00:00+0000", "2026-09-13Z", "2026-09-13T00:00:00ZZ", "2026-09-13T0:00:00Z"),
    *("2026-09-13T00:00:00Z\n", "\n2026-09-13", "2026-09-13\n", "2026-09\n", "2026-W37\n"),
    *("2026-09-13\r", "2026-09-13\0", "2026-W37\0x", "2026-09\0-13", "2026-09-13T00:00:00Z\0"),
    *("2026-09-13 ", " 2026-09-13", "\u00a02026-09-13", "2026-09-13\u200b", "+2026-09-13"),
    *("-2026-09-13", "02026-09-13", "12026-09-13", FULLWIDTH, ARABIC, DEVANAGARI, "2026-W\uff137"),
    *("2026-09-1\uff13", "2026-0\uff19", "2026\u201009\u201013", "2026\u221209\u221213"),
    *("2026-09-13T00\uff1a00\uff1a00Z", "2026-02-29T23:59:60Z", "0000-00-00", "0001-01-01"),
    *("1969-12-31", "1970-01-01", "1970-W01", "2999-12-31", "2999-12-31T23:59:59Z", "3000-01-01"),
    *("9999-12-31", "now", "NOW", "today", "infinity", "-infinity", "epoch", "2026-09-13..14"),
    *("2026-09-13..2026-09-14", "2456789.5", "1789257600", "2026-09-%", "2026-09-__"),
    *("????-??-??", "2026-*", "2026-[0-9][0-9]", "2026-09-13' OR '1'='1", "2026-09-1" + "3" * 300),
]
PERIODS = [*WEEKS, *DAYS, *LEAP_DAYS, *MONTHS, *SCHEDULED, *ONCE, *ODD]

A63, A64, A253, A254, A200, A201 = ("a" * n for n in (63, 64, 253, 254, 200, 201))
JOBS = [
    *("billing/daily-credit", "billing/daily-credit/east", "b/c", "b/c/d", "0/0", "0/0/0", "x/1"),
    *("b-c/d.e-f", "b/c.d.e/F_g@h=i+j~k-l.", "b/c/part-", "b/c/part.", "b/c/1~", "billing/v1.2"),
    *("", "/", "//", "///", "a", "a/", "/a", "a//", "a//b", "/a/b", "a/b/", "a/b//", "a/b/c/"),
    *("a/b/c/d", "-a/b", "a-/b", "a/-b", "a/b-", "a/b-/c", "a/.b", "a/b.", "a/b./c", "a/b/-c"),
    *("a/b/.c", "a/b/_c", "a.b/c", "a_b/c", "a/b_c", "a/b@c", "a/b/c d", "a/b/c:d", "a:b/c"),
    *("a/b:c", "a/b:2026-09-13", "A/b", "aB/c", "a/B", "a/bC", "a/b/C", "a/b/cD", "a..b/c"),
    *("a/b..c", "a/b/c..d", "a/b/c..", "a/..", "a/../b", "../a", "a/b/..", "a/.", " a/b", "a/b "),
    *("a /b", "a/ b", "a/b\n", "\na/b", "a\n/b", "a/\nb", "a/b/c\n", "a/b\0", "a/b/c\0d", "a\0/b"),
    *("\u00e4/b", "a/\u00e4", "a/b/\u00e4", "a/b/\ufb01", "a/\uff11", "\uff11/b", "a/b/\uff11"),
    *("a\uff0fb", "a/b\u200b", "a/b/c\u0301", "\u017f/b", "a/\u212a", "a/b/\u212a", "*/*", "a/*"),
    *("a/[b]", "a/b?", "a/b/%", "a/b/c'd", "a/b/c\\d", "a/b/{c}", "a/b/c,d", "a/b/c#d", "a/b/c!d"),
    *("a/b/c$d", "a/b/c&d", "a/b/c(d)", "a/b/c^d", "a/b/c[d", "a/b/c]d", "a/b/c|d", "a/b/c*d"),
    *(
        f"{A63}/b",
        f"{A64}/b",
        f"{A63[1:]}-/b",
        f"{A63}/b/c",
        f"{A64}/b/c",
        f"a/{A253}",
        f"a/{A254}",
    ),
    *(f"a/{A253[1:]}-", f"a/{A253}/c", f"a/{A254}/c", f"a/{A253[1:]}./c", f"a/b/{A200}"),
    *(f"a/b/{A201}", f"a/{A253}/{A200}", f"a/{A253}/{A201}", f"{A63}/{A253}/{A200}"),
    *(f"{A63}/{A253}", f"{A64}/{A253}/{A200}", "\u00e9" * 63 + "/b", f"a/{A63}..{A63}"),
]

# What a slip of the finger, a wild card or another script puts in.
STRAY = st.sampled_from(
    [*"0123456789-:TZWwtzonce/._@=+~ABab \n\r\t\0%*?[]'\\", *"\uff13\u0663\u00e9\u017f\u200b"]
)


def mutated(*texts: str) -> st.SearchStrategy[str]:
    """Give texts that are up to two slips away from good ones."""
    one = st.tuples(st.integers(0, 400), STRAY, st.sampled_from(["put", "replace", "drop"]))
    return st.builds(_slip, st.sampled_from(texts), st.lists(one, max_size=2))


def _slip(text: str, slips: Iterable[tuple[int, str, str]]) -> str:
    for number, stray, how in slips:
        at = number % (len(text) + 1)
        text = text[:at] + (stray if how != "drop" else "") + text[at + (how != "put") :]
    return text


INSTANTS = st.datetimes(datetime(1970, 1, 1), datetime(2999, 12, 31), timezones=st.just(UTC))  # noqa: DTZ001  # the zone is the third argument
GOOD_PERIODS = st.one_of(
    INSTANTS.map(lambda at: str(Period.at(at.replace(microsecond=0)))),
    INSTANTS.map(lambda at: f"{at:%Y-%m-%d}"),
    INSTANTS.map(lambda at: f"{at:%Y-%m}"),
    INSTANTS.map(lambda at: "{}-W{:02}".format(*at.isocalendar())),
)
ANY_PERIODS = st.one_of(
    GOOD_PERIODS, mutated("2026-09-13T00:00:00Z", "2026-09-13", "2026-W37", "2026-09", "once")
)
ANY_JOBS = mutated("billing/daily-credit", "billing/daily-credit/east", "a/b.c/D_e")


def batches(texts: st.SearchStrategy[str]) -> st.SearchStrategy[list[str]]:
    """Give many texts at a time: one query tries them all."""
    return st.lists(texts, min_size=50, max_size=100)
