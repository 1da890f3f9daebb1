"""One connection through the proxy: carries frames both ways, until its client or server goes."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Literal

from tests.wire_frames import (
    ASKS,
    TO_CLIENT,
    TO_SERVER,
    Frame,
    RawFrame,
    Statements,
    answer_text,
    read_frame,
    read_startup,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.wire_journal import Cut, Journal


def shut(stream: socket.socket, how: int = socket.SHUT_RDWR) -> None:
    """End a stream, and with it a read that waits in another thread; harmless when repeated."""
    with suppress(OSError):
        stream.shutdown(how)


class Connection(threading.Thread):
    """One client and its server. The thread carries requests; a second one carries answers."""

    def __init__(
        self,
        journal: Journal,
        number: int,
        timeout: float,
        client: socket.socket,
        server: socket.socket,
    ) -> None:
        super().__init__(name=f"wire connection {number}")
        self.client, self._server = client, server
        self._journal, self._number, self._timeout = journal, number, timeout
        self._statements = Statements()
        self._asked = 1  # the startup packet asks too: it is answered with ReadyForQuery
        self._ready = 0
        self._cut: Cut | None = None
        self._cut_ready = 0  # the ReadyForQuery that answers the cut statement; 0: none will
        for side in (client, server):
            side.settimeout(None)  # a client may be idle for long; sever() wakes every read
            if side.family != socket.AF_UNIX:
                side.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def run(self) -> None:
        """Carry requests until the client goes or is cut, and answers until the server goes."""
        answers = threading.Thread(target=self._carry_answers, name=f"{self.name}, answers")
        with self.client, self._server:
            answers.start()
            with suppress(OSError, EOFError):
                self._start_up()
                self._carry_requests()
            if not self._cut_ready:  # else the server may still be at it, and ends by its answer
                shut(self._server, socket.SHUT_WR)
            answers.join()

    def sever(self) -> None:
        """End both sides, whatever they are at."""
        shut(self.client)
        shut(self._server)

    def _start_up(self) -> None:
        packet = read_startup(self.client)
        while packet.kind in {"ssl", "gssenc"}:
            self._log(TO_SERVER, packet.kind)
            self.client.sendall(b"N")
            packet = read_startup(self.client)
        self._log(TO_SERVER, packet.kind)
        self._server.sendall(packet.data)

    def _requests(self) -> Iterator[tuple[RawFrame, str]]:
        while True:
            frame = read_frame(self.client)
            sql = self._statements.text(frame)
            self._log(TO_SERVER, frame.kind, sql)
            yield frame, sql

    def _carry_requests(self) -> None:
        requests = self._requests()
        for frame, sql in requests:
            runs = frame.kind in {"Q", "E"}
            if runs and (cut := self._journal.take(sql, self._number)):
                self._cut_at(cut, frame, requests)
                return
            self._forward(frame)

    def _forward(self, frame: RawFrame) -> None:
        self._asked += frame.kind in ASKS
        self._server.sendall(frame.data)

    def _cut_at(self, cut: Cut, frame: RawFrame, requests: Iterator[tuple[RawFrame, str]]) -> None:
        self._cut = cut  # from here on no answer reaches the client
        try:
            if cut.forward:
                self._forward_through_sync(cut, frame, requests)
            if cut.await_answer and not cut.settled.wait(self._timeout):
                self._journal.fail(f"no answer to {cut.sql!r} within {self._timeout} s")
        finally:
            shut(self.client)
            cut.done.set()

    def _forward_through_sync(
        self, cut: Cut, frame: RawFrame, requests: Iterator[tuple[RawFrame, str]]
    ) -> None:
        """Without the Sync that follows an Execute the server would not answer."""
        while frame.kind not in ASKS:
            self._forward(frame)
            frame, _ = next(requests)
        self._cut_ready = self._asked + 1
        cut.forwarded = True  # before the send: its answer may be there before the send returns
        try:
            self._forward(frame)
        except OSError:
            cut.forwarded = False
            raise

    def _carry_answers(self) -> None:
        with suppress(OSError, EOFError):
            while True:
                self._answer(read_frame(self._server))
        shut(self.client)
        if self._cut is not None:
            self._cut.ended.set()
            self._cut.settled.set()

    def _answer(self, frame: RawFrame) -> None:
        text = answer_text(frame)
        self._log(TO_CLIENT, frame.kind, text)
        self._ready += frame.kind == "Z"
        if self._cut is not None:
            self._withhold(self._cut, frame.kind, text)
            return
        if frame.kind == "Z" and self._ready > 1:
            self._journal.count()  # before the client can know
        with suppress(OSError):  # a client that has gone must not stop the reading of answers
            self.client.sendall(frame.data)

    def _withhold(self, cut: Cut, kind: str, text: str) -> None:
        if kind in {"C", "E"}:
            cut.answers.append(text)
        if kind == "Z" and self._ready == self._cut_ready:
            cut.answered.set()
            cut.settled.set()
            shut(self._server, socket.SHUT_WR)

    def _log(self, direction: Literal[">", "<"], kind: str, text: str = "") -> None:
        self._journal.log(Frame(self._number, direction, kind, text))
