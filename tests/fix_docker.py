"""The project's images, built by a Docker daemon when the first test needs one."""

from __future__ import annotations

import json
import shutil
import subprocess
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from tests.fix_report import cannot_meet, expect, uses

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
DOCKER = "Docker images"
BASE = "python:3.13-slim"

#: As Pod security `restricted` has it, with a root that cannot be written.
LOCKED_DOWN = ["--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges"]

_BUILD_S, _RUN_S = 600, 100


@dataclass(frozen=True)
class Ended:
    """How a program ended and what it said."""

    code: int
    out: str
    err: str


def build_image(tag: str, *words: str, context: Path = ROOT, seconds: float = _BUILD_S) -> None:
    """Build an image; ``words`` are flags such as ``--target=control``.

    The host's network: behind a proxy a build reaches the package index in no other way.
    """
    told = call("build", "--network=host", f"--tag={tag}", *words, str(context), seconds=seconds)
    if told.code:
        said = "\n".join(f"{told.out}{told.err}".splitlines()[-20:])
        raise AssertionError(f"the image {tag} was not built:\n{said}")


def call(*words: str, stdin: str | None = None, seconds: float = _RUN_S) -> Ended:
    """Run docker's client to its end."""
    done = subprocess.run(
        [shutil.which("docker") or "docker", *words],
        input=stdin or "",
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    return Ended(done.returncode, done.stdout, done.stderr)


@dataclass
class Docker:
    """A daemon; what is made through this is gone at the end."""

    _ends: ExitStack
    _built: dict[str, str] = field(default_factory=dict)

    def image(self, target: str) -> str:
        """Return the image of a target of the Dockerfile, built once in a run."""
        if target not in self._built:
            # Its parents stay, or the next run would build all of it again.
            self._built[target] = self._build(["--no-prune"], f"--target={target}")
        return self._built[target]

    def build(self, *words: str, context: Path = ROOT) -> str:
        """Build an image of this run; return its name."""
        return self._build([], *words, context=context)

    def _build(self, removal: list[str], *words: str, context: Path = ROOT) -> str:
        name = f"k8sjob-test:{uuid4().hex[:12]}"
        self._ends.callback(call, "rmi", "--force", *removal, name)
        build_image(name, *words, context=context)
        return name

    def run(self, *words: str, stdin: str | None = None) -> Ended:
        """Run a container to its end; it is gone then."""
        interactive = [] if stdin is None else ["--interactive"]
        return call("run", "--rm", *interactive, *words, stdin=stdin)

    def start(self, *words: str) -> str:
        """Start a container; return its name."""
        name = f"k8sjob-test-{uuid4().hex[:12]}"
        self._ends.callback(call, "rm", "--force", name)
        assert call("run", "--detach", f"--name={name}", *words).code == 0
        return name

    def volume(self) -> str:
        """Return a new volume that everybody may write to, as an emptyDir."""
        name = f"k8sjob-test-{uuid4().hex[:12]}"
        assert call("volume", "create", name).code == 0
        self._ends.callback(call, "volume", "rm", "--force", name)
        code = "import os; os.chmod('/made', 0o777)"
        words = ["--user=0", "--entrypoint=python3", f"--volume={name}:/made", BASE, "-c", code]
        assert self.run(*words).code == 0
        return name

    def look_at(self, name: str) -> Any:
        """Return what the daemon tells of an image or a container."""
        return json.loads(call("inspect", name).out)[0]


def pytest_configure(config: pytest.Config) -> None:
    """Give the images a closing line."""
    expect(config, DOCKER)


@pytest.fixture(scope="session")
def _docker(request: pytest.FixtureRequest) -> Iterator[Docker | None]:
    if why := _why_not(request.config):
        cannot_meet(request.config, DOCKER, why)
        yield None
        return
    with ExitStack() as ends:
        yield Docker(ends)


@pytest.fixture
def docker(request: pytest.FixtureRequest, _docker: Docker | None) -> Docker:
    """Return the daemon, or skip the test where there is none."""
    if _docker is None:
        pytest.skip(f"{DOCKER}: no daemon that builds them")
    uses(request.node, DOCKER)
    return _docker


def _why_not(config: pytest.Config) -> str | None:
    if config.getoption("--no-server"):
        return "left out by --no-server"
    if not shutil.which("docker"):
        return "no docker on this machine"
    if call("version").code:
        return "no Docker daemon answers"
    if call("image", "inspect", BASE).code and call("pull", BASE, seconds=_BUILD_S).code:
        return f"the daemon has no {BASE} and cannot pull it"
    return None
