"""Whether a reconciler still looks after the jobs: by namespaces, as its scopes have them. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from k8sjob.view.tracking import freshness
from k8sjob.view.words import one_line, span

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from k8sjob.ledger.read import JobRow, PassRow

#: Namespaces that are named; the rest is counted.
_MOST = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """Some namespaces that the same passes look at. ``stale``: nobody may be looking any more."""

    namespaces: str
    told: str
    stale: bool


def watches(jobs: Iterable[JobRow], passes: Sequence[PassRow], now: datetime) -> list[Watch]:
    """Return what is known of the passes over the tracked jobs, the stale ones first.

    ``passes`` are the last of each scope, the newest first. A scope that nobody uses any more does
    no harm where others have its namespaces.
    """
    spaces = sorted({job.job.namespace for job in jobs if job.is_tracked})
    by_scopes: dict[tuple[str, ...], list[str]] = {}
    for space in spaces:
        scopes = tuple(sorted({one.scope for one in passes if _covers(one.scope, space)}))
        by_scopes.setdefault(scopes, []).append(space)
    whole = len(by_scopes) == 1
    found = [
        _watch("all namespaces" if whole else _named(names), _of(passes, scopes), now)
        for scopes, names in by_scopes.items()
    ]
    return sorted(found, key=lambda watch: not watch.stale)


def _covers(scope: str, namespace: str) -> bool:
    return scope == "*" or namespace in scope.split(",")


def _of(passes: Sequence[PassRow], scopes: Sequence[str]) -> list[PassRow]:
    # As many as a job's portrait is told from.
    return [one for one in passes if one.scope in scopes][:20]


def _watch(namespaces: str, passes: Sequence[PassRow], now: datetime) -> Watch:
    fresh = freshness(passes)
    stale = fresh.is_stale(now)
    if fresh.complete is None:
        return Watch(namespaces=namespaces, told="no complete pass is known", stale=stale)
    told = f"last complete pass {span(now - fresh.complete.started_at)} ago"
    if fresh.usual:
        told += f", usually one every {span(fresh.usual)}"
    last = fresh.last
    if last is not None and last is not fresh.complete:
        told += f"; the last one: {_how(last)}"
    elif fresh.complete.failing:
        told += f", {_how(fresh.complete)}"
    return Watch(namespaces=namespaces, told=told, stale=stale)


def _how(one: PassRow) -> str:
    if one.ended_at is None:
        return "under way, or it was killed"
    return one_line(one.message) or "not complete"


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    return ", ".join(names[:_MOST]) + more
