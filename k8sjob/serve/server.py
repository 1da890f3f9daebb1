"""The process that serves: a bounded number of threads, and a stop that lets answers be finished.

waitress reads and writes in this thread and calls the application in others. Its own way to stop
cuts off what is being answered, so the loop around it is ours.
"""

from __future__ import annotations

import gc
import logging
import re
import signal
import socket
import threading
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple

from waitress import wasyncore
from waitress.server import create_server

from k8sjob.errors import ConfigError, UsageError
from k8sjob.serve.app import PAGES, SCRAPES, App
from k8sjob.serve.site import Site

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from k8sjob.ledger.settings import Address

log = logging.getLogger("k8sjob")

#: Some are left for /healthz and /readyz when all others wait for ledgers.
THREADS = PAGES + SCRAPES + 4
#: A stop waits no longer for answers (seconds): the kubelet kills after 30 by default.
DRAIN_S = 15.0

_LISTEN = re.compile(r"(?:\[([0-9a-fA-F:.]+)\]|([^:\[\]]*)):([0-9]{1,5})")
_LAST_PORT = 65535
_SETTINGS = {
    "threads": THREADS,
    "connection_limit": 200,
    # A connection without a request is closed after so many seconds, looked at so often.
    "channel_timeout": 60,
    "cleanup_interval": 5,
    "max_request_header_size": 32 * 1024,
    "max_request_body_size": 64 * 1024,
    # A root that is read-only has no room for temporary files: a scrape has some megabytes.
    "outbuf_overflow": 256 * 1024 * 1024,
    "log_socket_errors": False,
    "ident": None,
}


class Listen(NamedTuple):
    """Where to listen."""

    host: str
    port: int


def parse_listen(text: str) -> Listen:
    """Read ``127.0.0.1:8080``, ``[::]:8080`` or ``:8080``. Raises UsageError."""
    match = _LISTEN.fullmatch(text.strip())
    if match is None or int(match[3]) > _LAST_PORT:
        raise UsageError(
            f"--listen {text!r} is no address and port. Nothing was started.\n"
            "  Write 127.0.0.1:8080, 0.0.0.0:8080 or [::]:8080."
        )
    return Listen(match[1] or match[2] or "0.0.0.0", int(match[3]))  # noqa: S104  # as asked


def serve(finds: Mapping[str, Callable[[], Address]], listen: Listen) -> None:
    """Serve until SIGTERM or SIGINT. Raises ConfigError where the port cannot be had."""
    with closing(Site(finds)) as site, _bound(listen) as sock:
        _tune_memory()
        server = Server(App.of(site, after_first_scrape=_settle_memory), sock)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda number, _: _stop(server, number))
        host, port = sock.getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host
        log.info("serving on http://%s:%s/", shown, port, extra={"event": "serving"})
        server.run()
    log.info("stopped", extra={"event": "stopped"})


def _stop(server: Server, number: int) -> None:
    signal.signal(number, signal.SIG_DFL)  # who asks twice does not want to wait
    server.stop()


def _bound(listen: Listen) -> socket.socket:
    family = socket.AF_INET6 if ":" in listen.host else socket.AF_INET
    try:
        return socket.create_server(listen, family=family, backlog=128)
    except OSError as error:
        raise ConfigError(
            f"cannot listen on {listen.host}:{listen.port}: {error.strerror or error}. Nothing was "
            "started.\n  Give another one with --listen ADDR:PORT."
        ) from None


class Server:
    """waitress over one socket."""

    def __init__(self, app: App, sock: socket.socket) -> None:
        """Start the threads; nothing is accepted before `run`."""
        self._map: dict[int, Any] = {}
        self._waitress = create_server(app, map=self._map, sockets=[sock], **_SETTINGS)
        self._stopped = threading.Event()

    def stop(self) -> None:
        """Let `run` come to its end; may be called by a signal's handler."""
        self._stopped.set()
        self._waitress.pull_trigger()

    def run(self, drain_s: float = DRAIN_S) -> None:
        """Serve until `stop`; what is being answered then is answered, for up to ``drain_s``."""
        while not self._stopped.is_set():
            self._turn(1.0)
        # Only the socket that listens: those who answer still have to wake this thread up.
        wasyncore.dispatcher.close(self._waitress)
        until = time.monotonic() + drain_s
        while self._is_answering() and time.monotonic() < until:
            self._turn(0.1)
        self._waitress.task_dispatcher.shutdown()
        wasyncore.close_all(self._map)

    def _turn(self, timeout_s: float) -> None:
        wasyncore.loop(timeout=timeout_s, use_poll=True, map=self._map, count=1)

    def _is_answering(self) -> bool:
        """Whether an answer is under way; connections on which none is are closed."""
        channels = list(self._waitress.active_channels.values())
        for channel in channels:
            if not channel.requests and not channel.total_outbufs_len:
                channel.will_close = True
        return bool(channels)


# ------------------------------------------------------------------------------------- memory


def _tune_memory() -> None:
    """Look for garbage less often than Python does by default.

    A page of a thousand jobs makes some hundred thousand objects, all of which go by themselves
    when it is sent: a collection at every 700th of them would walk through all that is kept, again
    and again, for nothing.
    """
    gc.set_threshold(50_000, 20, 50)


def _settle_memory() -> None:
    """Leave what stands after the first scrape, modules and labels, out of later collections."""
    gc.collect()
    gc.freeze()
