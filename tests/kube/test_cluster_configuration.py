from __future__ import annotations

import json
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from k8sjob.errors import ConfigError
from k8sjob.kube.client import Cluster
from k8sjob.kube.failure import without_password

if TYPE_CHECKING:
    from tests.kube.apiserver import ApiServer


@pytest.fixture(autouse=True)
def _outside_of_any_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("KUBECONFIG", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"):
        monkeypatch.delenv(name, raising=False)


def test_a_kubeconfig_is_found_by_its_variable(
    api: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", api.kubeconfig(tmp_path))
    with closing(Cluster.connect()) as cluster:
        assert cluster.host == f"http://127.0.0.1:{api.port}"
        assert cluster.list_jobs("billing") == []


def test_a_named_kubeconfig_wins_over_the_pods_own_account(
    api: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "1")
    with closing(Cluster.connect(kubeconfig=api.kubeconfig(tmp_path))) as cluster:
        assert cluster.host == f"http://127.0.0.1:{api.port}"


def test_a_pod_without_a_token_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "1")
    with pytest.raises(ConfigError, match=r"token file does not exist\. Nothing") as error:
        Cluster.connect()
    assert "backfill.enabled: true" in str(error.value)
    assert "kubectl config" not in str(error.value)


def test_the_pods_own_account_is_used_in_a_pod(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kubernetes.config import incluster_config

    (tmp_path / "token").write_text("from-the-pod")
    (tmp_path / "ca.crt").write_text("not read before the first request")
    monkeypatch.setattr(incluster_config, "SERVICE_TOKEN_FILENAME", str(tmp_path / "token"))
    monkeypatch.setattr(incluster_config, "SERVICE_CERT_FILENAME", str(tmp_path / "ca.crt"))
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    with closing(Cluster.connect()) as cluster:
        assert cluster.host == "https://10.0.0.1:443"


def test_a_context_that_is_not_there_is_named(api: ApiServer, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as error:
        Cluster.connect(kubeconfig=api.kubeconfig(tmp_path), context="production")
    assert "production" in str(error.value)
    assert "kubectl config get-contexts" in str(error.value)


@pytest.mark.parametrize("text", ["", "not: [yaml", "{}", "[]", "7"])
def test_a_kubeconfig_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"the Kubernetes cluster is not configured \(kubeconfig"):
        Cluster.connect(kubeconfig=str(path))


def test_a_kubeconfig_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not configured"):
        Cluster.connect(kubeconfig=str(tmp_path / "none"))


def test_without_the_client_the_line_that_installs_it_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "kubernetes.config", None)
    with pytest.raises(ConfigError, match=r"pip install 'k8sjob\[kube\]'"):
        Cluster.connect()


def test_a_password_in_the_servers_address_is_never_said(api: ApiServer, tmp_path: Path) -> None:
    path = Path(api.kubeconfig(tmp_path))
    config = json.loads(path.read_text())
    config["clusters"][0]["cluster"]["server"] = "http://me:hunter2@127.0.0.1:1"
    path.write_text(json.dumps(config))
    with closing(Cluster.connect(kubeconfig=str(path), pause=lambda _: None)) as cluster:
        assert cluster.host == "http://127.0.0.1:1"
        with pytest.raises(Exception, match="not reached") as error:
            cluster.list_jobs("billing")
    assert "hunter2" not in str(error.value)


def test_addresses_lose_only_their_password() -> None:
    assert without_password("https://a:b@host:6443/path") == "https://host:6443/path"
    assert without_password("https://[::1]:6443") == "https://[::1]:6443"
