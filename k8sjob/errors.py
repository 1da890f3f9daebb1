"""Every error of k8sjob, each with the exit code that tells Kubernetes what to do about it.

::

    K8sjobError                 1  failed       temporary
    ├── UsageError             64  usage        permanent
    ├── InvalidKey             64  usage        permanent   (a ValueError too)
    ├── NoPeriod               66  no period    permanent
    ├── Unavailable            69  unavailable  temporary
    ├── PermanentError         70  permanent    permanent   (raised by targets)
    ├── TryAgain               75  try again    temporary
    │   ├── SchemaAbsent
    │   └── RetriesSpent
    ├── ProtocolError          76  protocol     permanent
    ├── Denied                 77  denied       permanent
    ├── ConfigError            78  config       permanent
    │   ├── ClientTooOld
    │   └── InvalidSchedule                      (a ValueError too)
    └── NotApplied                 by outcome   (k8sjob.states)

*Permanent* means that another try of the same thing cannot succeed: the ``podFailurePolicy`` of a
Job fails at once on these codes. *Temporary* means that Kubernetes may try again.
Codes 64 to 78 follow ``sysexits.h`` where it has a word for the case.
"""

from __future__ import annotations

from enum import IntEnum
from typing import ClassVar, NamedTuple


class ExitCode(IntEnum):
    """The exit codes of ``k8sjob run``; a child's own code passes through beside them."""

    OK = 0
    FAILED = 1
    USAGE = 64
    CONFLICT = 65
    NO_PERIOD = 66
    UNAVAILABLE = 69
    PERMANENT = 70
    TRY_AGAIN = 75
    PROTOCOL = 76
    DENIED = 77
    CONFIG = 78
    UNPROVEN = 81
    EXPIRED = 82
    HELD = 83


class Meaning(NamedTuple):
    """One line of the exit-code table: what the code is called, whether to retry, when it comes."""

    name: str
    permanent: bool
    when: str


#: The one table of exit codes. README, chart and documents are checked against it.
EXIT_TABLE: dict[ExitCode, Meaning] = {
    ExitCode.OK: Meaning("ok", False, "applied, duplicate, skipped, blocked, awaiting"),
    ExitCode.FAILED: Meaning("failed", False, "the target raised, SQL error, our own bug"),
    ExitCode.USAGE: Meaning("usage", True, "wrong flags"),
    ExitCode.CONFLICT: Meaning("conflict", True, "another payload for this key"),
    ExitCode.NO_PERIOD: Meaning("no period", True, "none resolved, future, off schedule"),
    ExitCode.UNAVAILABLE: Meaning("unavailable", False, "ledger unreachable or read-only"),
    ExitCode.PERMANENT: Meaning("permanent", True, "the target raised `PermanentError`"),
    ExitCode.TRY_AGAIN: Meaning(
        "try again", False, "busy, in-doubt, serialization retries spent, API 5xx, schema absent"
    ),
    ExitCode.PROTOCOL: Meaning("protocol", True, "the target ended the transaction itself"),
    ExitCode.DENIED: Meaning("denied", True, "missing grant, or RBAC 403 and no other source"),
    ExitCode.CONFIG: Meaning(
        "config", True, "bad setting, target not importable, client older than the ledger allows"
    ),
    ExitCode.UNPROVEN: Meaning("unproven", True, "exit 0 without the row"),
    ExitCode.EXPIRED: Meaning("expired", True, "the period was pruned: it is not done again"),
    ExitCode.HELD: Meaning(
        "held", True, "an outcome listed in `K8SJOB_FAIL_ON` (for example `blocked,awaiting`)"
    ),
}


class K8sjobError(Exception):
    """Something went wrong; nothing more is known."""

    exit_code: ClassVar[ExitCode] = ExitCode.FAILED

    def __init__(self, message: str | None = None) -> None:
        """Take ``message``, or the first line of the class's docstring where there is none."""
        super().__init__(message or (self.__doc__ or "").splitlines()[0])


class UsageError(K8sjobError):
    """The command was called with flags that do not fit together."""

    exit_code = ExitCode.USAGE


class InvalidKey(K8sjobError, ValueError):
    """A text that should name a job, a period or a key has another form."""

    exit_code = ExitCode.USAGE


class NoPeriod(K8sjobError):
    """No period could be found for this run, or the one found must not be done."""

    exit_code = ExitCode.NO_PERIOD


class Unavailable(K8sjobError):
    """The ledger cannot be reached, or takes no writes."""

    exit_code = ExitCode.UNAVAILABLE


class PermanentError(K8sjobError):
    """Raise it from a target when another try cannot help."""

    exit_code = ExitCode.PERMANENT


class TryAgain(K8sjobError):
    """The same thing may succeed later."""

    exit_code = ExitCode.TRY_AGAIN


class SchemaAbsent(TryAgain):
    """The ledger has no k8sjob schema, or an older one than this client needs."""


class RetriesSpent(TryAgain):
    """The transaction failed to serialize, or was in a deadlock, at each of its tries."""


class ProtocolError(K8sjobError):
    """The target ended the transaction that k8sjob holds for it."""

    exit_code = ExitCode.PROTOCOL


class Denied(K8sjobError):
    """The database or the API refused for lack of a right."""

    exit_code = ExitCode.DENIED


class ConfigError(K8sjobError):
    """A setting is wrong, or the target cannot be loaded."""

    exit_code = ExitCode.CONFIG


class ClientTooOld(ConfigError):
    """The ledger does not let clients of this version in any more."""


class InvalidSchedule(ConfigError, ValueError):
    """A text that should be a CronJob's schedule has another form, or has no instants."""
