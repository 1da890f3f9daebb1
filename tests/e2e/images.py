"""The images that the Pods run: those that the environment names, or built from this checkout.

``K8SJOB_E2E_IMAGE`` (and ``K8SJOB_E2E_CONTROL_IMAGE``, by default the same) and
``K8SJOB_E2E_POSTGRES_IMAGE`` name what the cluster can pull.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.fix_docker import build_image

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.cluster import Cluster

ROOT = Path(__file__).parents[2]
_BUILT = {"entrypoint": "k8sjob-e2e:test", "control": "k8sjob-e2e-control:test"}
_POSTGRES = "postgres:15"
_LOAD_S = 180


class CannotMeet(Exception):
    """There is no image for the Pods; the tests are skipped and the run says so."""


@dataclass(frozen=True)
class Images:
    """Names of images, as Pods name them."""

    entrypoint: str
    control: str
    postgres: str


def images(cluster: Cluster) -> Images:
    """Return images that the cluster can run. Raises CannotMeet."""
    postgres = os.environ.get("K8SJOB_E2E_POSTGRES_IMAGE")
    if given := os.environ.get("K8SJOB_E2E_IMAGE"):
        control = os.environ.get("K8SJOB_E2E_CONTROL_IMAGE", given)
        return Images(given, control, postgres or _in_pods(_POSTGRES))
    load = _loader()
    for target, tag in _BUILT.items():
        build_image(tag, f"--target={target}")
    wanted = list(_BUILT.values())
    if not postgres and _in_pods(_POSTGRES) not in _on_nodes(cluster):
        wanted.append(_POSTGRES)
    _run(str(load), *wanted, seconds=_LOAD_S)
    built = {target: _in_pods(tag) for target, tag in _BUILT.items()}
    return Images(**built, postgres=postgres or _in_pods(_POSTGRES))


def _loader() -> Path:
    up = Path(os.environ.get("K8SJOB_CLUSTER", "../shared/cluster/up"))
    load = (ROOT / up).with_name("load")
    if not os.access(load, os.X_OK):
        raise CannotMeet("K8SJOB_E2E_IMAGE names no image, and no script loads one into the node")
    if not shutil.which("docker"):
        raise CannotMeet("K8SJOB_E2E_IMAGE names no image, and no docker is here to build one")
    return load


def _run(*words: str, seconds: float) -> None:
    done = subprocess.run(
        words,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    if done.returncode:
        said = "\n".join(f"{done.stdout}{done.stderr}".splitlines()[-20:])
        raise AssertionError(f"{' '.join(words)} ended with {done.returncode}:\n{said}")


def _in_pods(name: str) -> str:
    return f"docker.io/library/{name}"


def _on_nodes(cluster: Cluster) -> Iterator[str]:
    for node in cluster.items("/api/v1/nodes"):
        for image in node["status"].get("images", ()):
            yield from image["names"]
