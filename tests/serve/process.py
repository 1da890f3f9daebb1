"""``k8sjob serve`` as a process of its own, and waiting until something is so."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: All waits end then (seconds).
PATIENCE = 30.0


def wait_until(found: Callable[[], bool], what: str) -> None:
    """Return once ``found`` is true; AssertionError where it does not come about."""
    give_up = time.monotonic() + PATIENCE
    while not found():
        assert time.monotonic() < give_up, f"this did not come about: {what}"
        threading.Event().wait(0.02)


@dataclass(frozen=True)
class Reply:
    """What a server said."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode()


@dataclass
class Serving:
    """A server, and what it has said on standard error."""

    process: subprocess.Popen[str]
    said: list[str] = field(default_factory=list)
    port: int = 0
    _reader: threading.Thread | None = None

    def listen(self) -> None:
        """Wait until it says where it serves; what it says later is kept."""
        assert self.process.stderr
        for line in self.process.stderr:
            self.said.append(line)
            if "serving on http://127.0.0.1:" in line:
                self.port = int(line.rpartition(":")[2].strip().strip("/"))
                break
        assert self.port, f"it does not serve: {self.said}"
        self._reader = threading.Thread(target=self.said.extend, args=[self.process.stderr])
        self._reader.start()

    def get(self, path: str, method: str = "GET", **headers: str) -> Reply:
        """Ask for a path over a connection of its own."""
        conn = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            conn.request(method, path, headers=headers)
            got = conn.getresponse()
            return Reply(got.status, dict(got.getheaders()), got.read())
        finally:
            conn.close()

    def takes_connections(self) -> bool:
        """Whether somebody listens."""
        try:
            socket.create_connection(("127.0.0.1", self.port), PATIENCE).close()
        except ConnectionError:
            return False
        return True

    def signal(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Send a signal."""
        self.process.send_signal(number)

    def end(self) -> int:
        """Wait for its end, and return its exit code."""
        code = self.process.wait(PATIENCE)
        if self._reader:
            self._reader.join(PATIENCE)
        return code

    def close(self) -> None:
        """End it, however it is."""
        if self.process.poll() is None:
            self.process.kill()
        self.end()
        assert self.process.stderr
        self.process.stderr.close()


@contextmanager
def serving(dsn: str, *words: str, **environment: str) -> Iterator[Serving]:
    """Run ``k8sjob serve`` over a ledger, on a port that is free, until the end of the block."""
    inherited = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    process = subprocess.Popen(
        [sys.executable, "-m", "k8sjob", "serve", "--listen", "127.0.0.1:0", *words],
        env={**inherited, "K8SJOB_DSN": dsn, **environment},
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    made = Serving(process)
    try:
        made.listen()
        yield made
    finally:
        made.close()


class Asking(threading.Thread):
    """Asks in a thread of its own; ``answer`` waits for what came back."""

    def __init__(self, server: Serving, path: str) -> None:
        """Ask."""
        super().__init__(daemon=True)
        self._server, self._path = server, path
        self._reply: Reply | None = None
        self.start()

    def run(self) -> None:
        """Ask in the thread."""
        self._reply = self._server.get(self._path)

    def answer(self) -> Reply:
        """Return the answer."""
        self.join(PATIENCE)
        assert self._reply, f"no answer to {self._path}"
        return self._reply
