"""What somebody wants to use k8sjob for, and what that needs. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping


class Purpose(StrEnum):
    """The command that is to work here."""

    RUN = "run"
    RECONCILE = "reconcile"
    BACKFILL = "backfill"
    SERVE = "serve"
    MIGRATE = "migrate"


@dataclass(frozen=True, slots=True)
class Access:
    """A right in Kubernetes; ``optional`` says what does not work without it, and all else does."""

    verb: str
    resource: str
    optional: str | None = None


@dataclass(frozen=True, slots=True)
class Need:
    """``capability`` in the ledger (see ``migrate --grant-…``), rights in Kubernetes.

    ``everywhere``: unless namespaces are named it is about all of them, else about the Pod's own.
    """

    capability: str
    writes: bool = True
    access: tuple[Access, ...] = ()
    everywhere: bool = False


_CATCH_UP = "catch-up every and latest start nothing"

NEEDS: Final[Mapping[Purpose, Need]] = {
    Purpose.RUN: Need("runner", access=(Access("get", "jobs.batch"),)),
    Purpose.RECONCILE: Need(
        "operator",
        access=(
            Access("list", "cronjobs.batch"),
            Access("list", "jobs.batch"),
            Access("list", "pods"),
            Access("list", "events"),
            Access("create", "jobs.batch", _CATCH_UP),
            Access("get", "jobs.batch", _CATCH_UP),
        ),
        everywhere=True,
    ),
    Purpose.BACKFILL: Need(
        "operator",
        access=(
            Access("get", "cronjobs.batch"),
            Access("create", "jobs.batch"),
            Access("get", "jobs.batch"),
            Access("list", "jobs.batch"),
        ),
        everywhere=True,
    ),
    Purpose.SERVE: Need("reader", writes=False),
    Purpose.MIGRATE: Need("owner"),
}

#: From the least to the most: each may do what those before it may.
CAPABILITIES: Final = ("reader", "runner", "operator", "owner")


def more_than(capability: str) -> tuple[str, ...]:
    """Return the capabilities that may more."""
    return CAPABILITIES[CAPABILITIES.index(capability) + 1 :]
