"""Which failures go away when the whole transaction is done again."""

from __future__ import annotations

#: Serialization failure and deadlock (PostgreSQL documentation, 13.5 "Serialization Failure
#: Handling"): the transaction is rolled back and another try of all of it may go through.
SQLSTATES = frozenset({"40001", "40P01"})


def is_retryable(error: BaseException | None) -> bool:
    """Tell whether ``error``, or what it was raised from, is a serialization failure or a deadlock.

    Libraries wrap the driver's error: SQLAlchemy keeps it in ``orig``, others as the cause, a
    TaskGroup among the exceptions of its group.
    """
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        if isinstance(error, BaseExceptionGroup) and any(map(is_retryable, error.exceptions)):
            return True
        wrapped = getattr(error, "orig", None)
        states = {
            getattr(e, "sqlstate", None) or getattr(e, "pgcode", None) for e in (error, wrapped)
        }
        if states & SQLSTATES:
            return True
        error = error.__cause__ or error.__context__
    return False
