"""A collector of prometheus-client over the readings of all ledgers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry
from prometheus_client.core import Metric
from prometheus_client.registry import Collector
from prometheus_client.samples import Sample

from k8sjob.serve.labels import labels_of
from k8sjob.serve.metrics import METRICS, PREFIX
from k8sjob.serve.numbers import numbers
from k8sjob.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from k8sjob.serve.numbers import Reading


class LedgerCollector(Collector):
    """Makes the families anew at each scrape; a family without a value is not shown."""

    def __init__(self, read: Callable[[], Sequence[Reading]]) -> None:
        """Take what reads all ledgers."""
        self._read = read

    def collect(self) -> Iterable[Metric]:
        """Return the families in the order of the table."""
        made: dict[str, list[Sample]] = {name: [] for name in METRICS}
        labels = labels_of("version", __version__)
        made["build_info"].append(Sample(f"{PREFIX}build_info", labels, 1))
        full = {name: PREFIX + name for name in METRICS}
        for reading in self._read():
            for name, found, value in numbers(reading):
                made[name].append(Sample(full[name], found, value))
        for name, samples in made.items():
            if samples:
                yield _family(name, samples)

    def describe(self) -> Iterable[Metric]:
        """Return no families: to be registered must not ask the ledgers."""
        return ()


def _family(name: str, samples: list[Sample]) -> Metric:
    about = METRICS[name]
    metric = Metric(PREFIX + name.removesuffix("_total"), about.help, about.kind)
    metric.samples = samples
    return metric


def registry_of(read: Callable[[], Sequence[Reading]]) -> CollectorRegistry:
    """Return a registry of its own: none of the process's own metrics stand beside ours."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(LedgerCollector(read))
    return registry
