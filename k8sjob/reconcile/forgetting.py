"""A scope that no reconciler passes over any more: its passes and its last list are forgotten.

Narrowed or moved, a reconciler leaves its old scope behind, and that looks like a dead one.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from k8sjob.errors import K8sjobError, UsageError
from k8sjob.ledger.watch import open_watcher

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from k8sjob.ledger.settings import Address


@dataclass(slots=True)
class Forgotten:
    """How many passes went with the scope, by ledger; and the ledgers that were away, and why."""

    passes: dict[str, int] = field(default_factory=dict)
    troubles: dict[str, str] = field(default_factory=dict)


def forget_scope(
    ledgers: Mapping[str, Callable[[], Address]], scope: str, *, dry_run: bool
) -> Forgotten:
    """Forget ``scope`` in each ledger that has it. Raises UsageError where none has."""
    done, there = Forgotten(), {}
    for name, find in ledgers.items():
        try:
            with closing(open_watcher(find())) as watcher:
                there[name] = watcher.scopes()
                if scope in there[name]:
                    done.passes[name] = there[name][scope]
                    if not dry_run:
                        watcher.forget_scope(scope)
        except K8sjobError as error:
            done.passes.pop(name, None)
            done.troubles[name] = str(error)
    if not done.passes and not done.troubles:
        raise UsageError(
            f"no ledger has the scope {scope}. Nothing was changed.\n  Name one that is there: "
            + ", ".join(f"{name}: {'; '.join(each) or 'none'}" for name, each in there.items())
        )
    return done
