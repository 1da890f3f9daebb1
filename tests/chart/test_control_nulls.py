"""A key without a value, which takes a default away, is refused by name or does no harm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests import fix_chart
from tests.chart.control import FOLDER, ONE_LEDGER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.fix_chart import Rendered

pytestmark = pytest.mark.usefixtures("helm")


def paths(values: dict[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield each key's path: of those that hold others too."""
    for key, value in values.items():
        yield (*above, key)
        # What Kubernetes describes itself is passed on as it is.
        if isinstance(value, dict) and not key.endswith("ecurityContext"):
            yield from paths(value, (*above, key))


def without(path: tuple[str, ...]) -> dict[str, Any]:
    """Return values with all switches on, and one key without a value."""
    values: dict[str, Any] = fix_chart.values_of(FOLDER / "ci" / "monitored-values.yaml")
    values |= {"control": {"readCluster": True}, "backfill": {"enabled": True}, **ONE_LEDGER}
    inner = values
    for step in path[:-1]:
        inner = inner.setdefault(step, {})
    inner[path[-1]] = None
    return values


EVERY = [
    path for path in paths(fix_chart.values_of(FOLDER / "values.yaml")) if path != ("ledgers",)
]


@pytest.mark.parametrize("path", EVERY, ids=".".join)
def test_a_key_without_a_value(path: tuple[str, ...]) -> None:
    rendered, refusal = tried(path)
    assert rendered or f"missing property '{path[-1]}'" in refusal
    if rendered:
        assert fix_chart.validate(rendered.objects) == []
        assert "<nil>" not in str(rendered.objects)


def tried(path: tuple[str, ...]) -> tuple[Rendered | None, str]:
    """Return what is rendered, or why nothing is."""
    try:
        return fix_chart.render("k8sjob", without(path)), ""
    except fix_chart.ChartError as refused:
        return None, str(refused)


@pytest.mark.parametrize(
    "path",
    [("reconciler", "resources"), ("podLabels",), ("extraEnv",), ("scope", "namespaces")],
    ids=".".join,
)
def test_what_is_empty_by_default_may_be_left_empty(path: tuple[str, ...]) -> None:
    assert fix_chart.render("k8sjob", without(path)).objects


@pytest.mark.parametrize("path", [("exporter",), ("control", "enabled"), ("image",)], ids=".".join)
def test_what_is_needed_is_refused_by_its_name(path: tuple[str, ...]) -> None:
    with pytest.raises(fix_chart.ChartError, match=f"missing property '{path[-1]}'"):
        fix_chart.render("k8sjob", without(path))
