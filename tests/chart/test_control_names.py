"""Whatever a release is called: all names are legal, and what is cut off keeps them apart."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

from tests.chart.control import pod_specs, render
from tests.fix_chart import validate

pytestmark = pytest.mark.usefixtures("helm")

# Helm's own rule for the name of a release, at most 53 characters.
_PART = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
any_name = st.from_regex(rf"\A{_PART}(\.{_PART})*\Z").filter(lambda name: len(name) <= 53)
long_name = st.text("ab0", min_size=30, max_size=53)
cut_at_a_hyphen = st.integers(1, 40).map(lambda n: "a" * n + "-" + "b" * (52 - n))
releases = any_name | long_name | cut_at_a_hyphen
_LABEL = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_WIDE = {"ClusterRole", "ClusterRoleBinding"}
_AT_MOST = {"CronJob": 52}
ALL_ON = {
    "backfill": {"enabled": True},
    "serviceMonitor": {"enabled": True},
    "prometheusRule": {"enabled": True},
    "dashboard": {"enabled": True},
    "networkPolicy": {"enabled": True, "exporter": {"from": [{"podSelector": {}}]}},
}
# A simpler example is not worth the time that it takes to render hundreds of charts.
on_a_chart = settings(
    max_examples=30,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def made(release: str) -> set[tuple[str, str]]:
    return {(one["kind"], one["metadata"]["name"]) for one in render(ALL_ON, name=release).objects}


@on_a_chart
@given(release=releases)
def test_every_name_is_legal(release: str) -> None:
    objects = render(ALL_ON, name=release).objects
    for one in objects:
        kind, name = one["kind"], one["metadata"]["name"]
        if kind in _WIDE:
            assert re.fullmatch(r"[-a-z0-9:]+", name)
            continue
        assert _LABEL.fullmatch(name), name
        assert len(name) <= _AT_MOST.get(kind, 63)
        for value in one["metadata"]["labels"].values():
            assert len(value) <= 63
            assert re.fullmatch(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?", value)
    for _, spec in pod_specs(objects):
        assert all(len(container["name"]) <= 63 for container in spec["containers"])


@on_a_chart
@given(one=releases, other=releases)
def test_two_releases_share_no_name(one: str, other: str) -> None:
    # Helm's own convention: a release that has the chart's name in its own is not given it again.
    assume(other not in {one, f"{one}-k8sjob"} and one != f"{other}-k8sjob")
    assert not made(one) & made(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a.b", "a-b"),
        ("7", "r7"),
        ("k8sjob", "k8sjob-k8sjob"),
        ("shop", "shop-k8sjob-x"),
        ("k8sjob-" + "a" * 45 + "1", "k8sjob-" + "a" * 45 + "2"),
    ],
)
def test_names_that_are_nearly_the_same_do_not_meet(one: str, other: str) -> None:
    assert not made(one) & made(other)


@pytest.mark.parametrize(
    ("release", "name"),
    [("k8sjob", "k8sjob"), ("shop", "shop-k8sjob"), ("k8sjob-shop", "k8sjob-shop")],
)
def test_names_begin_with_the_release(release: str, name: str) -> None:
    assert ("CronJob", f"{name}-reconciler") in made(release)


def test_a_name_of_ones_own_is_taken_to_the_letter() -> None:
    rendered = render({"fullnameOverride": "a" * 41})
    assert rendered.one("CronJob")["metadata"]["name"] == "a" * 41 + "-reconciler"


def test_the_longest_ledger_has_a_container_with_a_legal_name() -> None:
    rendered = render({"ledgers": {"a" * 40: {"existingSecret": "s"}}})
    containers = rendered.one("Job")["spec"]["template"]["spec"]["containers"]
    assert [one["name"] for one in containers] == ["migrate-" + "a" * 40]


@pytest.mark.parametrize("name", ["123", "1e3", "null", "true", "0x1f"])
def test_a_name_that_yaml_would_take_for_something_else_stays_a_name(name: str) -> None:
    account = {"serviceAccount": {"create": False, "name": name}}
    rendered = render(
        {
            "scope": {"namespaces": [name]},
            "backfill": {"enabled": True},
            "reconciler": account,
            "control": account,
            "exporter": account,
            "migrate": {"serviceAccountName": name},
            "serviceMonitor": {"enabled": True, "namespace": name},
            "prometheusRule": {"enabled": True, "namespace": name},
            "dashboard": {"enabled": True, "namespace": name},
        },
        namespace=name,
    )
    assert validate(rendered.objects) == []
    subjects = [one["subjects"] for one in rendered.all("RoleBinding")]
    assert subjects == [[{"kind": "ServiceAccount", "name": name, "namespace": name}]] * 2
    monitor = rendered.one("ServiceMonitor")
    assert monitor["spec"]["namespaceSelector"] == {"matchNames": [name]}
    for kind in ("ServiceMonitor", "PrometheusRule"):
        assert rendered.one(kind)["metadata"]["namespace"] == name
