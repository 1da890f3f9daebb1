from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.docs.write_charts import BEGIN, charts, plain, values, written

if TYPE_CHECKING:
    from pathlib import Path

every_chart = pytest.mark.parametrize("chart", charts(), ids=lambda chart: chart.name)


@every_chart
def test_the_table_of_values_is_up_to_date(chart: Path) -> None:
    page = (chart / "README.md").read_text("utf-8")
    assert BEGIN in page
    assert page == written(chart), "make docs"


@every_chart
def test_every_value_is_documented(chart: Path) -> None:
    assert [one.path for one in values(chart) if not one.about] == []


@every_chart
def test_the_schema_knows_every_value_with_its_default(chart: Path) -> None:
    schema = json.loads((chart / "values.schema.json").read_text("utf-8"))
    unknown = [one.path for one in values(chart) if not _known(schema, schema, one.path)]
    assert unknown == []


@every_chart
def test_every_object_of_the_schema_is_closed_or_somebody_elses(chart: Path) -> None:
    """A misspelt key is refused; what Kubernetes describes itself is passed on as it is."""
    schema = json.loads((chart / "values.schema.json").read_text("utf-8"))
    assert list(_open(schema, "")) == []


def test_values_without_form_are_shown_as_json() -> None:
    assert plain({"a": [1, {"b": None}]}) == {"a": [1, {"b": None}]}


def _known(root: dict[str, Any], schema: dict[str, Any], path: str) -> bool:
    for step in path.split("."):
        schema = _follow(root, schema)
        inner = schema.get("properties", {}).get(step)
        if inner is None:
            inner = schema.get("additionalProperties")
        if not isinstance(inner, dict):
            return False
        schema = inner
    return True


def _follow(root: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in schema:
        found = root
        for step in schema["$ref"].removeprefix("#/").split("/"):
            found = found[step]
        schema = found
    for one in schema.get("allOf", []):
        schema = {**_follow(root, one), **schema}
    return schema


def _open(schema: Any, path: str) -> list[str]:
    """Find what has properties and says nothing of others: there misspelt keys pass."""
    if isinstance(schema, list):
        return [bad for n, one in enumerate(schema) for bad in _open(one, f"{path}/{n}")]
    if not isinstance(schema, dict):
        return []
    found = []
    partial = path.rsplit("/", 2)[-2:-1] in (["allOf"], ["anyOf"], ["oneOf"]) or path.endswith(
        ("/if", "/then", "/else", "/not")
    )
    says = isinstance(schema.get("properties"), dict) and "additionalProperties" not in schema
    found = [path] if says and not partial else []
    return found + [bad for key, one in schema.items() for bad in _open(one, f"{path}/{key}")]
