from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from k8sjob.kube.inside import Kind, Trouble
from tests.inside.apiserver import TOKEN, answer, inside, status

if TYPE_CHECKING:
    import ssl

    from tests.inside.apiserver import ApiServer, Time

FORBIDDEN = (
    '{what} is forbidden: User "system:serviceaccount:billing:nightly" cannot get resource '
    '"{plural}" in API group "{group}" in the namespace "billing"'
)


def met(server: ApiServer, time: Time, *, pod: bool = False) -> Trouble:
    api = inside(server, time)
    with pytest.raises(Trouble) as raised:
        (api.get_pod if pod else api.get_job)("billing", "daily-credit-29817615")
    return raised.value


def test_a_right_that_is_missing_is_named_as_lines_to_paste(server: ApiServer, time: Time) -> None:
    said = FORBIDDEN.format(what='jobs.batch "daily-credit-29817615"', plural="jobs", group="batch")
    server.script = [status(403, said)]

    trouble = met(server, time)

    assert (trouble.kind, trouble.exit_code) == (Kind.DENIED, 77)
    first, *rest = trouble.text.splitlines()
    assert first == (
        "the Kubernetes API does not let this Pod read Job billing/daily-credit-29817615: "
        f"{said}. Nothing was done."
    )
    assert [line.strip() for line in rest] == [
        "Give the right to this Pod's service account:",
        "kubectl create role k8sjob-entrypoint -n billing --verb=get --resource=jobs.batch",
        (
            "kubectl create rolebinding k8sjob-entrypoint -n billing --role=k8sjob-entrypoint "
            "--serviceaccount=billing:nightly"
        ),
    ]
    assert len(server.asked) == 1


def test_the_right_to_read_pods_is_another(server: ApiServer, time: Time) -> None:
    server.script = [status(403, FORBIDDEN.format(what='pods "x"', plural="pods", group=""))]

    text = met(server, time, pod=True).text

    assert "kubectl create role k8sjob-pods -n billing --verb=get --resource=pods\n" in text
    assert text.endswith("--role=k8sjob-pods --serviceaccount=billing:nightly")


@pytest.mark.parametrize("said", ['User "system:anonymous" cannot', 'User "jane" cannot', ""])
def test_where_no_account_is_named_the_line_leaves_room_for_it(
    server: ApiServer, time: Time, said: str
) -> None:
    server.script = [status(403, said)]

    assert met(server, time).text.endswith("--serviceaccount=billing:SERVICE_ACCOUNT")


def test_a_refusal_that_is_no_status_is_quoted_shortly(server: ApiServer, time: Time) -> None:
    server.script = [answer(403, b"<html>" + b"no" * 10_000)]

    trouble = met(server, time)

    assert trouble.kind is Kind.DENIED
    assert "<html>nonono" in trouble.text
    assert len(trouble.text) < 600


def test_a_token_that_was_just_renewed_is_tried_once_more(server: ApiServer, time: Time) -> None:
    def renewed(tls: ssl.SSLSocket) -> None:
        server.renew_token("token-of-the-second-hour")
        status(401, "Unauthorized")(tls)

    server.script = [renewed, answer(200, {"kind": "Job"})]

    assert inside(server, time).get_job("billing", "x") == {"kind": "Job"}
    sent = [asked.headers["authorization"] for asked in server.asked]
    assert sent == [f"Bearer {TOKEN}", "Bearer token-of-the-second-hour"]
    assert time.slept == [0]


def test_a_token_that_is_refused_again_is_not_tried_a_third_time(
    server: ApiServer, time: Time
) -> None:
    server.script = [status(401, "Unauthorized")]

    trouble = met(server, time)

    assert (trouble.kind, trouble.exit_code) == (Kind.UNAUTHORIZED, 77)
    assert "does not accept this Pod's token: Unauthorized (at each of 2 tries)" in trouble.text
    assert len(server.asked) == 2


def test_a_token_that_is_refused_after_other_trouble_is_tried_once_more(
    server: ApiServer, time: Time
) -> None:
    server.script = [status(500, "etcd"), status(401, "no"), answer(200, {"kind": "Job"})]

    assert inside(server, time).get_job("billing", "x") == {"kind": "Job"}


def test_a_job_that_is_not_there_is_no_reason_to_try_again(server: ApiServer, time: Time) -> None:
    server.script = [status(404, 'jobs.batch "daily-credit-29817615" not found')]

    trouble = met(server, time)

    assert (trouble.kind, trouble.exit_code) == (Kind.NOT_FOUND, 66)
    assert 'jobs.batch "daily-credit-29817615" not found. Nothing was done.' in trouble.text
    assert len(server.asked) == 1


@pytest.mark.parametrize("code", [301, 304, 400, 405, 410, 422])
def test_any_other_answer_is_garbage_and_final(server: ApiServer, time: Time, code: int) -> None:
    server.script = [status(code, "odd")]
    if code == 304:
        server.script = [answer(code, b"")]

    trouble = met(server, time)

    assert (trouble.kind, trouble.exit_code) == (Kind.GARBAGE, 75)
    assert f"answered {code} for Job billing/daily-credit-29817615" in trouble.text
    assert len(server.asked) == 1
