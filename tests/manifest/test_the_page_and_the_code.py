"""docs/lint.md describes each rule, and its examples are as it says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from k8sjob.cli.main import COMMANDS
from k8sjob.manifest.rules.table import NAMES
from tests.manifest.manifests import CRONJOB, rules

PAGE = (Path(__file__).parents[2] / "docs" / "lint.md").read_text("utf-8")
INTRODUCTION, *_SECTIONS = re.split(r"^### ", PAGE, flags=re.MULTILINE)
SECTIONS = {section.partition("\n")[0]: section for section in _SECTIONS}
BASE = re.search(r"<!-- base -->\n```yaml\n(.*?)```", INTRODUCTION, re.DOTALL)


def example(name: str, which: str) -> str:
    found = re.search(rf"^{which}:\n\n```yaml\n(.*?)```", SECTIONS[name], re.DOTALL | re.MULTILINE)
    assert found, f"{name} has no {which} example"
    return found[1]


def whole(part: str) -> str:
    """Return the CronJob that an example stands for, as JSON; a whole one as it is."""
    if "kind:" in part:
        return part
    return json.dumps(merged(read(CRONJOB), read(part)))


def read(text: str) -> Any:
    return YAML(typ="safe", pure=True).load(text)


def merged(base: Any, part: Any) -> Any:
    """Put ``part`` over ``base``; of a map in which it has values, it has all of them."""
    if not isinstance(part, dict) or not isinstance(base, dict):
        return part
    has_values = any(not isinstance(value, dict | list) for value in part.values())
    kept = {
        key: value
        for key, value in base.items()
        if key not in part and (isinstance(value, dict | list) or not has_values)
    }
    return {key: merged(base.get(key), value) for key, value in part.items()} | kept


def test_each_rule_has_a_section_and_each_section_is_a_rule() -> None:
    assert list(SECTIONS) == NAMES


def test_the_example_that_the_others_are_a_part_of_is_the_tests_own() -> None:
    assert BASE
    assert BASE[1] == CRONJOB
    assert rules(BASE[1]) == []


@pytest.mark.parametrize("name", NAMES)
def test_each_bad_example_has_that_finding_alone(name: str) -> None:
    assert rules(whole(example(name, "Bad"))) == [name]


@pytest.mark.parametrize("name", NAMES)
def test_each_good_example_has_none(name: str) -> None:
    assert rules(whole(example(name, "Good"))) == []


@pytest.mark.parametrize("name", NAMES)
def test_each_section_gives_its_source(name: str) -> None:
    assert re.search(r"^Source: \S", SECTIONS[name], re.MULTILINE)


def test_names_are_in_kebab_case_and_differ() -> None:
    assert len(set(NAMES)) == len(NAMES)
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", name) for name in NAMES)


def test_the_command_is_listed_after_preview() -> None:
    names = list(COMMANDS)
    assert names.index("lint") == names.index("preview") + 1
