"""What the status page costs: the overview of many jobs, and one job's page.

All that the server does for a request but for HTTP itself: the ledger is read anew each time, the
page is made, and packed.
"""

from __future__ import annotations

import gc
from contextlib import closing
from itertools import count
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any

from benchmarks.pairs import Spread
from benchmarks.report import Line, at_most
from k8sjob.ledger.settings import parse
from k8sjob.serve.app import App
from k8sjob.serve.site import Site

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE_LIMIT_MS = 200.0


def pages(dsn: str, jobs: int, one: str, rounds: int) -> Iterator[Line]:
    """Measure the overview of a ledger with so many jobs, and the page of ``one`` of them."""
    ticks = count(step=1000)  # no snapshot is shared
    finds = {"bench": lambda: parse(dsn, "the benchmark")}
    with closing(Site(finds, clock=lambda: next(ticks))) as site:
        app = App.of(site)
        for what, path in ((f"the page of {jobs:,} jobs", "/"), ("a job's page", f"/jobs/{one}")):
            wall, cpu = _spreads(app, path, rounds)
            yield at_most(
                f"{what}: processor", cpu.median, PAGE_LIMIT_MS, cpu.text(".0f", " ms"), " ms"
            )
            yield at_most(
                f"{what}: wall", wall.median, PAGE_LIMIT_MS, wall.text(".0f", " ms"), " ms"
            )


def _spreads(app: App, path: str, rounds: int) -> tuple[Spread, Spread]:
    """Return wall and processor time in milliseconds; the first two requests do not count."""
    for _ in range(2):
        _get(app, path)
    gc.collect()
    found = [_get(app, path) for _ in range(rounds)]
    return Spread.of([wall for wall, _ in found]), Spread.of([cpu for _, cpu in found])


def _get(app: App, path: str) -> tuple[float, float]:
    told: list[str] = []

    def start(status: str, _headers: Any) -> None:
        told.append(status)

    environ = {"REQUEST_METHOD": "GET", "PATH_INFO": path, "HTTP_ACCEPT_ENCODING": "gzip"}
    wall, cpu = perf_counter(), process_time()
    b"".join(app(environ, start))
    took = (perf_counter() - wall) * 1e3, (process_time() - cpu) * 1e3
    if told != ["200 OK"]:
        raise RuntimeError(f"{path}: {told}")
    return took
