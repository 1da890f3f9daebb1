"""A database whose certificate no public authority has signed."""

from __future__ import annotations

from typing import Any

import pytest

from tests.chart.jobs import RUN, SIDECAR, containers, mounts, pod, refusal, rendered, variables
from tests.fix_chart import validate

pytestmark = pytest.mark.usefixtures("helm")

LEDGER: dict[str, Any] = {"caSecret": "{{ .Release.Name }}-ca"}
FILE = "/var/run/secrets/k8sjob/ca.crt"
CHECKED = {"PGSSLROOTCERT": FILE, "PGSSLMODE": "verify-full"}
SOURCES = [
    {"secret": {"name": "k8sjob-ledger", "items": [{"key": "runner", "path": "dsn"}]}},
    {"secret": {"name": "billing-ca", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
]


def _pods(job: dict[str, Any], ledger: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the specs of the job's Pods and of the test's."""
    found = rendered(job, ledger=ledger)
    assert validate(found.objects) == []
    return [
        found.one("CronJob")["spec"]["jobTemplate"]["spec"]["template"]["spec"],
        found.one("Pod")["spec"],
    ]


@pytest.mark.parametrize("job", [RUN, SIDECAR], ids=["run", "sidecar"])
def test_whoever_has_the_dsn_has_the_certificate_and_checks_the_server(job: dict[str, Any]) -> None:
    for spec in _pods(job, LEDGER):
        (volume,) = [one for one in spec["volumes"] if one["name"] == "ledger"]
        assert volume["projected"]["sources"] == SOURCES
        with_dsn = [one for one in containers(spec).values() if "ledger" in mounts(one)]
        assert len(with_dsn) == (2 if "main" in containers(spec) and job is SIDECAR else 1)
        for one in with_dsn:
            assert mounts(one)["ledger"] == "/var/run/secrets/k8sjob"
            assert CHECKED.items() <= variables(one).items()


def test_a_program_that_knows_nothing_of_k8sjob_is_left_alone() -> None:
    main = containers(pod(SIDECAR, ledger=LEDGER))["main"]
    assert not CHECKED.keys() & variables(main).keys()


@pytest.mark.parametrize("job", [RUN, SIDECAR], ids=["run", "sidecar"])
def test_without_one_the_dsn_says_all(job: dict[str, Any]) -> None:
    for spec in _pods(job, {}):
        assert [set(one) for one in spec["volumes"] if one["name"] == "ledger"] == [
            {"name", "secret"}
        ]
        for one in containers(spec).values():
            assert not CHECKED.keys() & variables(one).keys()


def test_a_job_may_have_another_authority() -> None:
    own = {"ledger": {"existingSecret": "books", "caSecret": "books-tls", "caKey": "root.pem"}}
    found = rendered(RUN, RUN | own, ledger=LEDGER)
    names = {
        source["secret"]["name"]: source["secret"]["items"][0]["key"]
        for one in found.all("Pod")
        for source in one["spec"]["volumes"][0]["projected"]["sources"]
    }
    assert names == {
        "k8sjob-ledger": "runner", "billing-ca": "ca.crt",
        "books": "runner", "books-tls": "root.pem",
    }  # fmt: skip


def test_two_authorities_of_one_dsn_are_both_tried() -> None:
    own = {"ledger": {"caSecret": "other"}}
    assert len(rendered(RUN, RUN | own, ledger=LEDGER).all("Pod")) == 2


@pytest.mark.parametrize("name", CHECKED)
def test_the_same_by_a_variable_of_ones_own_is_refused(name: str) -> None:
    job = RUN | {"env": {name: "x"}}
    message = refusal(job, ledger=LEDGER)
    assert f"jobs.credit: env has {name}, which the chart sets where ledger.caSecret is set" in (
        message
    )
    assert "sslmode of your own into the DSN" in message
    assert variables(containers(pod(job))["main"])[name] == "x"
