"""Both images, built and run."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from k8sjob.cli.main import COMMANDS
from k8sjob.version import __version__
from tests.fix_docker import BASE, LOCKED_DOWN, ROOT, Docker, call
from tests.image.recipes import PAGE
from tests.image.registry import serving

TARGETS = ("entrypoint", "control")
MOST_MB = 30

#: Modules that were imported without a compiled file beside them.
UNCOMPILED = """
import os, sys, {modules}
print([name for name, module in sys.modules.items()
       if (file := getattr(module, "__cached__", None)) and not os.path.exists(file)])
"""
STRIPPED = """
FROM {image}
COPY strip.py /
USER 0
RUN ["python3", "/strip.py"]
USER 65532:65532
"""
STRIP = """
import os, shutil
for path in ("/bin/sh", "/bin/dash", "/bin/bash", "/usr/bin/env"):
    os.remove(path)
shutil.rmtree("/usr/share/zoneinfo")
"""


@pytest.mark.parametrize("target", TARGETS)
def test_it_runs_as_nobody_on_a_read_only_root(docker: Docker, target: str) -> None:
    told = docker.run(*LOCKED_DOWN, docker.image(target), "version")

    assert (told.code, told.out, told.err) == (0, f"k8sjob {__version__}\n", "")


@pytest.mark.parametrize("target", TARGETS)
def test_what_a_pod_inherits(docker: Docker, target: str) -> None:
    config = docker.look_at(docker.image(target))["Config"]

    assert config["User"] == "65532:65532"
    assert config["Entrypoint"] == ["k8sjob"]
    assert not config["Cmd"]
    assert "PYTHONTZPATH=" in config["Env"]


@pytest.mark.parametrize(
    ("target", "modules"),
    [
        ("entrypoint", "k8sjob.cli.main, k8sjob.cli.run, k8sjob.run.entry, psycopg, zoneinfo"),
        ("control", "k8sjob.cli.reconcile, k8sjob.cli.serve, kubernetes.client, ruamel.yaml"),
    ],
)
def test_all_is_compiled(docker: Docker, target: str, modules: str) -> None:
    code = UNCOMPILED.format(modules=modules)

    told = docker.run("--entrypoint=python3", docker.image(target), "-c", code)

    assert (told.out, told.err) == ("[]\n", "")


def test_each_command_of_the_control_image_has_what_it_needs(docker: Docker) -> None:
    modules = [module for module, _ in COMMANDS.values()]
    code = f"import importlib\nfor name in {modules}: importlib.import_module(name)"

    told = docker.run("--entrypoint=python3", docker.image("control"), "-c", code)

    assert (told.code, told.err) == (0, "")


@pytest.mark.parametrize(("target", "most"), [("entrypoint", MOST_MB), ("control", None)])
def test_what_each_adds_to_its_base(docker: Docker, target: str, most: float | None) -> None:
    size, base = (docker.look_at(name)["Size"] for name in (docker.image(target), BASE))
    measured = (size - base) / 1e6

    print(f"{target}: {measured:.1f} MB over {BASE}")  # noqa: T201  # shown with -s
    promised = re.search(rf"\| `{target}`.* \| (\d+) MB", PAGE)
    assert promised
    assert abs(measured - int(promised[1])) < 2, "docs/images.md says another figure"
    assert most is None or measured <= most


def test_no_shell_and_no_zones_of_the_base_are_needed(docker: Docker, tmp_path: Path) -> None:
    text = STRIPPED.format(image=docker.image("entrypoint"))
    (tmp_path / "Dockerfile").write_text(text, "utf-8")
    (tmp_path / "strip.py").write_text(STRIP, "utf-8")
    image = docker.build(context=tmp_path)
    zone = ["preview", "30 2 * * *", "--time-zone=Europe/Berlin", "--from=2026-10-24", "--count=1"]

    assert docker.run("--entrypoint=/bin/sh", image, "-c", "true").code == 127
    told = docker.run(*LOCKED_DOWN, image, *zone)

    assert told.code == 0
    assert "2026-10-24T00:30:00Z" in told.out
    code = "import zoneinfo; print(zoneinfo.TZPATH, zoneinfo.ZoneInfo('Asia/Kolkata'))"
    told = docker.run("--entrypoint=python3", image, "-c", code)
    assert told.out == "() Asia/Kolkata\n"


def test_labels_and_a_base_by_its_digest_come_from_build_arguments(
    docker: Docker, tmp_path: Path
) -> None:
    given = {"VERSION": "9.8.7", "REVISION": "abc", "CREATED": "2026-09-13"}
    with serving(BASE, tmp_path) as pinned:
        words = [f"--build-arg={name}={value}" for name, value in given.items()]
        image = docker.build("--target=entrypoint", f"--build-arg=BASE={pinned}", *words)
        call("rmi", "--force", "--no-prune", pinned)

    labels = docker.look_at(image)["Config"]["Labels"]
    told = {name.removeprefix("org.opencontainers.image."): v for name, v in labels.items()}
    assert [told[name.lower()] for name in given] == [*given.values()]
    assert (told["title"], told["licenses"]) == ("k8sjob", "Apache-2.0")
    layers = [docker.look_at(name)["RootFS"]["Layers"] for name in (image, BASE)]
    assert layers[0][: len(layers[1])] == layers[1]
    assert docker.run(image, "version").code == 0


def test_without_arguments_the_version_is_that_of_the_package(docker: Docker) -> None:
    labels = docker.look_at(docker.image("control"))["Config"]["Labels"]

    assert labels["org.opencontainers.image.version"] == __version__


def test_only_what_a_build_reads_is_in_the_image(docker: Docker) -> None:
    code = "import os; print(sorted(os.listdir('/app')), os.path.exists('/src'))"

    told = docker.run("--entrypoint=python3", docker.image("control"), "-c", code)

    assert told.out == "[] False\n"


def test_hadolint_finds_nothing() -> None:
    beside = Path(sys.executable).with_name("hadolint")
    program = str(beside) if beside.exists() else shutil.which("hadolint")
    if program is None:
        pytest.skip("no hadolint on this machine")

    done = subprocess.run(
        [program, str(ROOT / "Dockerfile")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (done.returncode, done.stdout) == (0, "")
