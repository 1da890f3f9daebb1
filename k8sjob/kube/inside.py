"""What is asked of the API server from inside a Pod, with the standard library only.

The official client takes half a second and 50 MB (measured) in every image and at every start.
The contract of the environment and of the mounted files is Kubernetes' own
(https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/).
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from k8sjob.kube.inside_answer import Wanted, read, sent_at
from k8sjob.kube.inside_trouble import MOUNTED, Kind, Trouble
from k8sjob.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from k8sjob.kube.inside_answer import Question
    from k8sjob.kube.inside_review import Review, Right

__all__ = ["Effects", "Inside", "Kind", "Limits", "Trouble"]

_FOLDER: Final = "/var/run/secrets/kubernetes.io/serviceaccount"
_LAST_PORT: Final = 65535


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long and how often to ask, in seconds; how much to take, in bytes."""

    connect_s: float = 2.0
    read_s: float = 5.0
    total_s: float = 15.0
    tries: int = 5
    first_pause_s: float = 0.25
    body_bytes: int = 4 << 20


def _some() -> float:
    """Return a number in [0, 1): at midnight a thousand Pods ask at once, and again together."""
    import random  # noqa: PLC0415  # for a second try only

    return random.random()  # noqa: S311  # not a secret


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """The clocks and the sleep. ``clock`` only goes forward, ``wall`` is the Unix time."""

    clock: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep
    jitter: Callable[[], float] = _some


@dataclass(frozen=True, slots=True)
class Came:
    """An object; when the server says it was sent, and by this clock the middle of the exchange.

    Both are Unix time; the server's is None where it does not say.
    """

    value: dict[str, Any]
    sent_at: float | None
    middle: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Inside:
    """The API server as a Pod of the cluster reaches it."""

    host: str
    port: str
    token_file: str
    ca_file: str
    namespace_file: str
    limits: Limits = field(default_factory=Limits)
    effects: Effects = field(default_factory=Effects)

    @classmethod
    def find(  # noqa: PLR0913  # three files, by name
        cls,
        env: Mapping[str, str],
        *,
        token_file: str | None = None,
        ca_file: str | None = None,
        namespace_file: str | None = None,
        limits: Limits | None = None,
        effects: Effects | None = None,
    ) -> Inside | None:
        """Return the API server of ``env``; None where this is no Pod.

        The files are those of the service account's folder unless named; K8SJOB_KUBE_FOLDER names
        another folder with ``token``, ``ca.crt`` and ``namespace`` in it, for a token that is
        mounted elsewhere, and for tests. Nothing is read and nobody is asked yet.
        """
        host = env.get("KUBERNETES_SERVICE_HOST", "").strip()
        if not host:
            return None
        port = env.get("KUBERNETES_SERVICE_PORT_HTTPS") or env.get("KUBERNETES_SERVICE_PORT")
        folder = env.get("K8SJOB_KUBE_FOLDER") or _FOLDER
        return cls(
            host=host.removeprefix("[").removesuffix("]"),
            port=port or "443",
            token_file=token_file or f"{folder}/token",
            ca_file=ca_file or f"{folder}/ca.crt",
            namespace_file=namespace_file or f"{folder}/namespace",
            limits=limits or Limits(),
            effects=effects or Effects(),
        )

    @property
    def namespace(self) -> str | None:
        """The Pod's own namespace, as its mounted file tells it; None where it does not."""
        try:
            return _read(self.namespace_file) or None
        except (OSError, UnicodeDecodeError):
            return None

    def get_job(self, namespace: str, name: str) -> dict[str, Any]:
        """Return a Job as the API server gives it. Raises Trouble."""
        return self._ask(Wanted("Job", "jobs.batch", "/apis/batch/v1", namespace, name)).value

    def get_pod(self, namespace: str, name: str) -> dict[str, Any]:
        """Return a Pod as the API server gives it. Raises Trouble."""
        return self._ask(Wanted("Pod", "pods", "/api/v1", namespace, name)).value

    def may(self, right: Right) -> Review:
        """Return whether this Pod's service account has a right. Raises Trouble."""
        from k8sjob.kube.inside_review import review  # noqa: PLC0415  # the entrypoint does not ask

        return review(right, self._ask(right))

    def _ask(self, wanted: Question) -> Came:
        end = self.effects.clock() + self.limits.total_s
        met: list[Kind] = []
        while True:
            try:
                return self._once(wanted, end)
            except Trouble as trouble:
                pause = self._pause(trouble, met)
                met.append(trouble.kind)
                trouble.tries = len(met)
                if pause is None or pause >= end - self.effects.clock():
                    raise
            self.effects.sleep(pause)

    def _pause(self, trouble: Trouble, met: Sequence[Kind]) -> float | None:
        """Return how long to wait before the next try; None where there is to be none."""
        if not trouble.again or len(met) + 1 >= self.limits.tries:
            return None
        if trouble.kind is Kind.UNAUTHORIZED:
            # The token was renewed in this moment, or it is of no use.
            return None if trouble.kind in met else 0.0
        if trouble.after_s is not None:
            return trouble.after_s
        longest: float = self.limits.first_pause_s * 2 ** len(met)
        return longest * (1 + self.effects.jitter()) / 2

    def _once(self, wanted: Question, end: float) -> Came:
        from k8sjob.kube.inside_wire import Request, fetch  # noqa: PLC0415  # HTTP and TLS: 30 ms

        token = self._token()
        content = {"Content-Type": "application/json"} if wanted.body is not None else {}
        began = self.effects.wall()
        answer = fetch(
            Request(
                host=self.host,
                port=self._port(),
                method=wanted.method,
                path=wanted.path,
                body=wanted.body,
                headers={
                    **content,
                    "Authorization": f"Bearer {token}",
                    "Accept": "application/json",
                    "User-Agent": f"k8sjob/{__version__}",
                    "Connection": "close",
                },
                ca_file=self.ca_file,
                connect_s=self.limits.connect_s,
                read_s=self.limits.read_s,
                body_bytes=self.limits.body_bytes,
                left=lambda: end - self.effects.clock(),
            )
        )
        wall = self.effects.wall()
        return Came(read(wanted, answer, wall), sent_at(answer), (began + wall) / 2)

    def _port(self) -> int:
        if self.port.isascii() and self.port.isdigit() and 0 < int(self.port[:6]) <= _LAST_PORT:
            return int(self.port)
        raise Trouble(
            Kind.UNREACHABLE,
            f"the API server's port, {self.port!r} in KUBERNETES_SERVICE_PORT, is no port",
            "Kubernetes sets it in every Pod: take what else sets it out of the Pod's env.",
        )

    def _token(self) -> str:
        """Read the token, each time: the kubelet renews it (measured: after 3,607 s)."""
        try:
            token = _read(self.token_file)
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not text"
            what = f"this Pod's token at {self.token_file} cannot be read: {reason}"
            raise Trouble(Kind.UNAUTHORIZED, what, MOUNTED) from error
        if not token or not token.isascii() or not token.isprintable() or " " in token:
            what = f"what is at {self.token_file} is no token"
            raise Trouble(Kind.UNAUTHORIZED, what, MOUNTED)
        return token


def _read(file: str) -> str:
    with open(file, encoding="utf-8") as opened:  # noqa: PTH123  # no pathlib at start
        return opened.read().strip()
