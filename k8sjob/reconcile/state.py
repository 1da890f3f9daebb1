"""What one pass over one ledger works on, and how what breaks for one job stops no other."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from k8sjob.errors import K8sjobError, Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Protocol

    from k8sjob.key import JobName, Key
    from k8sjob.ledger.watch import LastTry, Watched, Watcher
    from k8sjob.reconcile.catch_up import Launch
    from k8sjob.reconcile.report import Report
    from k8sjob.reconcile.seen import Census, Named, World
    from k8sjob.reconcile.traces import Index, Traces
    from k8sjob.reconcile.versions import JobPlan

    class Launcher(Protocol):
        """Makes the Job of a period."""

        def __call__(self, named: Named, launch: Launch, /) -> str:
            """Make it, and return its name. Raises K8sjobError."""


#: Who changes states here, as the events say it.
BY = "reconciler"


@dataclass(slots=True)
class Pass:
    """One pass over one ledger, and what is known so far.

    ``namespaces``: None for all. ``there`` and ``traces`` are None and empty where Jobs or Pods
    could not be listed. ``tells_broken``: CronJobs that cannot be read are told here, and not by
    another ledger's part of the pass. ``budget``: Jobs that it may start. ``lost``: what a dry run
    would have ended, and so would know of the tries.
    """

    watcher: Watcher
    watched: Watched
    scope: str
    namespaces: list[str] | None
    world: World
    census: Census
    report: Report
    launcher: Launcher
    budget: int
    tells_broken: bool = True
    plans: dict[JobName, JobPlan] = field(default_factory=dict)
    there: Index | None = None
    traces: Mapping[str, Traces] = field(default_factory=dict)
    lost: dict[Key, LastTry] = field(default_factory=dict)

    @property
    def writes(self) -> bool:
        """Whether it is not a dry run."""
        return not self.report.dry_run

    def last_tries(self, keys: Sequence[Key]) -> Mapping[Key, LastTry]:
        """Return how the last attempt at each of them ended, or would have."""
        ended = self.watcher.last_tries(keys) if keys else {}
        return {**ended, **self.lost}

    @contextmanager
    def alone(self, what: object) -> Iterator[None]:
        """Let what breaks for one job be told, and the others go on. A ledger away ends it all."""
        try:
            yield
        except Unavailable:
            raise
        except K8sjobError as error:
            self.report.add(what, "broken", str(error))
