"""With the NetworkPolicies a Pod reaches what it must and is reached by whom the values name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.chart.control import render

if TYPE_CHECKING:
    from tests.fix_chart import Object, Rendered

pytestmark = pytest.mark.usefixtures("helm")
MONITORING = {"namespaceSelector": {"matchLabels": {"name": "monitoring"}}}
DNS = {("UDP", 53), ("TCP", 53)}
DATABASE = {("TCP", 5432)}
API = {("TCP", 443), ("TCP", 6443)}


def policies(**values: Any) -> Rendered:
    network = {"enabled": True, **values.pop("networkPolicy", {})}
    return render({"networkPolicy": network, **values})


def pods(rendered: Rendered) -> dict[str, dict[str, str]]:
    """Return the labels of all Pods, by their component, and of a test by its name."""
    found = {}
    for one in rendered.objects:
        if one["kind"] == "Pod":
            found[one["metadata"]["name"]] = one["metadata"]["labels"]
        elif one["kind"] in {"Deployment", "Job"}:
            found[one["metadata"]["name"]] = one["spec"]["template"]["metadata"]["labels"]
        elif one["kind"] == "CronJob":
            template = one["spec"]["jobTemplate"]["spec"]["template"]
            found[one["metadata"]["name"]] = template["metadata"]["labels"]
    return found


def about(rendered: Rendered, labels: dict[str, str], direction: str) -> list[Object]:
    """Return the policies of a direction that choose a Pod."""
    return [
        one["spec"]
        for one in rendered.all("NetworkPolicy")
        if direction in one["spec"]["policyTypes"] and _chooses(one["spec"]["podSelector"], labels)
    ]


def _chooses(selector: Object, labels: dict[str, str]) -> bool:
    return selector["matchLabels"].items() <= labels.items() and all(
        labels.get(one["key"]) in one["values"] for one in selector.get("matchExpressions", ())
    )


def reaches(rendered: Rendered, pod: str) -> set[tuple[str, int]]:
    """Return the ports that a Pod may reach."""
    return {
        (port["protocol"], port["port"])
        for spec in about(rendered, pods(rendered)[pod], "Egress")
        for rule in spec["egress"]
        for port in rule["ports"]
    }


def test_each_pod_reaches_what_it_must_and_nothing_else() -> None:
    rendered = policies()
    for pod in pods(rendered):
        calls = pod in {"k8sjob-reconciler", "k8sjob-test-reconcile", "k8sjob-test-serve"}
        assert reaches(rendered, pod) == DNS | DATABASE | (API if calls else set()), pod


def test_the_control_pod_reaches_the_api_where_it_has_rights() -> None:
    assert reaches(policies(control={"readCluster": True}), "k8sjob-control") >= API


def test_nobody_gets_in_but_whom_the_values_name() -> None:
    rendered = policies(networkPolicy={"exporter": {"from": [MONITORING]}})
    for pod, labels in pods(rendered).items():
        let_in = [rule for spec in about(rendered, labels, "Ingress") for rule in spec["ingress"]]
        if pod == "k8sjob-exporter":
            assert let_in == [{"ports": [{"port": 8080, "protocol": "TCP"}], "from": [MONITORING]}]
        else:
            assert let_in == []
        assert about(rendered, labels, "Ingress"), "not chosen by any: open to all"


def test_pods_of_others_are_left_alone() -> None:
    rendered = policies()
    for labels in ({"app": "shop"}, {"app.kubernetes.io/name": "k8sjob-jobs"}):
        assert about(rendered, labels, "Egress") == []
    other = pods(render(name="other"))["other-k8sjob-exporter"]
    assert about(rendered, other, "Egress") == []


def test_peers_and_ports_can_be_told() -> None:
    peers = [{"ipBlock": {"cidr": "10.0.0.0/8"}}]
    rendered = policies(
        networkPolicy={
            "dns": {"to": [MONITORING]},
            "database": {"ports": [6432], "to": peers},
            "api": {"ports": [8443], "to": peers},
        }
    )
    wide = rendered.one("NetworkPolicy", "k8sjob")["spec"]["egress"]
    assert [rule["to"] for rule in wide] == [[MONITORING], peers]
    (api,) = rendered.one("NetworkPolicy", "k8sjob-api")["spec"]["egress"]
    assert api["to"] == peers
    assert reaches(rendered, "k8sjob-reconciler") == DNS | {("TCP", 6432), ("TCP", 8443)}


def test_the_hook_reaches_a_database_that_has_moved() -> None:
    """The old release's policies are still there when it runs, and so is this one."""
    rendered = policies(networkPolicy={"database": {"ports": [6432], "to": [MONITORING]}})
    policy, job = rendered.one("NetworkPolicy", "k8sjob-migrate"), rendered.one("Job")
    notes, after = policy["metadata"]["annotations"], job["metadata"]["annotations"]
    assert notes["helm.sh/hook"] == "pre-upgrade"
    assert int(notes["helm.sh/hook-weight"]) < int(after["helm.sh/hook-weight"])
    assert notes["helm.sh/hook-delete-policy"] == after["helm.sh/hook-delete-policy"]
    wide = rendered.one("NetworkPolicy", "k8sjob")["spec"]
    assert policy["spec"]["egress"] == wide["egress"]
    assert "Ingress" not in policy["spec"]["policyTypes"]
    chosen = [
        pod for pod, its in pods(rendered).items() if _chooses(policy["spec"]["podSelector"], its)
    ]
    assert chosen == ["k8sjob-migrate"]


def test_without_a_hook_nothing_is_let_out_for_it() -> None:
    for values in ({"networkPolicy": {"enabled": False}}, {"migrate": {"enabled": False}}):
        policy = {"networkPolicy": {"enabled": True}, **values}
        names = [one["metadata"]["name"] for one in render(policy).all("NetworkPolicy")]
        assert "k8sjob-migrate" not in names
