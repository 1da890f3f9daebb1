"""Programs of a play: on 127.0.0.1, with their data in its folder, ended by their process ids."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

T = TypeVar("T")

#: A wait for something that is to come; what is measured here takes seconds.
WITHIN_S = 40.0
_END_S = 20.0
_ROOT = str(Path(__file__).parents[2])


class Told(NamedTuple):
    """How a command ended and what it said."""

    code: int
    said: str


def until(what: str, look: Callable[[], T | None], within_s: float = WITHIN_S) -> T:
    """Look until there is something to be seen, and return it. Raises AssertionError."""
    give_up = time.monotonic() + within_s
    while True:
        found = look()
        if found:
            return found
        assert time.monotonic() < give_up, f"not within {within_s:.0f} s: {what}"
        threading.Event().wait(0.05)


def free_port() -> int:
    """Return a port that nobody has."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def get(port: int, path: str) -> tuple[int, bytes]:
    """Ask a program of ours, past all proxies. Raises OSError, HTTPException."""
    conn = HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        conn.request("GET", path)
        answer = conn.getresponse()
        return answer.status, answer.read()
    finally:
        conn.close()


@contextmanager
def running(
    folder: Path, name: str, words: Sequence[str], env: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program until the end of the block; what it says is added to ``name.log``."""
    with (folder / f"{name}.log").open("ab") as log:
        process = subprocess.Popen(
            words,
            cwd=folder,
            env={**os.environ, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(_END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def answering(
    folder: Path,
    name: str,
    words: Sequence[str],
    ready: tuple[int, str],
    env: Mapping[str, str] | None = None,
) -> Iterator[None]:
    """Run a program that serves, once it says under port and path that it is ready."""
    with running(folder, name, words, env) as process:

        def is_ready() -> bool:
            assert process.poll() is None, f"{name} has ended with {process.returncode}"
            try:
                return get(*ready)[0] == 200
            except (OSError, HTTPException):
                return False

        until(f"{name} is ready", is_ready)
        yield


def to_its_end(folder: Path, words: Sequence[str], env: Mapping[str, str]) -> Told:
    """Run a command until it ends."""
    done = subprocess.run(
        words,
        cwd=folder,
        env={**os.environ, **env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return Told(done.returncode, done.stdout + done.stderr)


def k8sjob(*words: str) -> list[str]:
    """Return the command ``k8sjob WORDS`` of this checkout."""
    return [sys.executable, "-m", "k8sjob", *words]


def k8sjob_env(dsn: str) -> dict[str, str]:
    """Return what `k8sjob` needs in its environment."""
    path = os.pathsep.join(filter(None, [_ROOT, os.environ.get("PYTHONPATH")]))
    return {"PYTHONPATH": path, "K8SJOB_DSN": dsn}


def logs(folder: Path) -> str:
    """Return the ends of what all programs have said."""
    ends = []
    for path in sorted(folder.glob("*.log")):
        lines = path.read_text("utf-8", "replace").splitlines()[-8:]
        ends += [f"--- {path.name}", *lines]
    return "\n".join(ends)
