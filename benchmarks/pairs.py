"""Interleaved runs of rivals, and what their ratio is.

Figures of two runs cannot be compared: the machine is never the same twice. So the rivals take
turns within one run, each round has one value of each, and the ratio is that of a round. Rounds
go through the rivals forwards and backwards in turn, so that none always comes after the same one.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median, quantiles
from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence


@dataclass(frozen=True)
class Spread:
    """A median with the quartiles around it, and the extremes."""

    median: float
    low: float
    high: float
    least: float
    most: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Take at least two values."""
        low, _, high = quantiles(values, n=4, method="inclusive")
        return cls(median(values), low, high, min(values), max(values))

    def text(self, form: str = ".2f", unit: str = "", factor: float = 1.0) -> str:
        """Write ``median (quartile to quartile)``, each multiplied by ``factor``."""
        mid, low, high = (f"{v * factor:{form}}" for v in (self.median, self.low, self.high))
        return f"{mid}{unit} ({low} to {high})"


@dataclass(frozen=True)
class Rounds:
    """What each rival took in each round."""

    values: Mapping[str, Sequence[float]]

    def of(self, name: str) -> Spread:
        """Return the spread of one rival's values."""
        return Spread.of(self.values[name])

    def ratio(self, name: str, to: str) -> Spread:
        """Return the spread of the rounds' ratios of two rivals."""
        pairs = zip(self.values[name], self.values[to], strict=True)
        return Spread.of([one / other for one, other in pairs])

    def difference(self, name: str, to: str) -> Spread:
        """Return the spread of the rounds' differences of two rivals."""
        pairs = zip(self.values[name], self.values[to], strict=True)
        return Spread.of([one - other for one, other in pairs])


def take_turns(rivals: Mapping[str, Callable[[], float]], rounds: int) -> Rounds:
    """Run each rival once a round; a rival returns its value. The first round does not count."""
    for run in rivals.values():
        run()
    values: dict[str, list[float]] = {name: [] for name in rivals}
    for order in _orders(list(rivals), rounds):
        for name in order:
            values[name].append(rivals[name]())
    return Rounds(values)


def _orders(names: list[str], rounds: int) -> Iterator[list[str]]:
    for number in range(rounds):
        yield names if number % 2 == 0 else names[::-1]


def block(value: Callable[[], float], times: int) -> Callable[[], float]:
    """Return a rival that asks for ``value`` some times and returns the median."""
    return lambda: median(value() for _ in range(times))


def timed(work: Callable[[], object]) -> Callable[[], float]:
    """Return what does ``work`` and returns how long it took, in seconds of wall time."""

    def seconds() -> float:
        start = perf_counter()
        work()
        return perf_counter() - start

    return seconds
