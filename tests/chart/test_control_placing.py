"""Where Pods go is said for all, and for a part instead; how people come to the exporter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests import fix_chart
from tests.chart.control import everything, pod_specs, render
from tests.chart.test_control_sidecars import ON, PARTS

if TYPE_CHECKING:
    from tests.fix_chart import Object

pytestmark = pytest.mark.usefixtures("helm")
OF_ALL: Object = {
    "nodeSelector": {"pool": "jobs"},
    "tolerations": [{"key": "jobs", "operator": "Exists"}],
    "affinity": {"nodeAffinity": {}},
    "topologySpreadConstraints": [{"topologyKey": "zone"}],
}
OWN: Object = {
    "nodeSelector": {"disk": "ssd"},
    "tolerations": [{"key": "ssd", "operator": "Exists"}],
    "affinity": {"podAffinity": {}},
    "topologySpreadConstraints": [{"topologyKey": "host"}],
}


def placed(values: dict[str, Any]) -> dict[str, Object]:
    """Return what each object's Pods say of where they go."""
    found = pod_specs(render({**ON, **values}).objects)
    return {name: {key: spec.get(key) for key in OF_ALL} for name, spec in found}


def test_pods_go_anywhere_unless_somebody_says_so() -> None:
    assert set(placed({})) == set.union(*PARTS.values())
    for found in placed({}).values():
        assert found == dict.fromkeys(OF_ALL)


@pytest.mark.parametrize("part", PARTS)
def test_a_part_goes_where_it_is_told_and_the_others_where_all_go(part: str) -> None:
    for name, found in placed({**OF_ALL, part: {**ON.get(part, {}), **OWN}}).items():
        assert found == (OWN if name in PARTS[part] else OF_ALL), name


def test_a_part_can_say_one_thing_of_its_own() -> None:
    found = placed({**OF_ALL, "exporter": {"nodeSelector": OWN["nodeSelector"]}})
    assert found["k8sjob-exporter"] == {**OF_ALL, "nodeSelector": OWN["nodeSelector"]}


def test_names_and_runtime_are_those_of_all_pods() -> None:
    for name, spec in pod_specs(everything().objects):
        assert spec["runtimeClassName"] == "gvisor", name
        assert spec["hostAliases"] == [{"ip": "10.3.0.1", "hostnames": ["db.example"]}]
        assert spec["dnsConfig"] == {"options": [{"name": "ndots", "value": "1"}]}
    for _, spec in pod_specs(render().objects):
        assert not {"runtimeClassName", "hostAliases", "dnsConfig"} & set(spec)


def service(**values: Any) -> Object:
    """Return the spec of the exporter's Service."""
    found: Object = render({"exporter": {"service": values}}).one("Service")["spec"]
    return found


def test_a_load_balancer_lets_in_whom_the_values_say() -> None:
    told = {
        "type": "LoadBalancer",
        "loadBalancerSourceRanges": ["10.0.0.0/8", "fd00::/8"],
        "loadBalancerClass": "service.k8s.aws/nlb",
        "ipFamilyPolicy": "PreferDualStack",
    }
    assert told.items() <= service(**told).items()
    assert set(service()) == {"type", "selector", "ports"}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            {"loadBalancerSourceRanges": ["10.0.0.0/8"]},
            "exporter.service.loadBalancerSourceRanges is of a LoadBalancer, and exporter.serv",
        ),
        (
            {"loadBalancerClass": "x", "type": "NodePort"},
            "exporter.service.loadBalancerClass is of",
        ),
        ({"loadBalancerSourceRanges": ["10.0.0.0"]}, "'10.0.0.0' does not match pattern"),
        ({"ipFamilyPolicy": "DualStack"}, "value must be one of '', 'SingleStack'"),
    ],
    ids=str,
)
def test_what_kubernetes_would_refuse_is_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(fix_chart.ChartError) as refused:
        service(**values)
    assert message in str(refused.value)
