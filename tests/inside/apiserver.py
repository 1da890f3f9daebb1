"""An API server by script: real TLS on a port of this machine, one act for each connection."""

from __future__ import annotations

import json
import socket
import ssl
import threading
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from k8sjob.kube.inside import Effects, Inside, Limits

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    #: What the server does with a connection, once it has read the request.
    Act = Callable[[ssl.SSLSocket], None]

TOKEN = "token-of-the-first-hour"


@dataclass(frozen=True)
class Asked:
    """A request as it came in. The names of ``headers`` are in lower case."""

    line: str
    headers: dict[str, str]
    body: bytes = b""

    @classmethod
    def parse(cls, text: str) -> Asked:
        """Read what came up to the empty line."""
        line, *rest = text.split("\r\n")
        pairs = (field.partition(": ") for field in rest if field)
        return cls(line, {name.lower(): value for name, _, value in pairs})


class ApiServer:
    """Answers each connection by the next act of its script; by the last one from then on."""

    def __init__(self, folder: Path, ca: Path, pem: Path, host: str = "127.0.0.1") -> None:
        """Listen at ``host``; ``folder`` is made as one that the kubelet has mounted."""
        self.folder, self.pem = folder, pem
        folder.mkdir()
        (folder / "token").write_text(f"{TOKEN}\n")
        (folder / "ca.crt").write_bytes(ca.read_bytes())
        (folder / "namespace").write_text("billing")
        self.script: list[Act] = []
        self.asked: list[Asked] = []
        self.waits_before_tls = False
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._tls.load_cert_chain(pem)
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._listening = socket.create_server((host, 0), family=family)
        self.host, self.port = self._listening.getsockname()[:2]
        self._over = threading.Event()
        self._open: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._start(self._accept)

    @property
    def env(self) -> dict[str, str]:
        """What a Pod's environment has to say of this server."""
        return {
            "KUBERNETES_SERVICE_HOST": self.host,
            "KUBERNETES_SERVICE_PORT": str(self.port),
            "K8SJOB_KUBE_FOLDER": str(self.folder),
        }

    def renew_token(self, token: str) -> None:
        """Write another token into the folder, as the kubelet does."""
        (self.folder / "token").write_text(token)

    def stop_listening(self) -> None:
        """Refuse connections from now on."""
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    def close(self) -> None:
        """End all connections and wait for whoever serves them."""
        self._over.set()
        self.stop_listening()
        for connection in self._open:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(30)
            assert not thread.is_alive()

    def wait_for_the_end(self, _connection: object) -> None:
        """Act: say nothing until the test is over."""
        self._over.wait(60)

    # ------------------------------------------------------------------------------- threads

    def _start(self, target: Callable[..., None], *args: Any) -> None:
        thread = threading.Thread(target=target, args=args, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            connection.settimeout(30)
            self._open.append(connection)
            self._start(self._serve, connection)

    def _serve(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):  # whoever asked may be gone
            if self.waits_before_tls:
                self.wait_for_the_end(connection)
                return
            with self._tls.wrap_socket(connection, server_side=True) as tls:
                self._open.append(tls)
                act = self.script.pop(0) if len(self.script) > 1 else self.script[0]
                self.asked.append(_request(tls))
                act(tls)


def _request(tls: ssl.SSLSocket) -> Asked:
    text = b""
    while b"\r\n\r\n" not in text:
        more = tls.recv(4096)
        if not more:
            raise OSError("no request")
        text += more
    head, _, body = text.partition(b"\r\n\r\n")
    asked = Asked.parse(head.decode("latin-1"))
    while len(body) < int(asked.headers.get("content-length", "0")):
        more = tls.recv(4096)
        if not more:
            raise OSError("no whole request")
        body += more
    return replace(asked, body=body)


# ------------------------------------------------------------------------------------------ acts


def send(text: bytes | str) -> Act:
    """Act: send exactly this, and end the connection as TLS has it."""
    data = text.encode() if isinstance(text, str) else text

    def act(tls: ssl.SSLSocket) -> None:
        tls.sendall(data)
        with suppress(OSError, ValueError):  # the test is over already, and TLS with it
            tls.unwrap()

    return act


def cut(text: bytes) -> Act:
    """Act: send this and let the connection break."""

    def act(tls: ssl.SSLSocket) -> None:
        tls.sendall(text)
        tls.shutdown(socket.SHUT_RDWR)

    return act


def trickle(head: bytes) -> Act:
    """Act: send ``head`` at once and then a byte at a time for as long as anybody listens."""

    def act(tls: ssl.SSLSocket) -> None:
        tls.sendall(head)
        while True:
            tls.sendall(b" ")

    return act


def answer(status: int, body: object, **headers: str) -> Act:
    """Act: answer with JSON, or with ``body`` itself where it is bytes."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    fields = {"Content-Type": "application/json", "Content-Length": str(len(data))}
    fields |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return send(f"HTTP/1.1 {status} Whatever\r\n{lines}\r\n".encode("latin-1") + data)


def status(code: int, message: str, **headers: str) -> Act:
    """Act: refuse as the API server does."""
    body = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code}
    return answer(code, body | {"message": message}, **headers)


# --------------------------------------------------------------------------------------- effects


@dataclass
class Time:
    """A clock that goes on when somebody sleeps, and by ``step`` seconds at each look."""

    step: float = 0.0
    now: float = 1000.0
    wall: float = 1_800_000_000.0
    slept: list[float] = field(default_factory=list)

    def look(self) -> float:
        """Return the time, once it has gone on."""
        self.now += self.step
        return self.now

    def sleep(self, seconds: float) -> None:
        """Let the time pass at once."""
        self.slept.append(seconds)
        self.now += seconds

    @property
    def effects(self) -> Effects:
        """What an :class:`Inside` takes."""
        return Effects(
            clock=self.look, wall=lambda: self.wall, sleep=self.sleep, jitter=lambda: 1.0
        )


def inside(server: ApiServer, time: Time, **limits: Any) -> Inside:
    """Return what a Pod would ask ``server`` with."""
    found = Inside.find(server.env, limits=Limits(**limits), effects=time.effects)
    assert found
    return found
