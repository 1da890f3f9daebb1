"""docs/upgrade.md says of hooks and CronJobs what the charts make."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from k8sjob.duration import parse_duration
from k8sjob.ledger.migrate import migrations
from tests.chart import control, jobs
from tests.chart.test_control_hooks import hooks
from tests.fix_chart import charts, ci_values, render, values_of

if TYPE_CHECKING:
    from tests.fix_chart import Object

pytestmark = pytest.mark.usefixtures("helm")

ROOT = Path(__file__).parents[2]
PAGE = " ".join((ROOT / "docs" / "upgrade.md").read_text("utf-8").split())


def of_the_hook(values: dict[str, Any] | None = None) -> Object:
    """Return the spec of the hook's Job."""
    spec: Object = control.render(values, upgrade=True).one("Job", "k8sjob-migrate")["spec"]
    return spec


def test_the_hook_of_an_upgrade_migrates_and_does_nothing_else() -> None:
    assert "A hook (`pre-upgrade`) brings each ledger's schema up" in PAGE
    found = hooks(control.render(upgrade=True).objects)
    assert [name for name, when in found.items() if "pre-upgrade" in when] == ["k8sjob-migrate"]
    containers = of_the_hook()["template"]["spec"]["containers"]
    assert [one["args"][0] for one in containers] == ["migrate"]


@pytest.mark.parametrize(
    ("chart", "file"), ci_values(), ids=[f"{c}-{file.stem}" for c, file in ci_values()]
)
def test_nothing_runs_when_a_release_is_taken_away_or_back(chart: str, file: Path) -> None:
    assert "**The ledger stays**: no hook drops anything" in PAGE
    when = set(hooks(render(chart, values_of(file)).objects).values())
    assert not [one for one in when if re.search("delete|rollback", one)]
    assert set(charts()) == {name for name, _ in ci_values()}


def test_the_hook_tries_once_more_for_as_long_as_it_is_told() -> None:
    assert "as long as `migrate.wait` says, and tries once more" in PAGE
    spec = of_the_hook({"migrate": {"wait": "90s"}})
    assert spec["backoffLimit"] == 1
    assert "--wait=90s" in spec["template"]["spec"]["containers"][0]["args"]


def test_a_policy_of_the_new_values_is_there_before_the_hook() -> None:
    assert "a policy of the new values lets the hook's Pod out first" in PAGE
    policies = control.render({"networkPolicy": {"enabled": True}}).all("NetworkPolicy")
    assert hooks(policies) == {"k8sjob-migrate": "pre-upgrade"}


def test_a_longer_wait_fits_into_what_the_page_gives_it() -> None:
    (wait,), (limit,) = (re.findall(rf"--set migrate\.{key}=(\w+)", PAGE) for key in _WAITS)
    (timeout,) = re.findall(r"--timeout (\w+)", PAGE)
    spec = of_the_hook({"migrate": {"wait": wait, "backoffLimit": int(limit)}})
    assert parse_duration(wait) < spec["activeDeadlineSeconds"] < parse_duration(timeout)


_WAITS = ("wait", "backoffLimit")


def test_an_upgrade_without_its_hook_changes_the_rest() -> None:
    assert "`helm upgrade … --set migrate.enabled=false`" in PAGE
    rendered = control.render({"migrate": {"enabled": False}}, upgrade=True)
    assert rendered.all("Job") == []
    assert rendered.all("Deployment")


def test_a_step_gives_up_after_as_long_as_the_page_says() -> None:
    assert "it gives up after two seconds" in PAGE
    assert all("SET LOCAL lock_timeout = '2s';" in step.script for step in migrations()[1:])
    (wait,) = re.findall(r"`k8sjob migrate --wait (\w+)`", PAGE)
    assert parse_duration(wait) == 6 * 3600


def test_a_cronjob_has_an_end_and_says_whether_it_is_suspended() -> None:
    assert "`activeDeadlineSeconds` (which the chart sets)" in PAGE
    assert "The chart writes `suspend` out" in PAGE
    spec = jobs.cronjob(jobs.RUN)["spec"]
    assert spec["jobTemplate"]["spec"]["activeDeadlineSeconds"] == 3600
    assert (spec["suspend"], spec["concurrencyPolicy"]) == (False, "Forbid")
    assert jobs.cronjob(jobs.RUN | {"suspend": True})["spec"]["suspend"] is True
