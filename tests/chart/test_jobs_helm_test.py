"""The Pods of `helm test`: each has to get to the ledger just where a job's Pod would."""

from __future__ import annotations

from typing import Any

import pytest

from tests.chart.jobs import RUN, SIDECAR, containers, mounts, pod, rendered, variables
from tests.fix_chart import Object, validate

pytestmark = pytest.mark.usefixtures("helm")

TOKEN = "/var/run/secrets/kubernetes.io/serviceaccount"
DSN = "/var/run/secrets/k8sjob"
every_mode = pytest.mark.parametrize("job", [RUN, SIDECAR], ids=["run", "sidecar"])

#: Where a Pod runs and how it finds names.
PLACE: dict[str, Any] = {
    "nodeSelector": {"pool": "batch"},
    "tolerations": [{"key": "batch", "operator": "Exists"}],
    "affinity": {"nodeAffinity": {}},
    "topologySpreadConstraints": [
        {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}
    ],
    "priorityClassName": "batch",
    "runtimeClassName": "gvisor",
    "schedulerName": "bin-packer",
    "hostAliases": [{"ip": "192.0.2.1", "hostnames": ["db.example"]}],
    "dnsPolicy": "None",
    "dnsConfig": {"nameservers": ["192.0.2.53"]},
}
PROXY = {"name": "proxy", "image": "proxy:1"}


def _test(job: dict[str, Any], **top: Any) -> Object:
    return rendered(job, **top).one("Pod")


def _doctor(job: dict[str, Any]) -> Object:
    return containers(_test(job)["spec"])["doctor"]


def test_helm_test_asks_doctor_once_for_each_ledger_and_account() -> None:
    books = {"ledger": {"existingSecret": "books"}}
    pods = rendered(RUN, RUN, RUN | books, RUN | {"serviceAccountName": "other"}).all("Pod")

    assert len(pods) == 3
    for one in pods:
        assert one["metadata"]["annotations"]["helm.sh/hook"] == "test"
        (doctor,) = one["spec"]["containers"]
        assert doctor["command"] == ["k8sjob", "doctor", "--for", "run"]
        assert mounts(doctor) == {"ledger": DSN, "token": TOKEN}
        assert {"K8SJOB_CRONJOB", "K8SJOB_JOB_NAME", "K8SJOB_DSN_FILE"} <= variables(doctor).keys()
    assert rendered(RUN, tests={"enabled": False}).all("Pod") == []


@every_mode
def test_it_runs_where_the_job_does(job: dict[str, Any]) -> None:
    found = rendered(job | PLACE)
    assert validate(found.objects) == []
    spec = found.one("Pod")["spec"]
    assert {name: spec.get(name) for name in PLACE} == PLACE
    assert {name: one for name, one in pod(job | PLACE).items() if name in PLACE} == PLACE


@every_mode
def test_it_is_let_through_where_the_job_is(job: dict[str, Any]) -> None:
    """By a network policy, say, that goes by labels, or in a mesh that goes by annotations."""
    own = {
        "podLabels": {"egress": "db", "app.kubernetes.io/component": "mine"},
        "podAnnotations": {"mesh.example/inject": "true", "helm.sh/hook": "mine"},
    }
    meta = _test(job | own, commonLabels={"egress": "none", "team": "payments"})["metadata"]
    assert meta["labels"]["egress"] == "db"
    assert meta["labels"]["team"] == "payments"
    assert meta["labels"]["app.kubernetes.io/component"] == "test"
    assert meta["annotations"]["mesh.example/inject"] == "true"
    assert meta["annotations"]["helm.sh/hook"] == "test"


@every_mode
def test_a_proxy_is_there_before_it(job: dict[str, Any]) -> None:
    """Not the init containers, which may be part of the work."""
    volumes = [{"name": name, "secret": {"secretName": name}} for name in ("cloud", "other")]
    proxy = PROXY | {"volumeMounts": [{"name": "cloud", "mountPath": "/cloud"}]}
    wait = {"name": "wait", "image": "wait:1"}
    found = rendered(job | {"sidecars": [proxy], "initContainers": [wait], "volumes": volumes})

    spec = found.one("Pod")["spec"]
    assert validate(found.objects) == []
    assert spec["initContainers"] == [proxy | {"restartPolicy": "Always"}]
    assert [one["name"] for one in spec["volumes"]] == ["ledger", "token", "cloud"]


def test_a_proxy_may_mount_what_the_chart_makes() -> None:
    shared = [{"name": name, "mountPath": f"/{name}"} for name in ("tmp", "k8sjob")]
    spec = _test(SIDECAR | {"sidecars": [PROXY | {"volumeMounts": shared}]})["spec"]
    assert [one["name"] for one in spec["volumes"][2:]] == ["tmp", "k8sjob"]


def test_in_run_mode_it_has_the_variables_and_files_by_which_the_ledger_is_reached() -> None:
    own: dict[str, Any] = {
        "env": {"PGSSLROOTCERT": "/ca/ca.crt", "PATH": "/opt/bin", "PYTHONPATH": "/opt/lib"},
        "envFrom": [{"configMapRef": {"name": "billing"}}],
        "volumes": [
            {"name": "ca", "configMap": {"name": "ca"}},
            {"name": "data", "persistentVolumeClaim": {"claimName": "feeds"}},
        ],
        "volumeMounts": [
            {"name": "ca", "mountPath": "/ca"},
            {"name": "data", "mountPath": "/data"},
        ],
    }
    doctor = _doctor(RUN | own)
    assert variables(doctor)["PGSSLROOTCERT"] == "/ca/ca.crt"
    # The image is another one than the job's, and a disk may be held by a run.
    assert not {"PATH", "PYTHONPATH"} & variables(doctor).keys()
    assert mounts(doctor) == {"ledger": DSN, "token": TOKEN, "ca": "/ca"}
    assert doctor["envFrom"] == own["envFrom"]
    volumes = [one["name"] for one in _test(RUN | own)["spec"]["volumes"]]
    assert volumes == ["ledger", "token", "ca"]

    # No container of k8sjob gets any of it in the other mode.
    doctor = _doctor(SIDECAR | own)
    assert "PGSSLROOTCERT" not in variables(doctor)
    assert mounts(doctor) == {"ledger": DSN, "token": TOKEN}
    assert "envFrom" not in doctor


@pytest.mark.parametrize(
    ("own", "tests"),
    [
        ({"nodeSelector": {"pool": "batch"}}, 2),
        ({"podLabels": {"egress": "db"}}, 2),
        ({"sidecars": [PROXY]}, 2),
        ({"env": {"PGSSLMODE": "verify-full"}}, 2),
        ({"env": {"HTTPS_PROXY": "http://proxy:3128"}}, 2),
        ({"envFrom": [{"secretRef": {"name": "db"}}]}, 2),
        ({"env": {"RATE": "10"}, "resources": {"limits": {"memory": "1Gi"}}}, 1),
    ],
    ids=str,
)
def test_jobs_that_get_there_alike_have_one_test(own: dict[str, Any], tests: int) -> None:
    assert len(rendered(RUN, RUN | own).all("Pod")) == tests
