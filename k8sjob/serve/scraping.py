"""``/metrics``: the registry, written in the format that is asked for."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

from k8sjob.serve.collector import registry_of
from k8sjob.serve.exposition import OPEN_METRICS, TEXT, choose, write
from k8sjob.serve.ledgers import WITHIN_S
from k8sjob.serve.web import Answer

if TYPE_CHECKING:
    from collections.abc import Callable

    from k8sjob.serve.ledgers import Ledgers
    from k8sjob.serve.web import Request

#: How long Prometheus waits, in seconds; it sends it with each scrape.
_PATIENCE = "x-prometheus-scrape-timeout-seconds"
#: What of that is left for writing, compressing and the network (seconds).
_SPARE_S = 1.5
_SHORTEST_S = 0.5


class Scraping:
    """Answers scrapes; ``after`` is called once the first one has been answered."""

    def __init__(self, ledgers: Ledgers, after: Callable[[], None] = lambda: None) -> None:
        """Take the ledgers."""
        self._ledgers = ledgers
        self._after: Callable[[], None] | None = after

    def __call__(self, request: Request) -> Answer:
        """Return all metrics."""
        open_metrics = choose(request.headers.get("accept"))
        registry = registry_of(partial(self._ledgers.read, within(request)))
        body = write(registry.collect(), open_metrics=open_metrics)
        after, self._after = self._after, None
        if after is not None:
            after()
        return Answer(
            body=body,
            kind=OPEN_METRICS if open_metrics else TEXT,
            headers={"Vary": "Accept, Accept-Encoding"},
        )


def within(request: Request) -> float:
    """Return how long a scrape may wait for ledgers, in seconds."""
    try:
        patience = float(request.headers.get(_PATIENCE, "nan"))
    except ValueError:
        patience = math.nan
    if not math.isfinite(patience):
        return WITHIN_S
    return max(_SHORTEST_S, min(WITHIN_S, patience - _SPARE_S))
