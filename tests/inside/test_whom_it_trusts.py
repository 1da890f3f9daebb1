from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from k8sjob.kube.inside import Inside, Kind, Trouble
from tests.inside.apiserver import answer, inside
from tests.inside.certificates import Authority

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fix_inside import Serve
    from tests.inside.apiserver import ApiServer, Time


def refused(server: ApiServer, time: Time) -> Trouble:
    server.script = [answer(200, {"kind": "Job"})]
    with pytest.raises(Trouble) as met:
        inside(server, time).get_job("billing", "x")
    assert server.asked == []  # nobody was shown the token
    assert time.slept == []  # another try would find the same certificate
    assert met.value.kind is Kind.UNREACHABLE
    assert met.value.exit_code == 75
    return met.value


def test_a_certificate_of_another_host_is_refused(serve: Serve, time: Time) -> None:
    trouble = refused(serve("127.0.0.1", "IP:127.0.0.2", "DNS:localhost"), time)

    assert "IP address mismatch" in trouble.text
    assert "name 127.0.0.1" in trouble.text


def test_a_certificate_of_another_ca_is_refused(
    server: ApiServer, time: Time, tmp_path: Path
) -> None:
    other = Authority.made(tmp_path / "another")
    shutil.copy(other.certificate, server.folder / "ca.crt")

    assert "unable to get local issuer certificate" in refused(server, time).text


def test_a_ca_that_the_system_trusts_is_not_trusted(
    server: ApiServer, time: Time, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """OpenSSL's own variable would add the server's CA, if the defaults were asked."""
    monkeypatch.setenv("SSL_CERT_FILE", str(shutil.copy(server.folder / "ca.crt", tmp_path)))
    shutil.copy(Authority.made(tmp_path / "another").certificate, server.folder / "ca.crt")

    refused(server, time)


@pytest.mark.parametrize("text", ["", "no certificate\n", None])
def test_without_a_ca_nobody_is_asked(server: ApiServer, time: Time, text: str | None) -> None:
    (server.folder / "ca.crt").unlink()
    if text is not None:
        (server.folder / "ca.crt").write_text(text)

    assert "ca.crt cannot be read" in refused(server, time).text


def test_the_certificates_of_these_tests_pass_the_strict_check(
    cluster_ca: Authority, tmp_path: Path
) -> None:
    """So that they also stand for a cluster where Python 3.13 is the one who looks."""
    pem = cluster_ca.server("IP:127.0.0.1")
    words = ["openssl", "verify", "-x509_strict", "-purpose", "sslserver"]
    ended = subprocess.run(
        [*words, "-CAfile", str(cluster_ca.certificate), str(pem)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr


def test_a_redirect_is_not_followed(serve: Serve, time: Time) -> None:
    server, elsewhere = serve(), serve()
    elsewhere.script = [answer(200, {"kind": "Job"})]
    where = f"https://127.0.0.1:{elsewhere.port}/"
    server.script = [answer(302, b"", Location=where)]

    with pytest.raises(Trouble, match="answered 302") as met:
        inside(server, time).get_job("billing", "x")

    assert met.value.kind is Kind.GARBAGE
    assert elsewhere.asked == []


def test_a_host_that_is_none_is_said_to_be_unreachable(server: ApiServer, time: Time) -> None:
    for host in ("a" * 64, "x\0y", ".dot"):
        found = Inside.find(server.env | {"KUBERNETES_SERVICE_HOST": host}, effects=time.effects)
        assert found
        with pytest.raises(Trouble, match="cannot be reached") as met:
            found.get_job("billing", "x")
        assert met.value.kind is Kind.UNREACHABLE
