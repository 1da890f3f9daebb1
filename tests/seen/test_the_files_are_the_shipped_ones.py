from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from ruamel.yaml import YAML

from tests.alerts.rulebook import ROOT, RULES, load
from tests.seen import files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

OURS = "http://127.0.0.1:3"
PAGE = ROOT / "docs" / "alerts.md"

Leaf = tuple[tuple[str | int, ...], Any]


def leaves(found: Any, path: tuple[str | int, ...] = ()) -> Iterator[Leaf]:
    if isinstance(found, dict | list):
        for key, value in found.items() if isinstance(found, dict) else enumerate(found):
            yield from leaves(value, (*path, key))
    else:
        yield path, found


def differences(shipped: Path, ours: str) -> dict[tuple[str | int, ...], tuple[Any, Any]]:
    before = dict(leaves(load(shipped)))
    after = dict(leaves(YAML(typ="safe", pure=True).load(ours)))
    assert before.keys() == after.keys()
    return {path: (before[path], after[path]) for path in before if before[path] != after[path]}


@pytest.mark.parametrize(
    ("shipped", "ours"),
    [
        (RULES, files.rules),
        (files.PROMETHEUS, lambda: files.prometheus("127.0.0.1:1", "127.0.0.1:2")),
        (files.ALERTMANAGER, lambda: files.alertmanager(OURS)),
    ],
    ids=["rules", "prometheus", "alertmanager"],
)
def test_only_durations_and_addresses_differ(shipped: Path, ours: Callable[[], str]) -> None:
    found = differences(shipped, ours())
    durations = {path for path, _ in leaves(load(shipped)) if path[-1] in files.SHORTENED}
    for path in durations:
        before, after = found.pop(path)
        assert files.milliseconds(before) == files.milliseconds(after) * files.FACTOR
    assert all("127.0.0.1" in after for _, after in found.values()), found
    if shipped == RULES:
        assert found == {}
        assert len(durations) > 10


def test_the_page_says_how_long_it_takes_with_the_shipped_durations() -> None:
    [group] = load(RULES)["groups"]
    scrape = seconds(load(files.PROMETHEUS)["global"]["scrape_interval"])
    route = load(files.ALERTMANAGER)["route"]
    rule = next(rule for rule in group["rules"] if rule.get("alert") == "K8sjobPeriodMissing")
    least = seconds(rule["for"]) + seconds(route["group_wait"])
    looks = scrape + seconds(group["interval"])
    text = " ".join(PAGE.read_text("utf-8").split())
    assert f"between {told(least)} and {told(least + looks)}" in text
    assert f"up to {told(looks + seconds(route['group_interval']))}" in text


def seconds(duration: str) -> int:
    return files.milliseconds(duration) // 1000


def told(span: int) -> str:
    minutes, rest = divmod(span, 60)
    return f"{minutes} min {rest} s" if rest else f"{minutes} min"
