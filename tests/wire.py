"""A proxy before a Postgres server: it reads the frames, counts round trips and cuts at COMMIT.

All waits are bounded, nothing sleeps. The way to the server is never encrypted: a server that
insists on TLS cannot be used. COPY passes through, but a COPY FROM STDIN by the extended protocol
must not precede a cut on its connection (the server ignores a Sync there, the count would be off).
"""

from __future__ import annotations

import os
import socket
import threading
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Self

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tests.wire_connection import Connection, shut
from tests.wire_frames import is_commit
from tests.wire_journal import Cut, Journal, RoundTrips

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from types import TracebackType

    from tests.wire_frames import Frame

TIMEOUT = 30.0  # seconds


class WireError(AssertionError):
    """The proxy could not do what the test asked of it."""


class WireProxy:
    """A proxy on 127.0.0.1 in front of the server that `conninfo` names; a context manager.

    `timeout` bounds every wait, in seconds. OSError where the server cannot be reached at the
    start; later on a client is then closed at once, as by `refuse`.
    """

    def __init__(self, conninfo: str, timeout: float = TIMEOUT) -> None:
        self.cuts: list[Cut] = []
        self._timeout = timeout
        self._params = conninfo_to_dict(conninfo)
        self._journal = Journal()
        self._connections: list[Connection] = []
        self._accepting = True
        self._closed = False
        self._dial().close()  # a wrong conninfo shows here and not at the first client
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._acceptor = threading.Thread(target=self._accept_all, name="wire acceptor")
        self._acceptor.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        try:
            self.close()
        except WireError as failure:
            if error is None:
                raise
            error.add_note(str(failure))  # the test's own error says more than ours

    def conninfo(self, **overrides: str | int | None) -> str:
        """Return a connection string that leads through the proxy."""
        around = {"hostaddr", "sslnegotiation"}  # would lead past the proxy, or insist on TLS
        kept = {name: value for name, value in self._params.items() if name not in around}
        here = {"host": "127.0.0.1", "port": self._listener.getsockname()[1]}
        plain = {"sslmode": "disable", "gssencmode": "disable"}
        return make_conninfo("", **{**kept, **here, **plain, **overrides})

    @property
    def frames(self) -> tuple[Frame, ...]:
        """All frames so far, those too that a cut kept from going on."""
        return self._journal.frames()

    @property
    def round_trips(self) -> int:
        """How many Query and Sync frames were answered, to the client, with ReadyForQuery."""
        return self._journal.round_trips()

    @contextmanager
    def counting(self) -> Iterator[RoundTrips]:
        """Count the round trips within the block, on all connections."""
        counter = RoundTrips(self._journal)
        try:
            yield counter
        finally:
            counter.stop()

    def cut_commit(
        self,
        *,
        forward: bool,
        await_answer: bool = True,
        matches: Callable[[str], bool] = is_commit,
    ) -> Cut:
        """Arm one cut, for the next statement that `matches`, on any connection.

        `forward=False`: the server never gets the statement and sees its client go.
        `forward=True`: the server gets the statement, and the client is cut instead of told.
        `await_answer=False` does not wait for the answer: the client is cut as soon as the server
        was sent the statement, and the server's side stays until it has answered.
        """
        cut = Cut(matches, forward, forward and await_answer)
        self.cuts.append(cut)
        self._journal.arm(cut)
        return cut

    def refuse(self) -> AbstractContextManager[object]:
        """Close new connections at once, from this call on; as a context, until its end."""
        return self._doors(accepting=False)

    def accept(self) -> AbstractContextManager[object]:
        """Take new connections again, from this call on; as a context, until its end."""
        return self._doors(accepting=True)

    def cut_all(self) -> None:
        """Cut every living connection at the client's side; the server sees its client go."""
        for connection in self._living():
            shut(connection.client)

    def close(self) -> None:
        """End all connections and join all threads.

        WireError where something was waited for in vain or an armed cut met no statement.
        """
        if self._closed:
            return
        self._closed = True
        with suppress(OSError):  # shutdown() does not wake accept() on every system
            socket.create_connection(self._listener.getsockname(), self._timeout).close()
        self._join(self._acceptor)
        self._listener.close()
        for connection in self._connections:
            connection.sever()
            self._join(connection)
        if failures := self._journal.failures():
            raise WireError("; ".join(failures))

    def _doors(self, *, accepting: bool) -> AbstractContextManager[object]:
        stack = ExitStack()
        stack.callback(setattr, self, "_accepting", self._accepting)
        self._accepting = accepting
        return stack

    def _living(self) -> list[Connection]:
        return [connection for connection in self._connections if connection.is_alive()]

    def _join(self, thread: threading.Thread) -> None:
        thread.join(self._timeout)
        if thread.is_alive():
            self._journal.fail(f"{thread.name} did not end within {self._timeout} s")

    def _dial(self) -> socket.socket:
        params = self._params
        host = str(
            params.get("hostaddr") or params.get("host") or os.environ.get("PGHOST") or "localhost"
        )
        port = int(params.get("port") or os.environ.get("PGPORT") or 5432)
        if not host.startswith("/"):
            return socket.create_connection((host, port), self._timeout)
        server = socket.socket(socket.AF_UNIX)
        server.settimeout(self._timeout)
        try:
            server.connect(f"{host}/.s.PGSQL.{port}")
        except OSError:
            server.close()
            raise
        return server

    def _accept_all(self) -> None:
        while not self._closed:
            client, _ = self._listener.accept()
            try:
                self._admit(client)
            except OSError:
                client.close()

    def _admit(self, client: socket.socket) -> None:
        if self._closed or not self._accepting:
            client.close()
            return
        number = len(self._connections) + 1
        connection = Connection(self._journal, number, self._timeout, client, self._dial())
        self._connections.append(connection)
        connection.start()
