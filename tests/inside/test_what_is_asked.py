from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from k8sjob.kube.inside import Inside, Kind, Trouble
from k8sjob.version import __version__
from tests.inside.apiserver import TOKEN, answer, inside

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fix_inside import Serve
    from tests.inside.apiserver import ApiServer, Time

JOB = {"kind": "Job", "metadata": {"name": "daily-credit-29817615"}}
POD = {"kind": "Pod", "metadata": {"name": "daily-credit-29817615-x7k2p"}}


def test_a_job_is_asked_for_with_the_pods_token(server: ApiServer, time: Time) -> None:
    server.script = [answer(200, JOB)]

    assert inside(server, time).get_job("billing", "daily-credit-29817615") == JOB
    (asked,) = server.asked
    path = "/apis/batch/v1/namespaces/billing/jobs/daily-credit-29817615"
    assert asked.line == f"GET {path} HTTP/1.1"
    assert asked.headers["authorization"] == f"Bearer {TOKEN}"
    assert asked.headers["host"] == f"127.0.0.1:{server.port}"
    assert asked.headers["user-agent"] == f"k8sjob/{__version__}"


def test_a_pod_is_asked_for_where_pods_are(server: ApiServer, time: Time) -> None:
    server.script = [answer(200, POD)]

    assert inside(server, time).get_pod("billing", "daily-credit-29817615-x7k2p") == POD
    path = "/api/v1/namespaces/billing/pods/daily-credit-29817615-x7k2p"
    assert server.asked[0].line == f"GET {path} HTTP/1.1"


def test_names_are_quoted(server: ApiServer, time: Time) -> None:
    server.script = [answer(200, JOB)]

    inside(server, time).get_job("a/../b", "c?watch=1#d e\r\nX: y")

    path = "/apis/batch/v1/namespaces/a%2F..%2Fb/jobs/c%3Fwatch%3D1%23d%20e%0D%0AX%3A%20y"
    assert server.asked[0].line == f"GET {path} HTTP/1.1"


@pytest.mark.parametrize("name", ["", ".", ".."])
def test_a_name_that_leads_to_another_path_is_not_asked_for(
    server: ApiServer, time: Time, name: str
) -> None:
    with pytest.raises(Trouble) as met:
        inside(server, time).get_pod("billing", name)

    assert met.value.kind is Kind.NOT_FOUND
    assert server.asked == []


def test_the_token_is_read_again_at_each_call(server: ApiServer, time: Time) -> None:
    server.script = [answer(200, JOB)]
    api = inside(server, time)
    api.get_job("billing", "x")
    server.renew_token("token-of-the-second-hour\n")
    api.get_job("billing", "x")

    sent = [asked.headers["authorization"] for asked in server.asked]
    assert sent == [f"Bearer {TOKEN}", "Bearer token-of-the-second-hour"]


def test_an_answer_in_chunks_is_put_together(server: ApiServer, time: Time) -> None:
    from tests.inside.apiserver import send

    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    server.script = [send(head + b'6\r\n{"a": \r\n3\r\n12}\r\n0\r\n\r\n')]

    assert inside(server, time).get_job("billing", "x") == {"a": 12}


@pytest.mark.parametrize("host", ["::1", "[::1]"])
def test_the_api_server_may_have_an_ipv6_address(serve: Serve, time: Time, host: str) -> None:
    try:
        server = serve("::1")
    except OSError:
        pytest.skip("no IPv6 on this machine")
    server.script = [answer(200, JOB)]
    found = Inside.find(server.env | {"KUBERNETES_SERVICE_HOST": host}, effects=time.effects)

    assert found
    assert found.get_job("billing", "x") == JOB
    assert server.asked[0].headers["host"] == f"[::1]:{server.port}"


def test_the_api_server_may_have_a_name(serve: Serve, time: Time) -> None:
    server = serve("127.0.0.1", "DNS:localhost")
    server.script = [answer(200, JOB)]
    found = Inside.find(server.env | {"KUBERNETES_SERVICE_HOST": "localhost"}, effects=time.effects)

    assert found
    assert found.get_job("billing", "x") == JOB


def test_proxies_of_the_environment_are_passed_by(
    server: ApiServer, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    monkeypatch.setenv("NO_PROXY", "")
    server.script = [answer(200, JOB)]

    assert inside(server, time).get_job("billing", "x") == JOB


def test_outside_of_a_cluster_there_is_nobody_to_ask() -> None:
    assert Inside.find({}) is None
    assert Inside.find({"KUBERNETES_SERVICE_HOST": " "}) is None


def test_the_files_are_where_the_kubelet_mounts_them() -> None:
    folder = "/var/run/secrets/kubernetes.io/serviceaccount"
    found = Inside.find({"KUBERNETES_SERVICE_HOST": "10.96.0.1"}, token_file="/elsewhere/token")

    assert found
    assert found.port == "443"
    assert (found.ca_file, found.namespace_file) == (f"{folder}/ca.crt", f"{folder}/namespace")
    assert found.token_file == "/elsewhere/token"


def test_the_tls_port_is_the_one_to_ask() -> None:
    ports = {"KUBERNETES_SERVICE_PORT": "80", "KUBERNETES_SERVICE_PORT_HTTPS": "6443"}
    found = Inside.find({"KUBERNETES_SERVICE_HOST": "10.96.0.1"} | ports)

    assert found
    assert found.port == "6443"


def test_the_namespace_is_the_pods_own(server: ApiServer, time: Time) -> None:
    api = inside(server, time)
    assert api.namespace == "billing"

    (server.folder / "namespace").unlink()
    assert api.namespace is None


@pytest.mark.parametrize("text", ["", " \n", "two words", "two\nlines", "naïve"])
def test_what_is_no_token_is_not_sent(server: ApiServer, time: Time, text: str) -> None:
    server.renew_token(text)

    with pytest.raises(Trouble, match="is no token") as met:
        inside(server, time).get_job("billing", "x")

    assert met.value.kind is Kind.UNAUTHORIZED
    assert server.asked == []


def test_without_a_token_the_message_says_what_to_mount(
    server: ApiServer, time: Time, tmp_path: Path
) -> None:
    found = Inside.find(
        server.env | {"K8SJOB_KUBE_FOLDER": str(tmp_path / "nowhere")}, effects=time.effects
    )

    assert found
    with pytest.raises(Trouble, match="No such file or directory") as met:
        found.get_job("billing", "x")
    assert met.value.kind is Kind.UNAUTHORIZED
    assert met.value.exit_code == 77
    assert "automountServiceAccountToken: true" in met.value.text


@pytest.mark.parametrize("port", ["tcp://10.0.0.1:443", "0", "65536", "²", "-1"])
def test_what_is_no_port_is_not_asked(server: ApiServer, time: Time, port: str) -> None:
    found = Inside.find(server.env | {"KUBERNETES_SERVICE_PORT": port}, effects=time.effects)

    assert found
    with pytest.raises(Trouble, match="is no port") as met:
        found.get_job("billing", "x")
    assert met.value.kind is Kind.UNREACHABLE
