"""What the Dockerfile repeats of other files, or has to hold whatever else changes in it."""

from __future__ import annotations

import re

import pytest

from k8sjob.version import __version__
from tests.docs.test_reference import ROOT

DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8")
LOCKS = sorted(set(re.findall(r"^COPY (requirements/\S+\.txt)", DOCKERFILE, re.MULTILINE)))


def test_the_label_has_the_version() -> None:
    assert re.findall(r"^ARG VERSION=(.*)$", DOCKERFILE, re.MULTILINE) == [__version__]


def test_each_stage_begins_with_the_base_that_can_be_pinned_or_with_another_stage() -> None:
    stages = re.findall(r"^FROM (\S+) AS (\S+)$", DOCKERFILE, re.MULTILINE)
    names = [name for _, name in stages]
    assert DOCKERFILE.count("\nFROM ") == len(stages)
    assert {image for image, _ in stages} <= {"${BASE}", *names}
    assert {"entrypoint", "control"} <= set(names)


def test_both_images_start_k8sjob_as_a_user_by_number() -> None:
    for target in ("entrypoint", "control"):
        stage = re.split(r"^FROM ", DOCKERFILE.split(f" AS {target}\n")[1], flags=re.MULTILINE)[0]
        assert re.search(r'^USER \d+:\d+$[\s\S]*^ENTRYPOINT \["k8sjob"\]$', stage, re.MULTILINE)


@pytest.mark.parametrize("lock", LOCKS)
def test_each_file_that_is_installed_is_known_by_its_hash(lock: str) -> None:
    lines = (ROOT / lock).read_text("utf-8").splitlines()
    pinned = [line for line in lines if re.match(r"[a-z0-9]", line)]
    assert pinned
    assert all("==" in line and line.endswith("\\") for line in pinned)
    assert not [line for line in lines if "://" in line]
    assert DOCKERFILE.count(f"-r {lock}") == DOCKERFILE.count("--require-hashes") / len(LOCKS)
