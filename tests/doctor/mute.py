"""Servers that accept and then say nothing: before the login, or after it."""

from __future__ import annotations

import socket
import struct
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# What a server sends to let somebody in whom it trusts (PostgreSQL documentation, 53.7 "Message
# Formats"): AuthenticationOk, three ParameterStatus, BackendKeyData, ReadyForQuery.
_PARAMETERS = {"server_version": "18.0", "client_encoding": "UTF8", "TimeZone": "UTC"}


def _message(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack("!i", len(body) + 4) + body


_IN = (
    _message(b"R", struct.pack("!i", 0))
    + b"".join(_message(b"S", f"{name}\0{value}\0".encode()) for name, value in _PARAMETERS.items())
    + _message(b"K", struct.pack("!ii", 4711, 815))
    + _message(b"Z", b"I")
)


@contextmanager
def mute_server(*, after_the_login: bool = False, then_gone: bool = False) -> Iterator[str]:
    """Give the DSN of one. Whoever waits for it is let go at the end.

    ``then_gone``: it lets in, and ends the connection at the first thing that it is asked.
    """
    taken: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:
        act = _let_in_and_go if then_gone else _let_in if after_the_login else _nothing
        thread = threading.Thread(target=_accept, args=(listening, taken, act))
        thread.start()
        try:
            yield f"postgresql://ann@127.0.0.1:{listening.getsockname()[1]}/shop?sslmode=disable"
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            for connection in taken:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
                connection.close()
            thread.join(30)
            assert not thread.is_alive()


def _accept(
    listening: socket.socket, taken: list[socket.socket], act: Callable[[socket.socket], None]
) -> None:
    while True:
        try:
            connection, _ = listening.accept()
        except OSError:
            return
        taken.append(connection)
        act(connection)


def _nothing(_connection: socket.socket) -> None:
    pass


def _let_in(connection: socket.socket) -> None:
    connection.recv(4096)
    connection.sendall(_IN)


def _let_in_and_go(connection: socket.socket) -> None:
    _let_in(connection)
    connection.recv(4096)
    connection.shutdown(socket.SHUT_RDWR)
