"""A cluster by its kubeconfig: kubectl for what a person types, one proxy for what is looked at.

``kubectl proxy`` signs in whichever way the kubeconfig says, and answers a look in milliseconds.
"""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import tempfile
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

T = TypeVar("T")
Object = dict[str, Any]

TIMEOUT = 60.0  # seconds, for what should be there at once
_LOOK = 0.25  # seconds between two looks

STOPPED = threading.Event()  # set when nobody waits for an answer any more


def until(what: str, look: Callable[[], T | None], *, seconds: float = TIMEOUT) -> T:
    """Return the first answer of ``look`` that is true; AssertionError after ``seconds``."""
    give_up = time.monotonic() + seconds
    while not (found := look()):
        if time.monotonic() > give_up:
            raise AssertionError(f"not seen within {seconds:.0f} s: {what}; last: {found!r}")
        assert not STOPPED.wait(_LOOK), f"stopped while waiting for {what}"
    return found


@dataclass(frozen=True)
class Told:
    """How a program ended and what it said."""

    code: int
    out: str
    err: str

    @property
    def good(self) -> str:
        """What it said, if it went well."""
        assert self.code == 0, self
        return self.out


@dataclass(frozen=True)
class Cluster:
    """One cluster; ``program`` is kubectl, ``socket`` is where its proxy listens."""

    program: str
    kubeconfig: Path
    socket: Path

    def kubectl(self, *words: str, stdin: str | None = None, seconds: float = TIMEOUT) -> Told:
        """Run kubectl to its end, for ``seconds`` at most."""
        done = subprocess.run(
            [self.program, *words],
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            env={**os.environ, "KUBECONFIG": str(self.kubeconfig)},
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
        return Told(done.returncode, done.stdout, done.stderr)

    @contextmanager
    def running(self, *words: str) -> Iterator[IO[str]]:
        """Run kubectl for as long as it is needed; what it says can be read."""
        with subprocess.Popen(
            [self.program, *words],
            env={**os.environ, "KUBECONFIG": str(self.kubeconfig)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout
            try:
                yield process.stdout
            finally:
                process.terminate()

    def apply(self, *objects: Object) -> None:
        """Create or change objects."""
        listed = {"apiVersion": "v1", "kind": "List", "items": objects}
        assert self.kubectl("apply", "-f", "-", stdin=json.dumps(listed)).good

    def answers(self) -> bool:
        """Whether the proxy listens."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as conn:
            return conn.connect_ex(str(self.socket)) == 0

    def find(self, path: str) -> Object | None:
        """Return the object at a path of the API, None where there is none.

        429 is waited out: a server that has just been told of a kind says so for a second.
        """

        def ask() -> tuple[int, str] | None:
            status, body = self._ask(path)
            return None if status == http.HTTPStatus.TOO_MANY_REQUESTS else (status, body)

        status, body = until(f"an answer other than 429 about {path}", ask)
        if status == http.HTTPStatus.NOT_FOUND:
            return None
        assert status == http.HTTPStatus.OK, (path, status, body)
        found: Object = json.loads(body)
        return found

    def _ask(self, path: str) -> tuple[int, str]:
        conn = _OverSocket(self.socket)
        try:
            conn.request("GET", path, headers={"Accept": "application/json"})
            answer = conn.getresponse()
            return answer.status, answer.read().decode()
        finally:
            conn.close()

    def get(self, path: str) -> Object:
        """Return the object at a path of the API."""
        found = self.find(path)
        assert found is not None, f"there is no {path}"
        return found

    def items(self, path: str) -> list[Object]:
        """Return the items of a list."""
        items: list[Object] = self.get(path)["items"]
        return items

    def delete_namespaces(self, names: list[str]) -> None:
        """Delete namespaces with all that is in them, and see them gone."""
        if names:
            assert self.kubectl("delete", "namespace", *names, "--wait=false").code == 0
        paths = [f"/api/v1/namespaces/{name}" for name in names]
        until("their end", lambda: not any(map(self.find, paths)), seconds=120)


class _OverSocket(http.client.HTTPConnection):
    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=TIMEOUT)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(TIMEOUT)
        self.sock.connect(str(self._path))


@contextmanager
def connected(program: str, kubeconfig: Path) -> Iterator[Cluster]:
    """Run a proxy to the cluster of ``kubeconfig`` on a socket that only we can reach."""
    # A folder with a short name: a socket's path has room for some 100 bytes.
    with tempfile.TemporaryDirectory(prefix="k8sjob-") as folder:
        cluster = Cluster(program, kubeconfig, Path(folder) / "proxy")
        with cluster.running("proxy", f"--unix-socket={cluster.socket}"):
            until("the proxy", cluster.answers)
            yield cluster


def value(held: Mapping[str, Any], *names: str) -> Any:
    """Return what stands at the end of ``names``, None where one of them is absent."""
    found: Any = held
    for name in names:
        found = (found or {}).get(name)
    return found
