"""The SQLSTATEs of class KJ: what k8sjob's own SQL functions raise.

Classes that begin with a letter from I on are free for implementations (SQL standard; PostgreSQL
documentation, appendix A).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from k8sjob.errors import (
    ClientTooOld,
    ConfigError,
    InvalidKey,
    K8sjobError,
    ProtocolError,
    UsageError,
)
from k8sjob.states import Outcome

if TYPE_CHECKING:
    from collections.abc import Mapping

#: What a claim that raises came to.
OUTCOMES: Mapping[str, Outcome] = {
    "KJ001": Outcome.DUPLICATE,
    "KJ002": Outcome.CONFLICT,
    "KJ003": Outcome.BLOCKED,
    "KJ004": Outcome.AWAITING,
    "KJ005": Outcome.SKIPPED,
    "KJ006": Outcome.EXPIRED,
    "KJ007": Outcome.FUTURE,
}

#: What was wrong with the call.
ERRORS: Mapping[str, tuple[type[K8sjobError], str]] = {
    "KJ011": (InvalidKey, "not a job, or not a period"),
    "KJ012": (ConfigError, "another kind of period than the job's"),
    "KJ013": (ProtocolError, "the claim would commit alone (autocommit)"),
    "KJ014": (ProtocolError, "the target ended the runner's transaction"),
    "KJ015": (UsageError, "no reason given, or not from this state"),
    "KJ016": (ClientTooOld, "this client is older than the ledger allows"),
}

#: The target tried to end the runner's transaction: COMMIT in a DO block or a procedure
#: (invalid_transaction_termination), and our own guards.
ENDED_IT = frozenset({"2D000", "KJ013", "KJ014"})
