from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from k8sjob.doctor.line import Status
from k8sjob.doctor.purpose import NEEDS, Purpose
from tests.fix_chart import render
from tests.inside.apiserver import answer, status

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable

    from tests.doctor.conftest import Doctor
    from tests.inside.apiserver import ApiServer

OK, WARN, FAIL = Status


def asked(server: ApiServer) -> list[dict[str, str]]:
    """Return what was reviewed, in its order."""
    return [json.loads(one.body)["spec"]["resourceAttributes"] for one in server.asked]


def allowing(server: ApiServer, *rights: str) -> Callable[[ssl.SSLSocket], None]:
    """Act: allow these, ``verb resource``, and nothing else."""

    def act(tls: ssl.SSLSocket) -> None:
        one = asked(server)[-1]
        allowed = f"{one['verb']} {one['resource']}" in rights
        answer(201, {"status": {"allowed": allowed, "reason": ""}})(tls)

    return act


def test_a_run_needs_to_get_jobs_in_the_pods_namespace(
    doctor: Doctor, api_server: ApiServer
) -> None:
    api_server.script = [allowing(api_server, "get jobs")]

    line = doctor.ask(**api_server.env).one("rbac")

    assert (line.status, line.seen) == (OK, "may get jobs.batch in billing")
    assert asked(api_server) == [
        {"verb": "get", "group": "batch", "resource": "jobs", "namespace": "billing"}
    ]


def test_the_namespace_of_the_environment_comes_first(
    doctor: Doctor, api_server: ApiServer
) -> None:
    api_server.script = [allowing(api_server, "get jobs")]

    told = doctor.ask(**api_server.env, K8SJOB_NAMESPACE="ops")

    assert told.one("rbac").seen == "may get jobs.batch in ops"


def test_a_missing_right_fails_with_the_rule_to_add(doctor: Doctor, api_server: ApiServer) -> None:
    api_server.script = [allowing(api_server)]

    told = doctor.ask(**api_server.env)

    line = told.one("rbac")
    assert (told.code, line.status) == (1, FAIL)
    assert line.seen == "may not get jobs.batch in billing"
    rule = '{apiGroups: ["batch"], resources: ["jobs"], verbs: ["get"]}'
    assert line.do == f"add to its Role in billing: {rule}"


def test_the_authorizers_reason_is_told(doctor: Doctor, api_server: ApiServer) -> None:
    status_ = {"allowed": False, "reason": 'role "jobs" not found'}
    api_server.script = [answer(201, {"status": status_})]

    line = doctor.ask(**api_server.env).one("rbac")

    assert line.seen == 'may not get jobs.batch in billing (role "jobs" not found)'


def test_a_reconciler_is_asked_for_everywhere(doctor: Doctor, api_server: ApiServer) -> None:
    api_server.script = [allowing(api_server, *("list " + r for r in ("cronjobs", "jobs")))]

    told = doctor.ask("--for", "reconcile", **api_server.env)

    found = {line.seen: line.status for line in told.of("rbac")}
    assert found == {
        "may list cronjobs.batch in all namespaces, list jobs.batch in all namespaces": OK,
        "may not list pods in all namespaces": FAIL,
        "may not list events in all namespaces": FAIL,
        "may not create jobs.batch in all namespaces": WARN,
        "may not get jobs.batch in all namespaces": WARN,
    }
    assert all("namespace" not in one for one in asked(api_server))
    rule = '{apiGroups: [""], resources: ["pods"], verbs: ["list"]}'
    assert f"add to its ClusterRole: {rule}" in {line.do for line in told.of("rbac")}


def test_namespaces_that_are_named_are_each_asked_for(
    doctor: Doctor, api_server: ApiServer
) -> None:
    api_server.script = [answer(201, {"status": {"allowed": True}})]

    doctor.ask("--for", "backfill", "-n", "billing", "-n", "ops", **api_server.env)

    found = [(one["namespace"], one["verb"], one["resource"]) for one in asked(api_server)]
    wanted = [("get", "cronjobs"), ("create", "jobs"), ("get", "jobs"), ("list", "jobs")]
    assert found == [(space, *right) for space in ("billing", "ops") for right in wanted]


