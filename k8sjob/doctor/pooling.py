"""Whether transactions hold, and whose session it is that one gets. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from k8sjob.doctor.line import fail, ok, warn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from k8sjob.doctor.line import Line
    from k8sjob.ledger.survey import Pooling

_CLAIMS: Final = (
    "claims, parts, holds and locks of k8sjob work, as each lives in one transaction and nothing "
    "is prepared"
)
_TARGETS: Final = (
    "keep SET, LISTEN, temporary tables, session advisory locks and prepared statements out of the "
    "work (psycopg: prepare_threshold=None); PgBouncer's query_timeout and "
    "idle_transaction_timeout cut claims and cannot be seen from here"
)
_POOL_MODE: Final = "set pool_mode = transaction (or session) for this database in PgBouncer"


def check_pooling(pooling: Pooling) -> Iterator[Line]:
    """Say whether several statements are one transaction, and what stands between."""
    if pooling.refused is None:
        seen = "several statements are one transaction; k8sjob begins and ends its own"
        yield ok("transactions", seen)
    else:
        yield fail("transactions", f"statements commit one by one: {pooling.refused}", _POOL_MODE)
    yield _pooler(pooling)


def _pooler(pooling: Pooling) -> Line:
    if not pooling.between:
        return ok("pooler", "none: this is the server itself")
    if pooling.mode == "statement":
        seen = "a pooler in statement mode: no claim can go with its work, so none is possible"
        return fail("pooler", seen, _POOL_MODE)
    if pooling.mode == "transaction":
        return ok("pooler", f"a pooler in transaction mode: {_CLAIMS}. For the rest: {_TARGETS}")
    if pooling.mode == "session":
        seen = "a pooler in session mode, as far as can be seen: all works as without it"
        return ok("pooler", f"{seen}, with one connection of the server for each run")
    seen = "a pooler, whose mode could not be told"
    return warn("pooler", seen, "look at pool_mode: in statement mode nothing works")
