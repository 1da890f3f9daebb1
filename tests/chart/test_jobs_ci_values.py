from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from k8sjob.manifest.lint import Report
from k8sjob.manifest.lint import lint as lint_manifest
from k8sjob.policy import READERS, read_policy
from tests.chart.jobs import CHART, every_ci, pod_of
from tests.fix_chart import KUBERNETES, Rendered, lint, render, validate, values_of

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("helm")

NOW = datetime(2026, 9, 13, tzinfo=UTC)


def _rendered(file: Path) -> Rendered:
    return render(CHART, values_of(file), name="billing", namespace="shop")


@every_ci
def test_helm_lint_has_nothing_to_say(file: Path) -> None:
    assert lint(CHART, values_of(file)) == []


@every_ci
@pytest.mark.parametrize("version", KUBERNETES)
def test_every_object_is_one_of_every_kubernetes(file: Path, version: str) -> None:
    assert validate(_rendered(file).objects, version) == []


@every_ci
def test_k8sjob_lint_finds_nothing(file: Path) -> None:
    found = Report()
    for cron in _rendered(file).all("CronJob"):
        lint_manifest(found, file.name, json.dumps(cron), NOW)
    assert found.findings == []
    assert found.unread == []
    assert found.cronjobs > 0


@every_ci
def test_every_annotation_is_one_that_the_reconciler_reads(file: Path) -> None:
    for cron in _rendered(file).all("CronJob"):
        annotations = cron["metadata"].get("annotations", {})
        read_policy(annotations)
        own = {name for name in annotations if name.startswith("k8sjob.io/")}
        assert own <= {*READERS, "k8sjob.io/lint-ignore"}


@every_ci
def test_every_pod_is_one_that_a_restricted_namespace_takes(file: Path) -> None:
    """Check what https://kubernetes.io/docs/concepts/security/pod-security-standards asks for."""
    found = _rendered(file)
    specs = [pod_of(cron) for cron in found.all("CronJob")]
    specs += [pod["spec"] for pod in found.all("Pod")]
    for spec in specs:
        assert spec["securityContext"]["runAsNonRoot"] is True
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        for one in [*spec.get("initContainers", []), *spec["containers"]]:
            assert one["securityContext"]["allowPrivilegeEscalation"] is False
            assert one["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        kinds = {kind for volume in spec["volumes"] for kind in volume if kind != "name"}
        assert kinds <= {"secret", "projected", "emptyDir", "configMap", "persistentVolumeClaim"}


@every_ci
def test_no_two_objects_have_one_name(file: Path) -> None:
    names = [(one["kind"], one["metadata"]["name"]) for one in _rendered(file).objects]
    assert len(names) == len(set(names))


def test_without_jobs_there_is_nothing_but_their_account() -> None:
    found = render(CHART, {}, name="billing", namespace="shop")
    assert lint(CHART, {}) == []
    assert [one["kind"] for one in found.objects] == ["ServiceAccount"]
    assert "No jobs" in found.notes
