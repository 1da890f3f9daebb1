"""A variable is in a container once, and the nearest that says it wins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.chart.control import everything, pod, pod_specs, render

if TYPE_CHECKING:
    from tests.fix_chart import Object

pytestmark = pytest.mark.usefixtures("helm")

OF_ALL = [
    {"name": "PGSSLMODE", "value": "require"},
    {"name": "K8SJOB_LOG_FORMAT", "value": "json"},
]


def env(name: str, **values: Any) -> list[Object]:
    """Return the variables of the first container of an object's Pods."""
    found: list[Object] = pod(render(values), name)["containers"][0]["env"]
    return found


def test_what_is_said_for_a_part_wins_over_what_is_said_for_all() -> None:
    own = {"extraEnv": [{"name": "PGSSLMODE", "value": "disable"}]}
    found = env("k8sjob-control", extraEnv=OF_ALL, control=own)
    assert [one for one in found if one["name"] == "PGSSLMODE"] == own["extraEnv"]
    found = env("k8sjob-exporter", extraEnv=OF_ALL, control=own)
    assert [one for one in found if one["name"] == "PGSSLMODE"] == OF_ALL[:1]


@pytest.mark.parametrize("name", ["k8sjob-control", "k8sjob-test-reconcile"])
def test_what_is_said_for_all_wins_over_the_charts_own(name: str) -> None:
    found = env(name, extraEnv=OF_ALL)
    assert [one for one in found if one["name"] == "K8SJOB_LOG_FORMAT"] == OF_ALL[1:]


def test_a_value_from_elsewhere_takes_the_place_of_a_text() -> None:
    """Both at once would be refused."""
    secret = {"name": "PGSSLMODE", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}
    found = env("k8sjob-exporter", extraEnv=OF_ALL, exporter={"extraEnv": [secret]})
    assert [one for one in found if one["name"] == "PGSSLMODE"] == [secret]


def test_one_that_another_is_made_of_stays_before_it() -> None:
    """Kubernetes puts in for $(NAME) only what stands above."""
    of_all = [{"name": "HOST", "value": "a"}, {"name": "PGAPPNAME", "value": "$(HOST).example"}]
    own = {"extraEnv": [{"name": "HOST", "value": "b"}]}
    found = env("k8sjob-exporter", extraEnv=of_all, exporter=own)
    assert found[1:] == [*own["extraEnv"], of_all[1]]


def test_no_container_has_a_name_twice() -> None:
    twice = {"extraEnv": [*OF_ALL, *OF_ALL]}
    parts = dict.fromkeys(("migrate", "reconciler", "exporter", "control"), twice)
    for rendered in (everything(), render({**parts, "prune": {"enabled": True, **twice}, **twice})):
        for name, spec in pod_specs(rendered.objects):
            for container in spec["containers"]:
                names = [one["name"] for one in container["env"]]
                assert len(names) == len(set(names)), name
