"""The program ``helm`` of version 4: the engine in the wheel has no plugins."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.e2e.helm import find_program
from tests.e2e.images import CannotMeet
from tests.fix_report import cannot_meet, expect, uses

HELM_4 = "helm 4"
ROOT = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Helm4:
    """The program, with a folder of its own for plugins and for what it is given."""

    program: str
    folder: Path

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run it to its end in the folder, where ``k8sjob`` is on PATH."""
        homes = {
            f"HELM_{kind}_HOME": str(self.folder / kind) for kind in ("CACHE", "CONFIG", "DATA")
        }
        path = f"{self.folder / 'bin'}:{os.environ['PATH']}"
        return subprocess.run(
            [self.program, *words],
            cwd=self.folder,
            env={**os.environ, **homes, "PATH": path, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )


def pytest_configure(config: pytest.Config) -> None:
    """Give it a closing line."""
    expect(config, HELM_4)


@pytest.fixture(scope="session")
def _helm4_program(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> str:
    try:
        program = find_program(tmp_path_factory.mktemp("helm"))
    except CannotMeet as why:
        cannot_meet(request.config, HELM_4, str(why))
        return ""
    words = (program, "version", "--template", "{{.Version}}")
    said = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False).stdout
    if not said.startswith("v4."):
        cannot_meet(request.config, HELM_4, f"{program} is {said or 'no Helm'}")
        return ""
    return program


@pytest.fixture
def helm4(_helm4_program: str, tmp_path: Path, request: pytest.FixtureRequest) -> Helm4:
    """Return the program, or skip the test where there is none."""
    if not _helm4_program:
        pytest.skip(f"{HELM_4}: not on PATH, and K8SJOB_E2E_HELM names none")
    uses(request.node, HELM_4)
    with_k8sjob(tmp_path / "bin")
    return Helm4(_helm4_program, tmp_path)


def with_k8sjob(folder: Path) -> None:
    """Put the program ``k8sjob`` of this checkout into a new folder."""
    folder.mkdir()
    program = folder / "k8sjob"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m k8sjob "$@"\n')
    program.chmod(0o755)
