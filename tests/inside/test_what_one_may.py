from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from k8sjob.kube.inside import Kind, Trouble
from k8sjob.kube.inside_review import Right
from tests.inside.apiserver import TOKEN, answer, inside, status

if TYPE_CHECKING:
    from tests.inside.apiserver import ApiServer, Time

READ_JOBS = Right("get", "jobs.batch", "billing")


def reviewed(allowed: object, **more: object) -> dict[str, Any]:
    return {"kind": "SelfSubjectAccessReview", "status": {"allowed": allowed, **more}}


@pytest.mark.parametrize("allowed", [True, False])
def test_what_the_server_says_is_believed(server: ApiServer, time: Time, allowed: bool) -> None:  # noqa: FBT001
    server.script = [answer(201, reviewed(allowed))]

    assert inside(server, time).may(READ_JOBS).allowed is allowed


def test_a_review_is_posted_with_the_pods_token(server: ApiServer, time: Time) -> None:
    server.script = [answer(201, reviewed(allowed=True))]

    inside(server, time).may(READ_JOBS)

    (asked,) = server.asked
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    assert asked.line == f"POST {path} HTTP/1.1"
    assert asked.headers["authorization"] == f"Bearer {TOKEN}"
    assert asked.headers["content-type"] == "application/json"
    assert json.loads(asked.body) == {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {
            "resourceAttributes": {
                "verb": "get",
                "group": "batch",
                "resource": "jobs",
                "namespace": "billing",
            }
        },
    }


def test_a_right_everywhere_names_no_namespace(server: ApiServer, time: Time) -> None:
    server.script = [answer(201, reviewed(allowed=True))]

    inside(server, time).may(Right("list", "pods"))

    asked = json.loads(server.asked[0].body)["spec"]["resourceAttributes"]
    assert asked == {"verb": "list", "group": "", "resource": "pods"}


def test_the_reason_is_the_authorizers_own(server: ApiServer, time: Time) -> None:
    reason = 'RBAC: clusterrole.rbac.authorization.k8s.io "x"\n not found'
    server.script = [answer(201, reviewed(allowed=False, reason="", evaluationError=reason))]

    said = inside(server, time).may(READ_JOBS)

    assert said.reason == 'RBAC: clusterrole.rbac.authorization.k8s.io "x" not found'


def test_the_servers_clock_is_told_beside_it(server: ApiServer, time: Time) -> None:
    time.wall = 784111777.0  # RFC 9110, 5.6.7: Sun, 06 Nov 1994 08:49:37 GMT
    server.script = [answer(201, reviewed(allowed=True), Date="Sun, 06 Nov 1994 08:50:07 GMT")]

    assert inside(server, time).may(READ_JOBS).ahead_s == 30.5


@pytest.mark.parametrize("date", ["", "yesterday"])
def test_a_server_without_a_date_has_no_clock(server: ApiServer, time: Time, date: str) -> None:
    server.script = [answer(201, reviewed(allowed=True), Date=date)]

    assert inside(server, time).may(READ_JOBS).ahead_s is None


@pytest.mark.parametrize(
    "value", [{}, {"status": None}, {"status": {}}, {"status": {"allowed": "yes"}}]
)
def test_an_answer_to_something_else_is_no_answer(
    server: ApiServer, time: Time, value: object
) -> None:
    server.script = [answer(201, value)]

    with pytest.raises(Trouble, match="does not say what is allowed") as met:
        inside(server, time).may(READ_JOBS)
    assert met.value.kind is Kind.GARBAGE


def test_who_may_not_even_ask_is_told_who_lets_everybody(server: ApiServer, time: Time) -> None:
    server.script = [status(403, "forbidden")]

    with pytest.raises(Trouble, match="does not let this Pod ask what it may do") as met:
        inside(server, time).may(READ_JOBS)
    assert "system:basic-user" in met.value.advice


def test_a_server_that_is_busy_is_asked_again(server: ApiServer, time: Time) -> None:
    server.script = [status(503, "starting"), answer(201, reviewed(allowed=True))]

    assert inside(server, time).may(READ_JOBS).allowed
    assert [asked.line.split()[0] for asked in server.asked] == ["POST", "POST"]
