"""A Pod as its sidecar sees it: a shared folder, a main container, and signals; real processes."""

from __future__ import annotations

import json
import os
import select
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from uuid import UUID

import psycopg

import k8sjob

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.fix_stores import Store

ROOT = Path(__file__).parents[2]
JOB, PERIOD = "billing/daily-credit", "2026-09-13T00:00:00Z"
KEY = f"{JOB}:{PERIOD}"
ATTEMPT = UUID("0199a001-0000-7000-8000-000000000001")
OTHER = UUID("0199a002-0000-7000-8000-000000000002")

SIDECAR = ("-m", "k8sjob", "sidecar")

#: For a machine under load; what is awaited comes within a second.
PATIENCE_S = 60.0


@dataclass
class Pod:
    """One Pod, whose main container is played by the test."""

    folder: Path
    store: Store
    env: dict[str, str] = field(default_factory=dict)
    sidecar: subprocess.Popen[str] | None = None
    said: str = ""

    def resolve(self, **told: object) -> None:
        """Leave what ``k8sjob resolve --write`` of an older client leaves, and what is ``told``."""
        self.folder.mkdir(exist_ok=True)
        context = {
            "version": 1,
            "key": KEY,
            "job": JOB,
            "period": PERIOD,
            "scheduled_for": PERIOD,
            "window_end": "2026-09-14T00:00:00Z",
            "zone": None,
            "source": "the Job's annotation",
            "attempt": str(ATTEMPT),
            "job_uid": "6f1d0e7c",
            "job_name": "daily-credit-29817615",
            "cronjob": "daily-credit",
            "supersedes": None,
        } | told
        (self.folder / "context.json").write_text(json.dumps(context))

    def start(self, *flags: str, **env: str) -> None:
        """Start the sidecar; it is taking signals when this returns."""
        self.begin(*flags, **env)
        self.wait_for_signals_to_be_taken()

    def begin(self, *flags: str, program: Sequence[str] = SIDECAR, **env: str) -> None:
        """Start the sidecar, or what stands for it, and wait for nothing."""
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        mine = {"PYTHONPATH": path, "K8SJOB_CONTEXT": str(self.folder), "K8SJOB_POD_NAME": "pod-1"}
        if "K8SJOB_DSN_FILE" not in self.env | env:
            mine["K8SJOB_DSN"] = self.store.dsn
        self.sidecar = subprocess.Popen(
            [sys.executable, *program, *flags],
            env=os.environ | mine | self.env | env,
            stderr=subprocess.PIPE,
            text=True,
        )

    @property
    def process(self) -> subprocess.Popen[str]:
        """The sidecar's process."""
        assert self.sidecar, "it was not started"
        return self.sidecar

    def wait_for_signals_to_be_taken(self) -> None:
        """Wait until the sidecar listens for SIGTERM."""
        wait_until(lambda: self._takes_signals() == "taken")

    def wait_for_signals_to_be_held_or_taken(self) -> None:
        """Wait until a SIGTERM is not lost any more."""
        wait_until(lambda: bool(self._takes_signals()))

    def _takes_signals(self) -> str:
        """Return what becomes of SIGTERM, as proc_pid_status(5) tells."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        masks = dict(line.split() for line in lines if line.startswith(("SigCgt", "SigBlk")))
        bit = 1 << (signal.SIGTERM - 1)
        caught, held = (int(masks[name], 16) & bit for name in ("SigCgt:", "SigBlk:"))
        return "held" if held else "taken" if caught else ""

    def wait_for_the_start_row(self) -> None:
        """Wait until the attempt has its row."""
        wait_until(lambda: bool(self.attempts("id")))

    def wait_for_the_end_row(self) -> None:
        """Wait until the attempt's row has an end."""
        wait_until(lambda: [row for (row,) in self.attempts("outcome")] not in ([], [None]))

    def hear(self, words: str) -> str:
        """Wait until the sidecar has said ``words``; return all that it said."""
        stream = self._stderr
        give_up = time.monotonic() + PATIENCE_S
        while words not in self.said:
            ready, _, _ = select.select([stream], [], [], give_up - time.monotonic())
            assert ready, f"not said in {PATIENCE_S} s: {words!r}; but {self.said!r}"
            heard = os.read(stream.fileno(), 4096).decode()
            assert heard, f"it ended without saying {words!r}; but {self.said!r}"
            self.said += heard
        return self.said

    def leave_exit_code(self, text: object) -> None:
        """Write the file exit, as the main container's last line does."""
        (self.folder / "exit").write_text(f"{text}\n")

    def claim(self, attempt: UUID | None = ATTEMPT) -> None:
        """Do the work as the main container does: a claim and a credit in one transaction."""
        with closing(self.connect()) as conn:
            _claim(conn, attempt)
            conn.execute("UPDATE accounts SET balance = balance + 10")
            conn.commit()

    def connect(self) -> Any:
        """Connect as the main container does."""
        if self.store.path:
            return sqlite3.connect(self.store.path, timeout=PATIENCE_S)
        return psycopg.connect(self.store.dsn)

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send a signal to the sidecar and return its exit code."""
        self.process.send_signal(number)
        return self.ended()

    def ended(self) -> int:
        """Wait for the sidecar's end and return its exit code."""
        code = self.process.wait(PATIENCE_S)
        self.said += self._stderr.read()
        return code

    @property
    def _stderr(self) -> IO[str]:
        stream = self.process.stderr
        assert stream
        return stream

    def attempts(self, columns: str = "outcome, exit_code, speaker") -> list[tuple[Any, ...]]:
        """Return the rows of attempts."""
        return self.store.query(f"SELECT {columns} FROM {self.store.table('attempts')} ORDER BY id")

    def message(self) -> str:
        """Return the message of the only attempt."""
        ((text,),) = self.attempts("message")
        return str(text)

    def close(self) -> None:
        """End what still runs."""
        if self.sidecar is not None:
            with suppress(ProcessLookupError):
                self.sidecar.kill()
            self.sidecar.wait(PATIENCE_S)
            self._stderr.close()


def _claim(conn: Any, attempt: UUID | None) -> None:
    if attempt is None and isinstance(conn, psycopg.Connection):
        conn.execute("SELECT k8sjob.claim(%s, %s)", (JOB, PERIOD))
    else:
        k8sjob.claim(conn, KEY, attempt=attempt)


def wait_until(seen: Callable[[], bool]) -> None:
    """Look until something is seen that nothing can be awaited for, such as another's row."""
    give_up = time.monotonic() + PATIENCE_S
    while not seen():
        assert time.monotonic() < give_up, f"not seen in {PATIENCE_S} s"
        threading.Event().wait(0.02)
