"""What it costs to find when a schedule fires: ``python -m benchmarks.schedule``.

Beside it stand croniter and cronsim where they are installed. They are asked for the same number of
fires, and not for the same ones: where clocks change, theirs are not the controller's.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING, Any

from benchmarks.report import Line, at_most, said, table
from k8sjob.schedule import parse
from k8sjob.schedule.clock import clock
from k8sjob.zones import zone

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.scale import Scale
    from benchmarks.server import Server

NEXT_LIMIT_US, YEAR_LIMIT_S, NEVER_LIMIT_MS = 20, 5, 50
START = datetime(2026, 1, 1, tzinfo=UTC)
END = START + timedelta(days=365)

#: Hourly or rarer, so that no frequent schedule alone decides the average.
COMMON = {
    "0 * * * *": "hourly",
    "0 */2 * * *": "every two hours",
    "30 2 * * *": "daily",
    "0 9 * * 1-5": "on working days",
    "0 3 * * 0": "weekly",
    "15 4 1,15 * *": "twice a month",
    "0 0 1 * *": "monthly",
}
NEVER = ["0 0 30 2 *", "* * 31 2,4,6,9,11 *", "0 0 , * *", ", * * * *"]
ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Africa/Casablanca", "Australia/Lord_Howe"]
_ROUNDS = 3


def measure(_server: Server | None = None, _scale: Scale | None = None) -> Iterator[Line]:
    """Measure CPU time; no server is asked."""
    spent = counted = 0.0
    for text, words in COMMON.items():
        for name in ZONES:
            seconds, count = _cpu(lambda t=text, n=name: _chain(t, n))  # type: ignore[misc]
            spent, counted = spent + seconds, counted + count
            if name == "Europe/Berlin":
                yield Line(f"next, {words}, {name}", f"{seconds / count * 1e6:.1f} µs a period")
                yield from _rivals(text, name, count)
    average = spent / counted * 1e6
    yield at_most("next, a year of them in five zones", average, NEXT_LIMIT_US, f"{average:.1f} µs")
    yield from _a_year_of_minutes()
    yield _never()


def _chain(text: str, name: str) -> int:
    """Go from fire to fire for a year by `next`; the number of fires, and one."""
    schedule, at, count = parse(text, name), START, 0
    while at <= END:
        found = schedule.next(at)
        assert found is not None  # noqa: S101  # for the type checker
        at, count = found, count + 1
    return count


def _a_year_of_minutes() -> Iterator[Line]:
    minutely = parse("* * * * *", "Europe/Berlin")
    for words, work in (
        ("next", lambda: _chain("* * * * *", "Europe/Berlin")),
        ("between", lambda: sum(1 for _ in minutely.between(START, END))),
    ):
        seconds, count = _cpu(work, rounds=1)
        shown = f"{seconds:.2f} s for {count:,} periods"
        yield at_most(f"a year of minutes, {words}", seconds, YEAR_LIMIT_S, shown, " s")
    yield from _rivals("* * * * *", "Europe/Berlin", 20_000)


def _never() -> Line:
    """Ask for what never fires, each time as if the zone had never been asked about."""
    worst = 0.0
    for text in NEVER:
        for name in ZONES:
            seconds, _ = _cpu(lambda t=text, n=name: _ask_afresh(t, n))  # type: ignore[misc]
            worst = max(worst, seconds * 1e3)
    return at_most("None, at the worst", worst, NEVER_LIMIT_MS, f"{worst:.1f} ms", " ms")


def _ask_afresh(text: str, name: str) -> int:
    clock.cache_clear()
    return int(parse(text, name).next(START) is None)


def _rivals(text: str, name: str, count: int) -> Iterator[Line]:
    local = START.astimezone(zone(name))
    rivals: dict[str, Callable[[Any], Iterator[object]]] = {
        "croniter": lambda module: module.croniter(text, local, datetime),
        "cronsim": lambda module: module.CronSim(text, local),
    }
    for package, fires in rivals.items():
        try:
            module = import_module(package)
        except ImportError:
            continue
        seconds, found = _cpu(
            lambda f=fires, m=module: sum(1 for _ in islice(f(m), count)),  # type: ignore[misc]
            rounds=1,
        )
        yield Line(f"  {package}, {text}", f"{seconds / found * 1e6:.1f} µs a period")


def _cpu(work: Callable[[], int], rounds: int = _ROUNDS) -> tuple[float, int]:
    """Return the least CPU time of a few rounds, in seconds, and what ``work`` returned."""
    spent, result = [], 0
    for _ in range(rounds):
        start = time.process_time()
        result = work()
        spent.append(time.process_time() - start)
    return min(spent), result


if __name__ == "__main__":
    lines = []
    for line in measure():
        print(said(line), flush=True)
        lines.append(line)
    print(f"\n{table(lines)}")
