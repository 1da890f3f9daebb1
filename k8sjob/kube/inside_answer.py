"""What the API server's answer means. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from k8sjob.kube.inside_trouble import MOUNTED, TRY_LATER, Kind, Trouble, rule

if TYPE_CHECKING:
    from k8sjob.kube.inside_wire import Answer


_PROXY = "Is there a proxy before the API server?"
_NAMES = "Look at K8SJOB_NAMESPACE, K8SJOB_JOB_NAME and K8SJOB_POD_NAME in the Pod's env."

_OK = (200, 201)  # 201: what was asked by POST


class Question(Protocol):
    """A request whose answer is an object; as a text it is that object's name."""

    @property
    def method(self) -> str:
        """GET or POST."""

    @property
    def path(self) -> str:
        """Where to ask. Raises Trouble for what would lead elsewhere."""

    @property
    def body(self) -> bytes | None:
        """The JSON to send."""

    @property
    def doing(self) -> str:
        """What somebody who is refused may not do."""

    def rule(self, message: str) -> str:
        """Return what gives the right to it, once ``message`` has refused it."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """An object of the API. ``resource`` is RBAC's name of its kind, ``prefix`` its API's path."""

    kind: str
    resource: str
    prefix: str
    namespace: str
    name: str

    method: ClassVar[str] = "GET"
    body: ClassVar[bytes | None] = None

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"

    @property
    def doing(self) -> str:
        """What somebody who is refused may not do."""
        return f"read {self}"

    def rule(self, message: str) -> str:
        """Return the lines to paste that give the right."""
        return rule(self.namespace, self.resource, message)

    @property
    def path(self) -> str:
        """Where it is, its names quoted. Raises Trouble for those that would lead elsewhere."""
        from urllib.parse import quote  # noqa: PLC0415  # http.client has it loaded by now

        if {self.namespace, self.name} & {"", ".", ".."}:
            raise Trouble(Kind.NOT_FOUND, f"{self} has no name that an object could have", _NAMES)
        plural = self.resource.partition(".")[0]
        where = f"{quote(self.namespace, safe='')}/{plural}/{quote(self.name, safe='')}"
        return f"{self.prefix}/namespaces/{where}"


def read(wanted: Question, answer: Answer, wall: float) -> dict[str, Any]:
    """Return the object that came. Raises Trouble; ``wall`` is the Unix time."""
    if answer.status not in _OK:
        raise _refused(wanted, answer, wall)
    value = _json(answer.body)
    if not isinstance(value, dict):
        what = f"the answer for {wanted} is no JSON object: {_begin(answer.body)}"
        raise Trouble(Kind.GARBAGE, what, _PROXY)
    return value


def _json(body: bytes) -> Any:
    import json  # noqa: PLC0415  # only where the API is asked

    try:
        return json.loads(body)
    except (ValueError, RecursionError):  # also what is not UTF-8, or nested without end
        return None


def _begin(body: bytes) -> str:
    return repr(body[:60].decode(errors="replace"))


def _message(body: bytes) -> str:
    """Return what a Status says, or how the body begins."""
    status = _json(body)
    if isinstance(status, dict) and isinstance(status.get("message"), str):
        return " ".join(status["message"].split())[:500]
    return _begin(body) if body else "no reason given"


def _refused(wanted: Question, answer: Answer, wall: float) -> Trouble:
    """Return what an answer means that is no object.

    Statuses: https://kubernetes.io/docs/reference/using-api/api-concepts/#api-errors and RFC 9110.
    """
    status, said = answer.status, _message(answer.body)
    match status:
        case 401:
            what = f"the Kubernetes API does not accept this Pod's token: {said}"
            return Trouble(Kind.UNAUTHORIZED, what, MOUNTED, again=True)
        case 403:
            what = f"the Kubernetes API does not let this Pod {wanted.doing}: {said}"
            return Trouble(Kind.DENIED, what, wanted.rule(said))
        case 404:
            return Trouble(
                Kind.NOT_FOUND,
                f"the Kubernetes API has no {wanted}: {said}",
                "It may have been deleted or replaced while its Pod still ends; else the name is "
                "wrong.",
            )
        case 429:
            what = f"the Kubernetes API is too busy to send {wanted} (429): {said}"
            return _later(Kind.THROTTLED, what, answer, wall)
    what = f"the Kubernetes API answered {status} for {wanted}: {said}"
    if status >= 500:  # noqa: PLR2004  # errors of the server
        return _later(Kind.SERVER, what, answer, wall)
    # Redirects too: the token goes to nobody else.
    return Trouble(Kind.GARBAGE, what, f"{TRY_LATER} {_PROXY}")


def _later(kind: Kind, what: str, answer: Answer, wall: float) -> Trouble:
    after_s = _retry_after(answer, wall)
    asked = "" if after_s is None else f"; it asks to wait {after_s:,.0f} s"
    return Trouble(kind, what + asked, again=True, after_s=after_s)


def _retry_after(answer: Answer, wall: float) -> float | None:
    """Return the seconds to wait: a number, or a date by the server's clock (RFC 9110, 10.2.3)."""
    text = answer.headers.get("retry-after", "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    at = _instant(text)
    if at is None:
        return None
    return max(0.0, at - (sent_at(answer) or wall))


def sent_at(answer: Answer) -> float | None:
    """Return the Unix time, in whole seconds, at which the server says it has sent its answer."""
    return _instant(answer.headers.get("date", ""))


def _instant(text: str) -> float | None:
    from email.utils import parsedate_to_datetime  # noqa: PLC0415  # http.client has it loaded

    try:
        return parsedate_to_datetime(text).timestamp()
    except (TypeError, ValueError, OverflowError):
        return None
