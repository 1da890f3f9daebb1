"""Rights go to accounts that are a part's own, and no account is made twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests import fix_chart
from tests.chart.control import pod, render

if TYPE_CHECKING:
    from tests.fix_chart import Object

pytestmark = pytest.mark.usefixtures("helm")
NONE = {"serviceAccount": {"create": False}}
SHARED = {"serviceAccount": {"name": "ledgers"}}


def refusal(values: dict[str, Any]) -> str:
    """Return why nothing is rendered."""
    with pytest.raises(fix_chart.ChartError) as refused:
        render(values)
    return str(refused.value)


@pytest.mark.parametrize(
    ("part", "values"),
    [
        ("reconciler", {"reconciler": NONE}),
        ("reconciler", {"reconciler": {"serviceAccount": {"name": "default"}}}),
        ("control", {"control": NONE, "backfill": {"enabled": True}}),
        ("control", {"control": {**NONE, "readCluster": True}}),
    ],
    ids=str,
)
def test_rights_are_not_given_to_each_pod_of_a_namespace(part: str, values: dict[str, Any]) -> None:
    said = refusal(values)
    assert f"the rights of the {part} would go to the account default, which each Pod" in said
    assert f"--set {part}.serviceAccount.name=NAME" in said
    assert "--set rbac.create=false" in said


@pytest.mark.parametrize(
    "values",
    [
        {"exporter": NONE, "control": NONE},
        {"reconciler": {**NONE, "enabled": False}},
        {"reconciler": NONE, "rbac": {"create": False}},
    ],
    ids=str,
)
def test_the_default_account_will_do_where_no_rights_are_given(values: dict[str, Any]) -> None:
    rendered = render(values)
    assert "default" not in str([one["subjects"] for one in rendered.all("ClusterRoleBinding")])
    if "exporter" in values:
        assert pod(rendered, "k8sjob-exporter")["serviceAccountName"] == "default"


def test_one_account_is_not_made_twice() -> None:
    said = refusal({"reconciler": SHARED, "exporter": SHARED})
    assert "reconciler and exporter would both make the account ledgers. Nothing was inst" in said
    assert "--set exporter.serviceAccount.create=false" in said
    assert "reconciler and control would both make" in refusal(
        {"control": {"serviceAccount": {"name": "k8sjob-reconciler"}}}
    )


def test_parts_can_share_what_one_of_them_makes() -> None:
    user = {"serviceAccount": {"create": False, "name": "ledgers"}}
    rendered = render({"reconciler": SHARED, "exporter": user, "control": user})
    accounts: list[Object] = rendered.all("ServiceAccount")
    assert [one["metadata"]["name"] for one in accounts] == ["ledgers"]
