"""docs/backfill.md says what the code does."""

from __future__ import annotations

import re
from pathlib import Path

from click.testing import CliRunner

from k8sjob.backfill.plan import Action
from k8sjob.cli.backfill import command
from k8sjob.kube.manifest import TTL_S

PAGE = (Path(__file__).parents[2] / "docs" / "backfill.md").read_text("utf-8")


def section(title: str) -> str:
    return PAGE.split(f"## {title}\n")[1].split("\n## ")[0]


def test_every_action_is_explained() -> None:
    explained = re.findall(r"^\| `(\w+)` \|", section("What becomes of each"), re.MULTILINE)
    assert set(explained) == set(Action) - {Action.RUN}


def test_every_flag_of_the_page_is_one_of_the_command() -> None:
    flags = {option for param in command.params for option in param.opts}
    assert set(re.findall(r"(?<![\w-])(--[a-z-]+[a-z])", PAGE)) <= flags


def test_the_defaults_are_those_of_the_command() -> None:
    defaults = {param.name: param.default for param in command.params}
    assert f"`--max` ({defaults['most']})" in PAGE
    assert f"`--parallelism N` ({defaults['parallelism']})" in PAGE
    assert f"ttlSecondsAfterFinished: {TTL_S}`" in PAGE


def test_the_rights_are_those_that_a_test_has_found_to_be_enough() -> None:
    rights = re.findall(r'resources: \["(\w+)"\], verbs: \[(.*)\]\}', section("Rights"))
    found = {(verb, resource) for resource, verbs in rights for verb in re.findall(r"\w+", verbs)}
    assert found == {("get", "cronjobs"), ("create", "jobs"), ("get", "jobs"), ("list", "jobs")}


def test_the_help_fits_on_a_screen_as_it_is_printed() -> None:
    told = CliRunner().invoke(command, ["--help"])
    assert told.exit_code == 0
    assert max(map(len, told.output.splitlines())) <= 90
