"""The site over HTTP, in a thread of this process, at a fixed moment."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from k8sjob.serve.app import App
from k8sjob.serve.server import Server
from tests.serve.conftest import serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.fix_stores import Database


@contextmanager
def website(db: Database) -> Iterator[str]:
    """Serve a ledger until the end of the block; return its address."""
    with serving(db) as site, socket.create_server(("127.0.0.1", 0)) as sock:
        server = Server(App.of(site), sock)
        host, port = sock.getsockname()
        thread = threading.Thread(target=server.run)
        thread.start()
        try:
            yield f"http://{host}:{port}"
        finally:
            server.stop()
            thread.join()
