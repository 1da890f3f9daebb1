from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from k8sjob.kube.inside import Kind, Trouble
from tests.inside.apiserver import answer, cut, inside, send

if TYPE_CHECKING:
    from tests.inside.apiserver import Act, ApiServer, Time

JOB = {"kind": "Job"}
OK = b"HTTP/1.1 200 OK\r\n"


def garbage(server: ApiServer, time: Time, **limits: int) -> Trouble:
    with pytest.raises(Trouble) as met:
        inside(server, time, **limits).get_job("billing", "x")
    assert (met.value.kind, met.value.exit_code) == (Kind.GARBAGE, 75)
    return met.value


@pytest.mark.parametrize(
    "act",
    [
        send(OK + b'Content-Length: 40\r\n\r\n{"kind": "Job"}'),
        cut(OK + b'Content-Length: 40\r\n\r\n{"kind": "Job"}'),
        cut(OK + b'\r\n{"kind": "Job"}'),
        cut(OK + b'Transfer-Encoding: chunked\r\n\r\n20\r\n{"kind": "Job"}'),
        send(OK + b'Transfer-Encoding: chunked\r\n\r\nf\r\n{"kind": "Job"}\r\n'),
        cut(OK + b"Content-Le"),
    ],
    ids=["length", "length-cut", "no-length", "chunk", "last-chunk", "header"],
)
def test_an_answer_that_broke_off_is_asked_for_again(
    server: ApiServer, time: Time, act: Act
) -> None:
    """What came before the break may read as a whole, as it does in the third case."""
    server.script = [act, answer(200, JOB | {"whole": True})]

    assert inside(server, time).get_job("billing", "x") == JOB | {"whole": True}


def test_answers_that_break_off_each_time_are_given_up(server: ApiServer, time: Time) -> None:
    server.script = [send(OK + b"Content-Length: 40\r\n\r\n{")]

    assert "broke off (at each of 5 tries). Nothing was done." in garbage(server, time).text


@pytest.mark.parametrize(
    "body",
    [
        *(b"<html>Sign in</html>", b"", b'"text"', b"[]", b"null", b"12", b'{"a": 1'),
        *(b"\xff\xfe", b"[" * 100_000),
    ],
    ids=["html", "nothing", "text", "list", "null", "number", "half", "not-utf-8", "deep"],
)
def test_an_answer_that_is_no_object_is_garbage_and_final(
    server: ApiServer, time: Time, body: bytes
) -> None:
    server.script = [answer(200, body)]

    text = garbage(server, time).text

    assert "the answer for Job billing/x is no JSON object" in text
    assert len(server.asked) == 1
    assert len(text) < 400


@pytest.mark.parametrize("length", [True, False])
def test_an_answer_without_end_is_not_taken_in(
    server: ApiServer, time: Time, *, length: bool
) -> None:
    body = b'{"a": "' + b"x" * 2000 + b'"}'
    head = OK + (f"Content-Length: {len(body)}\r\n".encode() if length else b"")
    server.script = [send(head + b"\r\n" + body)]

    assert "is longer than 1,000 bytes" in garbage(server, time, body_bytes=1000).text
    assert len(server.asked) == 1


def test_an_answer_of_exactly_the_size_is_taken(server: ApiServer, time: Time) -> None:
    body = b'{"a": "' + b"x" * 991 + b'"}'
    server.script = [answer(200, body)]

    assert inside(server, time, body_bytes=1000).get_job("billing", "x") == {"a": "x" * 991}


@pytest.mark.parametrize(
    "text",
    [b"SSH-2.0-OpenSSH_9.2\r\n", b"HTTP/1.1 two OK\r\n\r\n", b"HTTP/1.1 200 " + b"x" * 70_000],
    ids=["ssh", "status", "long"],
)
def test_what_is_not_http_is_garbage(server: ApiServer, time: Time, text: bytes) -> None:
    server.script = [send(text)]

    assert "does not speak HTTP" in garbage(server, time).text