def test_all_namespaces_may_be_asked_for(doctor: Doctor, api_server: ApiServer) -> None:
    api_server.script = [answer(201, {"status": {"allowed": True}})]

    told = doctor.ask("-A", **api_server.env)

    assert told.one("rbac").seen == "may get jobs.batch in all namespaces"


def test_all_and_some_namespaces_are_a_usage_error(doctor: Doctor) -> None:
    assert doctor.call("-A", "-n", "billing").code == 64


@pytest.mark.parametrize("purpose", ["serve", "migrate"])
def test_who_needs_no_right_asks_nothing(
    doctor: Doctor, api_server: ApiServer, purpose: str
) -> None:
    told = doctor.ask("--for", purpose, **api_server.env)

    assert told.one("rbac").status is OK
    assert api_server.asked == []


@pytest.mark.parametrize("purpose", ["run", "reconcile", "backfill"])
def test_outside_a_cluster_is_a_warning(doctor: Doctor, purpose: str) -> None:
    line = doctor.ask("--for", purpose).one("rbac")

    assert line.status is WARN
    assert line.seen.startswith("not in a cluster")


def test_a_pod_without_a_token_fails_with_what_to_do(doctor: Doctor, api_server: ApiServer) -> None:
    (api_server.folder / "token").unlink()

    line = doctor.ask(**api_server.env).one("rbac")

    assert line.status is FAIL
    assert "automountServiceAccountToken" in line.do


def test_what_the_api_server_refuses_is_asked_once(doctor: Doctor, api_server: ApiServer) -> None:
    api_server.script = [status(403, "no")]

    told = doctor.ask("--for", "reconcile", **api_server.env)

    assert told.one("rbac").status is FAIL
    assert len(api_server.asked) == 1


def test_an_api_server_that_says_nothing_does_not_keep_anybody(
    doctor: Doctor, api_server: ApiServer
) -> None:
    yes: Any = answer(201, {"status": {"allowed": True}})
    api_server.script = [yes, api_server.wait_for_the_end]

    told = doctor.ask("--for", "reconcile", "--timeout", "1s", **api_server.env)

    assert [line.status for line in told.of("rbac")] == [OK, FAIL]
    assert told.of("rbac")[1].seen == "the Kubernetes API did not answer in time"


def test_the_rules_of_the_documents_are_those_that_are_asked_for() -> None:
    backfill = {(a.verb, a.resource) for a in NEEDS[Purpose.BACKFILL].access}

    assert backfill == {
        ("get", "cronjobs.batch"),
        ("create", "jobs.batch"),
        ("get", "jobs.batch"),
        ("list", "jobs.batch"),
    }


@pytest.mark.usefixtures("helm")
@pytest.mark.parametrize(
    ("purpose", "name"),
    [(Purpose.RECONCILE, "k8sjob:k8sjob:reconciler"), (Purpose.BACKFILL, "k8sjob:k8sjob:control")],
)
def test_the_chart_gives_what_is_asked_for_and_no_more(purpose: Purpose, name: str) -> None:
    given = {
        "ledgers": {"shop": {"existingSecret": "shop"}},
        "reconciler": {"catchUp": {"enabled": True}},
        "backfill": {"enabled": True},
        "control": {"readCluster": False},
    }
    role = render("k8sjob", given).one("ClusterRole", name)

    found = {
        (verb, ".".join(filter(None, (kind, rule["apiGroups"][0]))))
        for rule in role["rules"]
        for kind in rule["resources"]
        for verb in rule["verbs"]
    }
    assert found == {(access.verb, access.resource) for access in NEEDS[purpose].access}
