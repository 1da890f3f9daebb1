"""Find out what became of a commit whose answer was lost."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from k8sjob.errors import TryAgain, Unavailable
from k8sjob.states import NotApplied, Outcome

if TYPE_CHECKING:
    from uuid import UUID

    from k8sjob.key import Key
    from k8sjob.ledger.contract import CommitInDoubt, Ledger

#: Pauses before each further question, in seconds: a failover takes some.
PAUSES_S = (0.05, 0.2, 0.8, 3.2)


async def find_out(ledger: Ledger, key: Key, attempt: UUID, doubt: CommitInDoubt) -> bool:
    """Whether the commit has landed; asked on a new connection, which waits for an open one.

    Raises NotApplied (in-doubt) where nobody can tell for now.
    """
    problem: Exception = doubt
    for pause in (0.0, *PAUSES_S):
        time.sleep(pause)  # noqa: ASYNC251  # nothing else runs
        try:
            return await ledger.landed(key, attempt)
        except (Unavailable, TryAgain) as error:
            problem = error
        except NotApplied as error:
            problem = error
            break  # waited for the whole lock timeout already
    raise NotApplied(
        Outcome.IN_DOUBT,
        f"{key} in doubt: the connection broke at COMMIT and the ledger does not tell "
        f"yet ({first_line(problem)})\n"
        "  It was committed once or not at all. Run the same command again: it finds out.",
    ) from problem


def first_line(error: BaseException) -> str:
    """Return the first line of what the error says."""
    return str(error).partition("\n")[0].strip() or type(error).__name__
