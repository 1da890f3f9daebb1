"""docs/inject.md says what the command does."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from k8sjob.cli.inject import command
from k8sjob.manifest.inject import sidecar, telling
from k8sjob.manifest.inject.options import NAMES
from tests.inject.injected import covered, result, taken_back

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "inject.md").read_text("utf-8")
ASKED: dict[str, Any] = {"annotations": {"owner": "payments"}}
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, flags=re.DOTALL | re.MULTILINE)
BEFORE, AFTER, _ = (text for kind, text in BLOCKS if kind == "yaml")


def test_the_example_becomes_what_the_page_shows_and_back() -> None:
    assert covered(BEFORE, **ASKED) == AFTER
    assert taken_back(AFTER) == BEFORE


def test_what_is_told_of_it_is_what_the_page_shows() -> None:
    made = result(BEFORE, **ASKED)
    said = [
        *telling.lines("cronjob.yaml", made),
        *telling.accounts([made]),
        telling.summary([made]),
    ]
    assert ("text", "\n".join(said) + "\n") in BLOCKS


def test_the_shell_is_the_one_that_is_put_in() -> None:
    assert ("sh", sidecar.SCRIPT + "\n") in BLOCKS


def test_each_option_is_named_but_for_those_of_the_annotations() -> None:
    flags = {name for one in command.params for name in one.opts if name.startswith("--")}
    wanted = {flag for flag in flags if flag.removeprefix("--") not in NAMES}
    assert {flag for flag in wanted if f"`{flag}" not in PAGE} == set()


def test_each_variable_and_container_is_named() -> None:
    shown = set(re.findall(r"K8SJOB(_[A-Z_]+)", PAGE)) | set(re.findall(r"`(_[A-Z_]+)`", PAGE))
    text = covered(BEFORE, mode="sidecar", annotations={"cycle": "day", "job": "a/b"})
    assert {*re.findall(r"name: K8SJOB(_[A-Z_]+)", text)} <= shown
    for name in (sidecar.RESOLVE, sidecar.SIDECAR):
        assert f"`{name}`" in PAGE
