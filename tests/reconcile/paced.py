"""Reconcilers of one ledger that a test lets meet, or overtake one another, at a step."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Barrier, Event
from typing import TYPE_CHECKING, Any

from k8sjob.ledger.postgres.watch import PostgresWatcher
from k8sjob.reconcile.launching import launcher_of
from tests.reconcile.conftest import Desk

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from k8sjob.cycle import Cycle
    from k8sjob.key import JobName, Key
    from k8sjob.kube.client import Cluster
    from k8sjob.ledger.watch import Due, Watched
    from k8sjob.reconcile.catch_up import Launch
    from k8sjob.reconcile.report import Report
    from k8sjob.reconcile.seen import Named

WAIT = 30.0  # seconds


class Paced(PostgresWatcher):
    """A reconciler's connection on which, once at each step, something may come between."""

    def __init__(self, dsn: str) -> None:
        super().__init__(dsn, lock_timeout_s=WAIT)
        self.looked: Callable[[], object] | None = None
        self.expects: Callable[[], object] | None = None
        self.notes: Callable[[], object] | None = None

    def _once(self, step: str) -> None:
        comes_between = getattr(self, step)
        setattr(self, step, None)
        if comes_between is not None:
            comes_between()

    def look(self, scope: str, namespaces: Sequence[str] | None) -> Watched:
        """Look, and let something come before what is done with it."""
        seen = super().look(scope, namespaces)
        self._once("looked")
        return seen

    def expect(
        self, job: JobName, kind: Cycle, due: Sequence[Due], mark: datetime | None, by: str
    ) -> Mapping[Key, str]:
        """Store what is due, once something has come before."""
        self._once("expects")
        return super().expect(job, kind, due, mark, by)

    def note_launch(self, *which: Any, **more: Any) -> None:
        """Note a Job, once something has come before."""
        self._once("notes")
        super().note_launch(*which, **more)


@dataclass
class Reconciler(Desk):
    """A reconciler of its own; with a cluster it makes the Jobs of catch-up."""

    cluster: Cluster | None = None
    watcher: Paced = field(kw_only=True)

    def _launch(self, named: Named, launch: Launch) -> str:
        self.launched.append(launch)
        return launcher_of(self.cluster, self.watcher)(named, launch)


def at_once(*passes: Callable[[], Report]) -> list[Report]:
    """Make passes in threads of their own."""
    with ThreadPoolExecutor(len(passes)) as threads:
        return [each.result(WAIT) for each in [threads.submit(one) for one in passes]]


def meet(one: Reconciler, two: Reconciler, step: str) -> Event:
    """Let both go on from a step together; return what is set once the first has come to it."""
    barrier, came = Barrier(2, timeout=WAIT), Event()

    def comes() -> None:
        came.set()
        barrier.wait()

    setattr(one.watcher, step, comes)
    setattr(two.watcher, step, barrier.wait)
    return came


def after(came: Event, go: Callable[[], Report]) -> Callable[[], Report]:
    """Return a pass that begins once the other one has come as far as it is to."""

    def waits() -> Report:
        assert came.wait(WAIT)
        return go()

    return waits
