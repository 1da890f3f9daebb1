"""A pass over all ledgers: one that is away hides nothing of the others."""

from __future__ import annotations

import logging
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from k8sjob.errors import ConfigError, K8sjobError
from k8sjob.ledger.settings import DEFAULT
from k8sjob.ledger.watch import open_watcher
from k8sjob.reconcile.gather import gather
from k8sjob.reconcile.launching import launcher_of
from k8sjob.reconcile.one_pass import run
from k8sjob.reconcile.report import Report, summary
from k8sjob.reconcile.seen import Census, Span, World, take_census
from k8sjob.reconcile.state import Pass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from k8sjob.kube.client import Cluster
    from k8sjob.ledger.settings import Address
    from k8sjob.ledger.watch import Watched, Watcher

log = logging.getLogger("k8sjob")


@dataclass(frozen=True, slots=True, kw_only=True)
class Orders:
    """What a pass is told. ``namespaces``: None for all. ``budget``: Jobs it may start.

    ``every_ledger``: it knows all that there are, so a CronJob of another one is in error.
    """

    namespaces: Sequence[str] | None = None
    dry_run: bool = False
    budget: int = 50
    every_ledger: bool = True

    @property
    def scope(self) -> str:
        """How the ledger calls what is listed: each scope has its own last complete list."""
        return "*" if self.namespaces is None else ",".join(sorted(set(self.namespaces)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Open:
    """A ledger that answered. ``number`` is its row in passes; None in a dry run."""

    name: str
    address: Address
    watcher: Watcher
    watched: Watched
    number: int | None


def run_pass(
    ledgers: Mapping[str, Callable[[], Address]],
    connect: Callable[[], Cluster],
    orders: Orders,
) -> list[Report]:
    """Look at the ledgers, list the cluster, and do what there is to do; one report a ledger.

    Nothing is raised for a ledger or a cluster that is away: it is the trouble of its report.
    """
    reports = [Report(name, orders.scope, orders.dry_run) for name in ledgers]
    with ExitStack() as stack:
        there = [
            (report, _open(stack, report, ledgers[report.ledger], orders)) for report in reports
        ]
        if not any(found for _, found in there):
            return reports
        cluster, world = _see(stack, connect, orders)
        census = take_census(world.cronjobs or ())
        budget, first = orders.budget, True
        for report, found in there:
            if found is None:
                continue
            own = _own(census, found.name, set(ledgers) if orders.every_ledger else None)
            work = _work(found, orders, world, own, report, cluster, budget, tells=first)
            _carry_out(work, found, world)
            budget, first = work.budget, False
    return reports


def _open(
    stack: ExitStack, report: Report, find: Callable[[], Address], orders: Orders
) -> _Open | None:
    """Connect to a ledger and look at it, before the cluster is listed."""
    try:
        address = find()
        watcher = stack.enter_context(closing(open_watcher(address)))
        number = None if orders.dry_run else watcher.start_pass(orders.scope)
    except K8sjobError as error:
        report.trouble = str(error)
        return None
    try:
        spaces = None if orders.namespaces is None else list(orders.namespaces)
        watched = watcher.look(orders.scope, spaces)
    except K8sjobError as error:
        report.trouble = str(error)
        _note_end(watcher, number, report)
        return None
    return _Open(
        name=report.ledger, address=address, watcher=watcher, watched=watched, number=number
    )


def _see(
    stack: ExitStack, connect: Callable[[], Cluster], orders: Orders
) -> tuple[Cluster | None, World]:
    try:
        cluster = stack.enter_context(closing(connect()))
    except K8sjobError as error:
        return None, World(troubles=(str(error),))
    return cluster, gather(cluster, orders.namespaces)


def _own(census: Census, name: str, ledgers: set[str] | None) -> Census:
    """Return the jobs of one ledger. Those of a ledger that nobody has named are broken."""
    named = {j: n for j, n in census.named.items() if (n.ledger or DEFAULT) == name}
    lost = {
        job: str(
            ConfigError(
                f"it is of the ledger {one.ledger or DEFAULT}, which this reconciler does not "
                "know: nothing was done for it. Add a file of that name to K8SJOB_LEDGERS_DIR"
            )
        )
        for job, one in census.named.items()
        if ledgers is not None and (one.ledger or DEFAULT) not in ledgers
    }
    return Census(named, {**census.broken, **lost}, census.unread)


def _work(  # noqa: PLR0913, PLR0917  # all that a pass works on
    found: _Open,
    orders: Orders,
    world: World,
    census: Census,
    report: Report,
    cluster: Cluster | None,
    budget: int,
    *,
    tells: bool,
) -> Pass:
    return Pass(
        watcher=found.watcher,
        watched=found.watched,
        scope=orders.scope,
        namespaces=None if orders.namespaces is None else list(orders.namespaces),
        world=world,
        census=census,
        report=report,
        launcher=launcher_of(cluster, found.watcher),
        budget=budget,
        tells_broken=tells,
    )


def _carry_out(work: Pass, found: _Open, world: World) -> None:
    report = work.report
    try:
        # Read again: the list is as old as its end.
        span = Span(
            began=found.watched.now, ended=found.watcher.now(), last=found.watched.last_list
        )
        run(work, span)
    except K8sjobError as error:
        report.trouble = str(error)
    if world.troubles and report.trouble is None:
        report.trouble = "; ".join(world.troubles)
    _note_end(found.watcher, found.number, report)


def _note_end(watcher: Watcher, number: int | None, report: Report) -> None:
    if number is None:
        return
    message = report.trouble or summary(report)
    # Readers take a pass with failing jobs for one that has looked at all.
    failing = 0 if report.trouble else report.failing
    try:
        watcher.end_pass(number, ok=report.ok, failing=failing, message=message)
    except K8sjobError as error:
        log.warning("the end of the pass could not be written: %s", error)
