"""Sidecars are beside a part from before its start to after its end, and no Job waits for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests import fix_chart
from tests.chart.control import pod, pod_specs, render

if TYPE_CHECKING:
    from tests.fix_chart import Object

pytestmark = pytest.mark.usefixtures("helm")
PROXY: Object = {"name": "proxy", "image": "proxy.example/sql:2"}
ON: Object = {"prune": {"enabled": True}, "backfill": {"enabled": True}}
PARTS = {
    "migrate": {"k8sjob-migrate"},
    "reconciler": {"k8sjob-reconciler", "k8sjob-test-reconcile"},
    "prune": {"k8sjob-prune"},
    "exporter": {"k8sjob-exporter", "k8sjob-test-serve"},
    "control": {"k8sjob-control", "k8sjob-test-backfill"},
}


def having(values: dict[str, Any]) -> dict[str, list[Object]]:
    """Return the sidecars of each object's Pods that have some."""
    found = pod_specs(render({**ON, **values}).objects)
    return {name: spec["initContainers"] for name, spec in found if "initContainers" in spec}


def test_there_are_none_of_the_charts_own() -> None:
    assert having({}) == {}


def test_those_of_all_are_in_each_pod_those_of_helm_test_too() -> None:
    """A Job ends with its own containers: the kubelet then ends what restarts always."""
    found = having({"sidecars": [PROXY]})
    assert set(found) == set.union(*PARTS.values())
    for sidecars in found.values():
        (one,) = sidecars
        assert (one["name"], one["image"]) == ("proxy", "proxy.example/sql:2")
        assert one["restartPolicy"] == "Always"
    specs = dict(pod_specs(render({**ON, "sidecars": [PROXY]}).objects))
    assert all("proxy" not in str(spec["containers"]) for spec in specs.values())


@pytest.mark.parametrize("part", PARTS)
def test_those_of_a_part_are_in_its_pods_alone(part: str) -> None:
    own = {**ON.get(part, {}), "sidecars": [PROXY]}
    assert set(having({part: own})) == PARTS[part]


def test_one_of_a_part_takes_the_place_of_that_of_all() -> None:
    other = {"name": "proxy", "image": "proxy.example/sql:3"}
    log = {"name": "log", "image": "log.example/log:1"}
    found = having({"sidecars": [PROXY, log], "exporter": {"sidecars": [other]}})
    images = [one["image"] for one in found["k8sjob-exporter"]]
    assert images == ["proxy.example/sql:3", "log.example/log:1"]
    assert found["k8sjob-control"][0]["image"] == "proxy.example/sql:2"


def test_no_other_policy_is_taken_from_the_values() -> None:
    """Without it one would be waited for before anything else began, for ever."""
    found = having({"sidecars": [{**PROXY, "restartPolicy": "Never"}]})
    assert found["k8sjob-control"][0]["restartPolicy"] == "Always"


def test_one_may_do_as_little_as_the_parts_unless_it_says_so() -> None:
    values = {"sidecars": [PROXY, {**PROXY, "name": "own", "securityContext": {"runAsUser": 7}}]}
    spec = pod(render(values), "k8sjob-exporter")
    usual, own = spec["initContainers"]
    assert usual["securityContext"] == spec["containers"][0]["securityContext"]
    assert own["securityContext"] == {"runAsUser": 7}


def test_one_that_asks_who_people_are_stands_before_the_exporter() -> None:
    """With the policies nobody gets past it; Prometheus comes through it too."""
    service = {"type": "LoadBalancer", "targetPort": 4180}
    exporter = {"service": service, "sidecars": [{"name": "login", "image": "proxy.example/o:7"}]}
    network = {"enabled": True, "exporter": {"from": [{"podSelector": {}}]}}
    rendered = render({"exporter": exporter, "networkPolicy": network})
    (port,) = rendered.one("Service")["spec"]["ports"]
    assert (port["port"], port["targetPort"]) == (8080, 4180)
    (rule,) = rendered.one("NetworkPolicy", "k8sjob-exporter")["spec"]["ingress"]
    assert rule["ports"] == [{"port": 4180, "protocol": "TCP"}]
    assert "The exporter asks nobody to log in" not in rendered.notes


def test_kubernetes_takes_them() -> None:
    objects = render({**ON, "sidecars": [PROXY]}).objects
    assert fix_chart.validate(objects, fix_chart.KUBERNETES[0]) == []


@pytest.mark.parametrize("name", ["serve", "reconcile", "control", "doctor", "migrate-default"])
def test_a_name_of_the_charts_own_is_refused(name: str) -> None:
    with pytest.raises(fix_chart.ChartError, match=f"sidecars has {name}, as the chart calls"):
        render({"control": {"sidecars": [{**PROXY, "name": name}]}})


def test_one_may_be_called_as_a_ledger_is() -> None:
    for name in ("default", "migrate-proxy"):
        assert having({"sidecars": [{**PROXY, "name": name}]})["k8sjob-migrate"]


def test_one_without_an_image_is_refused() -> None:
    with pytest.raises(fix_chart.ChartError, match="at '/sidecars/0': missing property 'image'"):
        render({"sidecars": [{"name": "proxy"}]})
