"""Who is told: an HTTP server that Alertmanager posts to, and that keeps all that came."""

from __future__ import annotations

import json
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, ClassVar

from tests.seen.programs import WITHIN_S

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """One alert of one message. ``at`` is when it came (unix seconds), ``path`` to whom."""

    at: float
    path: str
    status: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    fingerprint: str
    starts: str

    def __str__(self) -> str:
        return f"{self.at:.3f} {self.path} {self.status} {self.labels['alertname']} {self.job}"

    @property
    def job(self) -> str:
        """Whose alert it is."""
        return f"{self.labels.get('namespace')}/{self.labels.get('cronjob')}"


@dataclass(slots=True)
class Webhook:
    """What came, in order."""

    port: int = 0
    notices: list[Notice] = field(default_factory=list)
    came: threading.Condition = field(default_factory=threading.Condition)

    def take(self, path: str, message: Mapping[str, Any]) -> None:
        """Keep a message."""
        now = time.time()
        with self.came:
            self.notices += [
                Notice(
                    at=now,
                    path=path,
                    status=alert["status"],
                    labels=alert["labels"],
                    annotations=alert["annotations"],
                    fingerprint=alert["fingerprint"],
                    starts=alert["startsAt"],
                )
                for alert in message["alerts"]
            ]
            self.came.notify_all()

    def of(self, alert: str, job: str | None = None, status: str | None = None) -> list[Notice]:
        """Return what came of an alert: of a job, and with a status, where these are named."""
        with self.came:
            return [
                notice
                for notice in self.notices
                if notice.labels["alertname"] == alert
                and job in (None, notice.job)
                and status in (None, notice.status)
            ]

    def first(self, alert: str, job: str, status: str) -> Notice:
        """Wait for the first one, and return it. Raises AssertionError."""
        with self.came:
            is_there = self.came.wait_for(lambda: self.of(alert, job, status), WITHIN_S)
            assert is_there, f"not within {WITHIN_S:.0f} s: {alert} of {job} is {status}"
            return self.of(alert, job, status)[0]


class _Handler(BaseHTTPRequestHandler):
    webhook: ClassVar[Webhook]

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.webhook.take(self.path, message)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the base's name
        """Say nothing."""


@contextmanager
def listening() -> Iterator[Webhook]:
    """Take messages until the end of the block."""
    webhook = Webhook()
    handler = type("Handler", (_Handler,), {"webhook": webhook})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        webhook.port = server.server_port
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield webhook
        finally:
            server.shutdown()
            thread.join()
