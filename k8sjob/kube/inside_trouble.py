"""What can go wrong between a Pod and the API server, and what to do about it."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

from k8sjob.errors import ExitCode, K8sjobError


class Kind(StrEnum):
    """What the API server said, or how it failed to."""

    DENIED = "denied"
    UNAUTHORIZED = "unauthorized"
    NOT_FOUND = "not-found"
    THROTTLED = "throttled"
    SERVER = "server"
    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"
    GARBAGE = "garbage"


_EXIT_CODES: Final = {
    Kind.DENIED: ExitCode.DENIED,
    Kind.UNAUTHORIZED: ExitCode.DENIED,
    Kind.NOT_FOUND: ExitCode.NO_PERIOD,
}

TRY_LATER: Final = "Another try may succeed."
MOUNTED: Final = (
    "Let the Pod have the token of its service account: automountServiceAccountToken: true, or "
    "a projected token without an audience of its own."
)


class Trouble(K8sjobError):
    """The API server gave no object.

    ``kind`` tells why, ``exit_code`` what that means for a retry: 77 denied and unauthorized, 66
    not-found, else 75. ``again``: whether the same request may succeed within seconds, and
    ``after_s`` how long the server asked to wait before it.
    """

    def __init__(
        self,
        kind: Kind,
        what: str,
        advice: str = TRY_LATER,
        *,
        again: bool = False,
        after_s: float | None = None,
    ) -> None:
        """Say ``what`` happened, without a full stop, and the ``advice``, a line or more."""
        super().__init__(what)
        self.kind, self.what, self.advice = kind, what, advice
        self.again, self.after_s = again, after_s
        self.tries = 1
        self.exit_code = _EXIT_CODES.get(kind, ExitCode.TRY_AGAIN)  # type: ignore[misc]  # by kind

    @property
    def text(self) -> str:
        """What happened, that nothing was done, and what to do."""
        tries = f" (at each of {self.tries} tries)" if self.tries > 1 else ""
        return f"{self.what}{tries}. Nothing was done.\n  {self.advice}"

    def __str__(self) -> str:
        return self.text


#: How RBAC names a service account in its messages (measured on 1.34).
_ACCOUNT = re.compile(r'"system:serviceaccount:([a-z0-9.-]+):([a-z0-9.-]+)"')


def rule(namespace: str, resource: str, message: str) -> str:
    """Return the lines to paste that give the right to get ``resource`` in ``namespace``.

    ``message`` is the API server's own: it tells whom it refused.
    """
    found = _ACCOUNT.search(message)
    account = f"{found[1]}:{found[2]}" if found else f"{namespace}:SERVICE_ACCOUNT"
    name = "k8sjob-entrypoint" if resource == "jobs.batch" else f"k8sjob-{resource}"
    return (
        "Give the right to this Pod's service account:\n"
        f"    kubectl create role {name} -n {namespace} --verb=get --resource={resource}\n"
        f"    kubectl create rolebinding {name} -n {namespace} --role={name} "
        f"--serviceaccount={account}"
    )
