"""The charts, rendered and checked by Helm's own engine; the objects, by Kubernetes' own schemas.

helm-python-sdk is Helm's Go library behind ctypes: what it says is what ``helm`` says.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from ruamel.yaml import YAML

from tests.fix_report import cannot_meet, expect, uses

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from helm_python import Chart

Object = dict[str, Any]

HELM = "Helm"
CHARTS = Path(__file__).parent.parent / "charts"
#: Versions of Kubernetes that the charts are for.
KUBERNETES = tuple(f"1.{minor}" for minor in range(29, 38))
#: Kinds of other people, for which Kubernetes has no schema.
_FOREIGN = {"ServiceMonitor", "PrometheusRule"}
_WARNING = 2  # a severity in Helm's report


class ChartError(Exception):
    """Helm refused the values, or a template failed; the text is Helm's own."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """What a release would consist of."""

    objects: list[Object]
    notes: str

    def all(self, kind: str) -> list[Object]:
        """Return the objects of ``kind``."""
        return [one for one in self.objects if one["kind"] == kind]

    def one(self, kind: str, name: str | None = None) -> Object:
        """Return the one object of ``kind``, and of this name where one is given."""
        found = [o for o in self.all(kind) if name is None or o["metadata"]["name"] == name]
        names = [(o["kind"], o["metadata"]["name"]) for o in self.objects]
        assert len(found) == 1, f"{len(found)} of {kind} {name or ''}: {names}"
        return found[0]


def pytest_configure(config: pytest.Config) -> None:
    """Say before any test whether Helm's engine is here."""
    expect(config, HELM)
    if find_spec("helm_python") is None:
        cannot_meet(config, HELM, "helm-python-sdk has no build for this machine")


@pytest.fixture
def helm(request: pytest.FixtureRequest) -> None:
    """Let the test use the functions below, or skip it."""
    if find_spec("helm_python") is None:
        pytest.skip("helm-python-sdk has no build for this machine")
    uses(request.node, HELM)


def render(
    chart: str | Path,
    values: Mapping[str, Any] | None = None,
    *,
    name: str = "k8sjob",
    namespace: str = "k8sjob",
    upgrade: bool = False,
) -> Rendered:
    """Render ``chart``, a folder's path or its name under charts/. Raises ChartError."""
    from helm_python import HelmError

    loaded = _load(CHARTS / chart)
    try:
        loaded.validate_schema(dict(values or {}))
        files = loaded.render(
            dict(values or {}),
            name=name,
            namespace=namespace,
            is_install=not upgrade,
            is_upgrade=upgrade,
        )
    except HelmError as err:
        raise ChartError(str(err)) from err
    notes = "".join(text for path, text in sorted(files.items()) if path.endswith("NOTES.txt"))
    manifests = (text for path, text in sorted(files.items()) if path.endswith((".yaml", ".yml")))
    return Rendered(objects=[one for text in manifests for one in read(text)], notes=notes)


def read(text: str) -> list[Object]:
    """Return the objects of a file of YAML documents."""
    yaml = YAML(typ="safe", pure=True)
    return [one for one in yaml.load_all(text) if one]


def values_of(path: Path) -> dict[str, Any]:
    """Return the values that a file holds."""
    return YAML(typ="safe", pure=True).load(path.read_text()) or {}


def lint(chart: str | Path, values: Mapping[str, Any] | None = None) -> list[str]:
    """Return what ``helm lint --strict`` has to say, nothing where all is well."""
    from helm_python.chart import lint as helm_lint

    report = helm_lint(CHARTS / chart, dict(values or {}), strict=True, namespace="k8sjob")
    said = [f"{m['path']}: {m['error']}" for m in report["messages"] if m["severity"] >= _WARNING]
    return [*said, *(error for error in report["errors"] if error not in said)]


def validate(objects: Iterable[Object], version: str = "1.34") -> list[str]:
    """Return where ``objects`` are no objects of Kubernetes ``version``: unknown keys count."""
    import kubernetes_validate

    wrong = []
    for one in objects:
        if one["kind"] in _FOREIGN:
            continue
        try:
            kubernetes_validate.validate(one, version, strict=True)
        except kubernetes_validate.ValidationError as err:
            where = "/".join(str(step) for step in err.path)
            wrong.append(f"{one['kind']} {one['metadata']['name']} {where}: {err.message}")
    return wrong


def charts() -> list[str]:
    """Return the names of all charts here."""
    return sorted(one.parent.name for one in CHARTS.glob("*/Chart.yaml"))


def ci_values() -> list[tuple[str, Path]]:
    """Return each chart with each of its files of values for the tests."""
    return [(name, file) for name in charts() for file in sorted((CHARTS / name / "ci").iterdir())]


@cache
def _load(path: Path) -> Chart:
    from helm_python import Chart

    return Chart.load(path)
