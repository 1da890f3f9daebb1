"""docs/kubectl-plugin.md says what the plugin does."""

from __future__ import annotations

import re

import pytest
from ruamel.yaml import YAML

from tests.plugin.conftest import PLUGIN, ROOT

PAGE = (ROOT / "docs" / "kubectl-plugin.md").read_text("utf-8")
SCRIPT = PLUGIN.read_text("utf-8")


def test_each_variable_stands_in_the_page_and_none_besides() -> None:
    read = set(re.findall(r"\$\{(K8SJOB_[A-Z_]+)", SCRIPT))

    assert read == set(re.findall(r"K8SJOB_[A-Z_]+", PAGE))


@pytest.mark.parametrize("option", re.findall(r"^\t(--\w[\w-]+)\) value", SCRIPT, re.MULTILINE))
def test_each_option_stands_in_the_page(option: str) -> None:
    assert f"`{option}" in PAGE


def test_each_exit_code_of_its_own_stands_in_the_page() -> None:
    codes = dict(re.findall(r"(\w+)=(\d\d)\b", SCRIPT.partition("# k8sjob's own")[0]))

    assert codes.keys() == {"usage", "unavailable", "denied", "config"}
    for code in codes.values():
        assert re.search(rf"\b{code}\b", PAGE)


def test_the_role_allows_what_is_asked() -> None:
    role, binding = YAML(typ="safe").load_all(re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)[0])
    rights = {(*rule["apiGroups"], *rule["resources"]): rule["verbs"] for rule in role["rules"]}

    assert rights == {
        ("apps", "deployments"): ["get", "list"],
        ("", "pods"): ["get", "list"],
        ("", "pods/exec"): ["create", "get"],
    }
    assert binding["roleRef"]["name"] == role["metadata"]["name"]
