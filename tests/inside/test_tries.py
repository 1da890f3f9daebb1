from __future__ import annotations

from email.utils import formatdate
from typing import TYPE_CHECKING

import pytest

from k8sjob.kube.inside import Inside, Kind, Trouble
from tests.inside.apiserver import Time, answer, cut, inside, status

if TYPE_CHECKING:
    from tests.inside.apiserver import ApiServer

JOB = {"kind": "Job"}


@pytest.mark.parametrize("code", [500, 502, 503, 504])
def test_after_an_error_of_the_server_another_try_is_made(
    server: ApiServer, time: Time, code: int
) -> None:
    server.script = [status(code, "etcdserver: leader changed"), answer(200, JOB)]

    assert inside(server, time).get_job("billing", "x") == JOB
    assert time.slept == [0.25]


def test_the_pauses_grow_and_the_tries_are_bounded(server: ApiServer, time: Time) -> None:
    server.script = [status(500, "etcdserver: leader changed")]

    with pytest.raises(Trouble) as met:
        inside(server, time).get_job("billing", "x")

    assert (met.value.kind, met.value.exit_code) == (Kind.SERVER, 75)
    assert time.slept == [0.25, 0.5, 1.0, 2.0]
    assert len(server.asked) == 5
    assert met.value.text == (
        "the Kubernetes API answered 500 for Job billing/x: etcdserver: leader changed (at each "
        "of 5 tries). Nothing was done.\n  Another try may succeed."
    )


def test_pods_that_failed_together_do_not_come_back_together(server: ApiServer, time: Time) -> None:
    server.script = [status(500, "no")]
    effects = time.effects
    api = Inside.find(server.env, effects=type(effects)(clock=effects.clock, sleep=effects.sleep))

    assert api
    with pytest.raises(Trouble):
        api.get_job("billing", "x")
    longest = [0.25, 0.5, 1.0, 2.0]
    assert all(most / 2 <= s < most for s, most in zip(time.slept, longest, strict=True))


def test_a_server_that_is_busy_says_when_to_come_again(server: ApiServer, time: Time) -> None:
    server.script = [status(429, "too many", Retry_After="3"), answer(200, JOB)]

    assert inside(server, time).get_job("billing", "x") == JOB
    assert time.slept == [3.0]


def test_the_time_to_come_again_may_be_a_date_by_the_servers_clock(
    server: ApiServer, time: Time
) -> None:
    wrong_by_an_hour = time.wall + 3600
    now, then = (formatdate(wrong_by_an_hour + s, usegmt=True) for s in (0, 4))
    server.script = [status(503, "starting", Retry_After=then, Date=now), answer(200, JOB)]

    assert inside(server, time).get_job("billing", "x") == JOB
    assert time.slept == [4.0]


def test_without_the_servers_clock_the_date_is_taken_by_ours(server: ApiServer, time: Time) -> None:
    then = formatdate(time.wall + 2, usegmt=True)
    server.script = [status(503, "starting", Retry_After=then), answer(200, JOB)]

    inside(server, time).get_job("billing", "x")

    assert time.slept == [2.0]


@pytest.mark.parametrize(
    ("text", "pause"),
    [
        *(("0", 0.0), ("soon", 0.25), ("-5", 0.25), ("1.5", 0.25), ("", 0.25), ("\xb2", 0.25)),
        *(("Fri, 01 Jan 1999 00:00:00 GMT", 0.0), ("Fri, 99 Xxx 1999 00:00:00 GMT", 0.25)),
    ],
)
def test_what_is_no_time_to_come_again_is_passed_by(
    server: ApiServer, time: Time, text: str, pause: float
) -> None:
    server.script = [status(429, "too many", Retry_After=text), answer(200, JOB)]

    inside(server, time).get_job("billing", "x")

    assert time.slept == [pause]


@pytest.mark.parametrize("code", [429, 503])
def test_nobody_waits_beyond_the_time_for_all_of_it(
    server: ApiServer, time: Time, code: int
) -> None:
    server.script = [status(code, "too many", Retry_After="60")]

    with pytest.raises(Trouble, match="it asks to wait 60 s") as met:
        inside(server, time).get_job("billing", "x")

    assert met.value.kind is (Kind.THROTTLED if code == 429 else Kind.SERVER)
    assert met.value.exit_code == 75
    assert time.slept == []


def test_the_pauses_together_stay_within_the_time_for_all_of_it(
    server: ApiServer, time: Time
) -> None:
    server.script = [status(429, "too many", Retry_After="6")]

    with pytest.raises(Trouble):
        inside(server, time, total_s=15).get_job("billing", "x")

    assert time.slept == [6.0, 6.0]


def test_a_connection_that_is_refused_is_tried_again(server: ApiServer, time: Time) -> None:
    server.stop_listening()

    with pytest.raises(Trouble, match="Connection refused") as met:
        inside(server, time).get_job("billing", "x")

    assert (met.value.kind, met.value.exit_code) == (Kind.UNREACHABLE, 75)
    assert f"the Kubernetes API at 127.0.0.1:{server.port} cannot be reached" in met.value.text
    assert time.slept == [0.25, 0.5, 1.0, 2.0]


def test_a_connection_that_breaks_without_an_answer_is_tried_again(
    server: ApiServer, time: Time
) -> None:
    server.script = [cut(b""), answer(200, JOB)]

    assert inside(server, time).get_job("billing", "x") == JOB


def test_a_clock_that_stands_still_gives_no_more_tries(server: ApiServer) -> None:
    server.script = [status(500, "no")]
    time = Time()

    with pytest.raises(Trouble):
        inside(server, time, tries=3).get_job("billing", "x")

    assert len(server.asked) == 3
