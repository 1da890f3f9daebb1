from __future__ import annotations

import selectors
import socket
import time as real
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from k8sjob.kube.inside import Inside, Kind, Limits, Trouble
from tests.inside.apiserver import Time, answer, inside, status, trickle

if TYPE_CHECKING:
    import ssl

    from tests.inside.apiserver import ApiServer

#: Long enough for a machine under load to connect, short enough to be waited for.
SHORT_S = 0.05


def timed_out(api: Inside) -> Trouble:
    with pytest.raises(Trouble, match="did not answer in time") as met:
        api.get_job("billing", "x")
    assert (met.value.kind, met.value.exit_code) == (Kind.TIMEOUT, 75)
    return met.value


def test_a_server_that_accepts_and_never_answers_is_given_up(server: ApiServer, time: Time) -> None:
    server.script = [server.wait_for_the_end]

    trouble = timed_out(inside(server, time, read_s=SHORT_S, connect_s=30, tries=2))

    assert "(at each of 2 tries)" in trouble.text


def test_a_server_that_accepts_and_never_shakes_hands_is_given_up(
    server: ApiServer, time: Time
) -> None:
    server.waits_before_tls = True

    timed_out(inside(server, time, read_s=SHORT_S, tries=2))


def test_a_host_that_does_not_even_accept_is_given_up(server: ApiServer, time: Time) -> None:
    """A queue of connections that is full looks like a host that drops packets."""
    with ExitStack() as stack:
        full = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        _fill(stack, full.getsockname())
        port = {"KUBERNETES_SERVICE_PORT": str(full.getsockname()[1])}
        limits = Limits(connect_s=SHORT_S, read_s=30, tries=1)
        api = Inside.find(server.env | port, limits=limits, effects=time.effects)
        assert api
        timed_out(api)


def _fill(stack: ExitStack, address: tuple[str, int]) -> None:
    """Connect until a connection is left waiting."""
    with selectors.DefaultSelector() as selector:
        for _ in range(64):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(address)
            selector.register(waiting, selectors.EVENT_WRITE)
            if not selector.select(SHORT_S * 4):
                return
            selector.unregister(waiting)
    pytest.skip("this kernel takes any number of connections")


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"HTTP/1.1 200 OK\r\n",
        b"HTTP/1.1 200 OK\r\nX-Long:",
        b"HTTP/1.1 200 OK\r\nContent-Length: 4000000\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffff\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
    ],
    ids=["nothing", "status", "header", "body", "endless-body", "chunk", "chunk-size"],
)
def test_a_server_that_trickles_is_given_up_when_the_time_for_all_of_it_is_over(
    server: ApiServer, head: bytes
) -> None:
    """By this clock each look takes a second, so that fifteen bytes are all that come through."""
    time = Time(step=1.0)
    server.script = [trickle(head)]

    timed_out(inside(server, time, total_s=15))

    assert time.now - 1000 < 20
    assert len(server.asked) == 1


def test_tries_that_take_their_time_end_with_the_time_for_all_of_it(server: ApiServer) -> None:
    time = Time()

    def slow(tls: ssl.SSLSocket) -> None:
        time.now += 6
        status(500, "no")(tls)

    server.script = [slow]

    with pytest.raises(Trouble):
        inside(server, time, total_s=15, tries=100).get_job("billing", "x")

    assert time.now - 1000 < 20
    assert len(server.asked) == 3


def test_by_the_real_clock_a_trickle_ends_in_time(server: ApiServer) -> None:
    server.script = [trickle(b"HTTP/1.1 200 OK\r\n\r\n")]
    api = Inside.find(server.env, limits=Limits(total_s=0.2))
    assert api
    started = real.monotonic()

    timed_out(api)

    assert 0.19 < real.monotonic() - started < 30


def test_an_answer_that_comes_in_time_is_taken_however_slow(server: ApiServer) -> None:
    server.script = [answer(200, {"kind": "Job"})]

    assert inside(server, Time(step=1.0), total_s=100).get_job("billing", "x") == {"kind": "Job"}
