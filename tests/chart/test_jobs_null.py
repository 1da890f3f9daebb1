from __future__ import annotations

from typing import Any

import pytest

from tests.chart.jobs import CHART, FOLDER, IMAGE, RUN, SIDECAR, rendered
from tests.fix_chart import ChartError, render, values_of

pytestmark = pytest.mark.usefixtures("helm")


def _paths(tree: dict[str, Any], above: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    found = []
    for key, one in tree.items():
        found += [(*above, key), *(_paths(one, (*above, key)) if isinstance(one, dict) else [])]
    return found


PATHS = _paths(values_of(FOLDER / "values.yaml"))
#: What Kubernetes does not need.
MAY_GO = {"defaults.podSecurityContext", "defaults.securityContext"}


@pytest.mark.parametrize("path", PATHS, ids=".".join)
def test_null_takes_a_default_away_or_is_refused_by_name(path: tuple[str, ...]) -> None:
    """Helm takes away what is null: a deadline of nothing must not become one of 0."""
    null: Any = None
    for key in reversed(path):
        null = {key: null}
    values: dict[str, Any] = {"image": IMAGE, "jobs": {"credit": RUN, "debit": SIDECAR}}
    for key, one in null.items():
        values[key] = one and values.get(key, {}) | one

    try:
        made = render(CHART, values, name="billing", namespace="shop").all("CronJob")
    except ChartError as refused:
        assert f"missing property '{path[-1]}'" in str(refused)  # noqa: PT017  # either will do
        assert ".".join(path) not in MAY_GO
    else:
        for cron in made:
            spec = cron["spec"]["jobTemplate"]["spec"]
            assert cron["spec"]["startingDeadlineSeconds"] > 0
            assert spec["activeDeadlineSeconds"] > 0
            assert spec["template"]["spec"]["terminationGracePeriodSeconds"] > 0


def test_a_job_that_is_null_is_none() -> None:
    assert len(rendered(RUN, None).all("CronJob")) == 1  # type: ignore[arg-type]
