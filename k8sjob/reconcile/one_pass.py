"""One pass over one ledger: what is planned from what was seen, written job by job.

::

    look at the ledger → list the cluster → versions → what is due → lost attempts → catch-up
                                            └───────── each a pure plan, then applied ────────┘

A pass keeps nothing in memory for the next one, and two at once do no harm: lists are taken in by
their order, rows are made once, Jobs have names that are a function of what they do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from k8sjob.key import Key
from k8sjob.reconcile.following import catch_up, explain, note_unstarted, overdue
from k8sjob.reconcile.lost import is_silent
from k8sjob.reconcile.storing import close, judge, store
from k8sjob.reconcile.taking_in import keep, take_in
from k8sjob.reconcile.traces import index, trace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from k8sjob.reconcile.seen import Span
    from k8sjob.reconcile.state import Pass


def run(work: Pass, span: Span) -> None:
    """Do all of one pass. Raises Unavailable where the ledger goes away."""
    horizon = work.watched.last_list
    if work.world.cronjobs is not None:
        if not take_in(work, span):
            return
        horizon = span.began
    else:
        keep(work)
    found = {} if horizon is None else judge(work, horizon)
    rows = {row.key: row for row in work.watched.unfinished}
    due = (Key(job, one.period) for job, each in found.items() for one in each.periods)
    _look_around(work, [*rows, *due])
    closed = close(work)
    endless = [a for a in work.watched.attempts if a.id not in closed and a.came_to is None]
    running = {attempt.key for attempt in endless}
    # One that gives no sign of life may never end, and must not hide its period for ever.
    fresh = store(work, found, {a.key for a in endless if not is_silent(a, work.watched.now)})
    overdue(work, rows.values())
    if work.there is not None and work.world.pods is not None:
        explain(work, rows, running)
        note_unstarted(work, work.there)
        catch_up(work, [*rows.values(), *fresh], running)


def _look_around(work: Pass, keys: Sequence[Key]) -> None:
    """Find out which Jobs and Pods stand for which period."""
    if work.world.jobs is None:
        return
    work.there = index(work.world)
    mine = [(n, work.plans[job].kind) for job, n in work.census.named.items() if job in work.plans]
    work.traces = trace(mine, work.there, keys)
