"""A collector of prometheus-client over the readings of all ledgers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import starmap
from typing import TYPE_CHECKING, Any, cast

from prometheus_client import CollectorRegistry
from prometheus_client.core import Metric
from prometheus_client.registry import Collector
from prometheus_client.samples import Sample

from k8sjob.serve.labels import Labels, labels_of
from k8sjob.serve.metrics import METRICS, PREFIX
from k8sjob.serve.numbers import numbers
from k8sjob.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from k8sjob.serve.numbers import Reading


class Points(Sequence[Sample]):
    """The samples of a family, each made when it is asked for.

    A scrape of a thousand jobs has 47,000. To make and keep them all cost more than to work out
    their values, and set off garbage collections that cost twice as much again (measured).
    """

    def __init__(self, name: str) -> None:
        """Take the name of all of them."""
        self.name = name
        self.labels: list[Labels] = []
        self.values: list[float] = []

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, index: Any) -> Any:
        return list(self)[index]

    def __iter__(self) -> Iterator[Sample]:
        return starmap(self._sample, zip(self.labels, self.values, strict=True))

    def _sample(self, labels: Labels, value: float) -> Sample:
        return Sample(self.name, labels.by_name(), value)

    def lines(self) -> list[str]:
        """Return them as both formats write them."""
        name, pairs = self.name, zip(self.labels, self.values, strict=True)
        return [f"{name}{labels.text} {value}\n" for labels, value in pairs]


class LedgerCollector(Collector):
    """Makes the families anew at each scrape; a family without a value is not shown."""

    def __init__(self, read: Callable[[], Sequence[Reading]]) -> None:
        """Take what reads all ledgers."""
        self._read = read

    def collect(self) -> Iterable[Metric]:
        """Return the families in the order of the table; the samples of each are `Points`."""
        made = {name: Points(PREFIX + name) for name in METRICS}
        made["build_info"].labels.append(labels_of("version", __version__))
        made["build_info"].values.append(1)
        for reading in self._read():
            for name, labels, value in numbers(reading):
                points = made[name]
                points.labels.append(labels)
                points.values.append(value)
        return [_family(name, points) for name, points in made.items() if points]

    def describe(self) -> Iterable[Metric]:
        """Return no families: to be registered must not ask the ledgers."""
        return ()


def _family(name: str, points: Points) -> Metric:
    about = METRICS[name]
    metric = Metric(PREFIX + name.removesuffix("_total"), about.help, about.kind)
    metric.samples = cast("list[Sample]", points)
    return metric


def registry_of(read: Callable[[], Sequence[Reading]]) -> CollectorRegistry:
    """Return a registry of its own: none of the process's own metrics stand beside ours."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(LedgerCollector(read))
    return registry
