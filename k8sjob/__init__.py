"""k8sjob: each period of a CronJob's work done once, and the missing ones visible.

Everything public is here; nothing is imported before it is used, since the entrypoint starts
every minute in other people's images.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from k8sjob.version import __version__

_HOMES = {
    "k8sjob.errors": ("K8sjobError", "InvalidKey", "PermanentError", "ProtocolError"),
    "k8sjob.states": ("Awaiting", "Blocked", "NotApplied", "Outcome", "Skipped", "State"),
    "k8sjob.period": ("Cycle", "Period", "Window"),
    "k8sjob.key": ("JobName", "Key", "KeyRange"),
    "k8sjob.ledger.contract": ("Claim",),
    "k8sjob.ledger.claim": ("claim", "current_key", "try_claim"),
    "k8sjob.run.context": ("Part", "Run"),
}
_WHERE = {name: module for module, names in _HOMES.items() for name in names}

# Written out: type checkers take as exported only what stands here.
__all__ = [
    "Awaiting",
    "Blocked",
    "Claim",
    "Cycle",
    "InvalidKey",
    "JobName",
    "K8sjobError",
    "Key",
    "KeyRange",
    "NotApplied",
    "Outcome",
    "Part",
    "Period",
    "PermanentError",
    "ProtocolError",
    "Run",
    "Skipped",
    "State",
    "Window",
    "__version__",
    "claim",
    "current_key",
    "try_claim",
]

if TYPE_CHECKING:
    from k8sjob.errors import InvalidKey, K8sjobError, PermanentError, ProtocolError
    from k8sjob.key import JobName, Key, KeyRange
    from k8sjob.ledger.claim import claim, current_key, try_claim
    from k8sjob.ledger.contract import Claim
    from k8sjob.period import Cycle, Period, Window
    from k8sjob.run.context import Part, Run
    from k8sjob.states import Awaiting, Blocked, NotApplied, Outcome, Skipped, State


def __getattr__(name: str) -> object:
    """Import a public name at its first use (PEP 562)."""
    if name not in _WHERE:
        raise AttributeError(f"module 'k8sjob' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415  # only where it is needed

    value = getattr(import_module(_WHERE[name]), name)
    globals()[name] = value
    return value
