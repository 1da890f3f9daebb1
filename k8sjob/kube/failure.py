"""What the Kubernetes API refused, in our words. Pure."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from k8sjob.errors import Denied, K8sjobError, TryAgain

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Ask", "Gone", "NotFound", "pause_before", "refused", "says", "without_password"]

#: Codes of answers that may be another one in a moment.
PASSING = frozenset({408, 429, 500, 502, 503, 504})

_LONGEST = 300


class NotFound(K8sjobError):
    """The cluster has no object of that name."""


class Gone(K8sjobError):
    """A list in pages took so long that its next page is not kept any more (410)."""


class Ask(NamedTuple):
    """One request in RBAC's words, e.g. list, jobs, billing. No namespace: all of them."""

    verb: str
    resource: str
    namespace: str | None
    name: str | None = None

    @property
    def group(self) -> str:
        """The API group of the resource."""
        return "batch" if self.resource in ("cronjobs", "jobs") else ""

    def __str__(self) -> str:
        if self.name is not None:
            return f"{self.verb} {self.resource.removesuffix('s')} {self.namespace}/{self.name}"
        where = f"in namespace {self.namespace}" if self.namespace else "in all namespaces"
        return f"{self.verb} {self.resource} {where}"


def refused(ask: Ask, status: int, body: str) -> K8sjobError:
    """Return the error for an answer of HTTP ``status``."""
    said = says(body) or f"HTTP {status}"
    if status == 401:  # noqa: PLR2004  # HTTP's own number, as below
        return Denied(
            f"the API server does not know who asks to {ask}: {said}. Nothing was done.\n"
            "  Log in anew; in a Pod look at its serviceAccountName and at the token's audience."
        )
    if status == 403:  # noqa: PLR2004
        return Denied(f"the API server refused to {ask}: {said}. Nothing was done.\n{_rule(ask)}")
    if status == 404:  # noqa: PLR2004
        return NotFound(_not_found(ask, said))
    if status == 410:  # noqa: PLR2004
        return Gone(f"the API server forgot the rest of a list while it was read: {ask}: {said}")
    if status in PASSING:
        return TryAgain(
            f"the API server answered {status} to {ask}: {said}. Nothing is known from that, and "
            "nothing was done.\n  The same command may go through in a moment."
        )
    return K8sjobError(
        f"the API server answered {status} to {ask}: {said}. Nothing was done.\n"
        "  Mend what it says; the same again gets the same answer."
    )


def _rule(ask: Ask) -> str:
    kind = "Role" if ask.namespace else "ClusterRole"
    rule = f'{{apiGroups: ["{ask.group}"], resources: ["{ask.resource}"], verbs: ["{ask.verb}"]}}'
    where = f" in namespace {ask.namespace}" if ask.namespace else ""
    return f"  Add this rule to a {kind} that is bound to it{where}:\n  - {rule}"


def _not_found(ask: Ask, said: str) -> str:
    if ask.name is None:
        return f"the API server has no {ask.resource} to {ask.verb}: {said}. Nothing was done."
    space = f" -n {ask.namespace}" if ask.namespace else ""
    return (
        f"there is no {ask.resource.removesuffix('s')} {ask.namespace}/{ask.name}. Nothing was "
        f"done.\n  See what there is: kubectl get {ask.resource}{space}"
    )


def says(body: str) -> str | None:
    """Return the message of a ``Status`` object, else the first words of ``body``."""
    if not body.strip():
        return None
    try:
        told: Any = json.loads(body)
    except ValueError:
        told = None
    message = told.get("message") if isinstance(told, dict) else None
    text = message if isinstance(message, str) and message else body
    first = text.strip().splitlines()[0].rstrip(".")
    return first if len(first) <= _LONGEST else f"{first[:_LONGEST]}…"


def pause_before(headers: Mapping[str, str], tried: int) -> float:
    """Return the seconds to wait before the next try: what Retry-After says (RFC 9110), or more.

    Its date form is not read: the API server writes seconds.
    """
    named = headers.get("Retry-After", "").strip()
    asked = float(named) if re.fullmatch("[0-9]{1,6}", named) else 0.0
    return max(asked, 0.2 * (1 << tried))


def without_password(address: str) -> str:
    """Return a URL without the user and password that may stand in it."""
    return re.sub(r"//[^/@]*@", "//", address)
