"""Helm as a person types it, on the cluster of these tests.

``K8SJOB_E2E_HELM`` names the program, else the one on PATH, else the one beside the node's scripts.
"""

from __future__ import annotations

import io
import json
import lzma
import os
import shutil
import subprocess
import tarfile
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.e2e.cluster import Told
from tests.e2e.images import ROOT, CannotMeet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.cluster import Object
    from tests.e2e.scene import Scene

CHARTS = ROOT / "charts"
_HELM_S = 360


@dataclass(frozen=True)
class Helm:
    """``program`` on a cluster, in one namespace; values go into files of ``folder``."""

    program: str
    kubeconfig: Path
    namespace: str
    folder: Path

    def run(self, *words: str) -> Told:
        """Run Helm to its end."""
        state = {f"HELM_{kind}_HOME": str(self.folder / kind) for kind in ("CACHE", "DATA")}
        state["HELM_CONFIG_HOME"] = str(self.folder / "CONFIG")
        done = subprocess.run(
            [self.program, "-n", self.namespace, *words],
            env={**os.environ, **state, "KUBECONFIG": str(self.kubeconfig)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_HELM_S,
            check=False,
        )
        return Told(done.returncode, done.stdout, done.stderr)

    def put(self, verb: str, release: str, chart: Path, values: Object, *flags: str) -> Told:
        """Install or upgrade a release."""
        file = self.folder / f"{release}.json"  # JSON is YAML
        file.write_text(json.dumps(values))
        return self.run(verb, release, str(chart), "-f", str(file), *flags)


@contextmanager
def helm(scene: Scene) -> Iterator[Helm]:
    """Give Helm for the scene's namespace. Raises CannotMeet."""
    with tempfile.TemporaryDirectory(prefix="k8sjob-") as folder:
        program = find_program(Path(folder))
        yield Helm(program, scene.cluster.kubeconfig, scene.namespace, Path(folder))


def find_program(folder: Path) -> str:
    """Return Helm's path, unpacked into ``folder`` if need be. Raises CannotMeet."""
    if found := os.environ.get("K8SJOB_E2E_HELM") or shutil.which("helm"):
        return found
    up = Path(os.environ.get("K8SJOB_CLUSTER", "../shared/cluster/up"))
    packed = (ROOT / up).with_name("bin") / "helm.xz"
    if not packed.exists():
        raise CannotMeet("helm is not on PATH; K8SJOB_E2E_HELM may name it")
    program = folder / "helm"
    with lzma.open(packed) as source, program.open("wb") as target:
        shutil.copyfileobj(source, target)
    program.chmod(0o755)
    return str(program)


def of_parent_commit(chart: str, folder: Path) -> Path | None:
    """Unpack a chart as the parent commit has it; None where that has none, or there is no Git."""
    if not (git := shutil.which("git")):
        return None
    words = (git, "archive", "--format=tar", "HEAD^", f"charts/{chart}")
    done = subprocess.run(words, cwd=ROOT, capture_output=True, timeout=60, check=False)
    if done.returncode:
        return None
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as tar:
        tar.extractall(folder, filter="data")
    found = folder / "charts" / chart
    return found if (found / "Chart.yaml").exists() else None
