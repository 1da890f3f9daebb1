"""The recipes of docs/images.md, built and run word by word."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from ruamel.yaml import YAML

from tests.fix_docker import ROOT, call
from tests.image.job import NAMED
from tests.image.recipes import FILES, KEY, write

if TYPE_CHECKING:
    from tests.image.job import Job


def test_a_jobs_image_on_k8sjob(job: Job) -> None:
    write("on-k8sjob", job.folder)
    base = job.docker.image("entrypoint")
    image = job.docker.build(f"--build-arg=K8SJOB={base}", context=job.folder)

    first, second = job.run(image), job.run(image)

    assert (first.code, second.code) == (0, 0)
    assert "applied" in first.out + first.err
    assert "duplicate" in second.out + second.err
    assert job.balance() == 10


def test_the_entrypoint_in_somebody_elses_python_image(job: Job) -> None:
    write("into-python", job.folder)
    words = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-build-isolation", "--no-deps"]
    words += [f"--wheel-dir={job.folder / 'wheel'}", str(ROOT)]
    subprocess.run(words, timeout=100, check=True)
    dockerfile = job.folder / "Dockerfile"
    line = "RUN pip install --no-cache-dir k8sjob==0.1.0\n"
    text = dockerfile.read_text("utf-8")
    assert line in text
    built = f"COPY wheel /wheel\n{line.replace('k8sjob==0.1.0', '/wheel/*.whl')}"
    dockerfile.write_text(text.replace(line, built), "utf-8")
    image = job.docker.build(context=job.folder)

    first, second = job.run(image), job.run(image)

    assert (first.code, second.code) == (0, 0)
    assert "duplicate" in second.out + second.err
    assert job.balance() == 10
    assert job.docker.look_at(image)["Config"]["User"] == "10001:10001"


def test_an_image_of_any_language(job: Job) -> None:
    pod = YAML(typ="safe").load(FILES["any-language/pod.yaml"])
    (resolve, sidecar), (main,) = pod["initContainers"], pod["containers"]
    if call("image", "inspect", main["image"]).code:
        pytest.skip(f"the daemon has no {main['image']}")
    k8sjob = job.docker.image("entrypoint")
    assert {resolve["image"], sidecar["image"]} == {"k8sjob:0.1.0"}

    for outcome in ("applied", "duplicate"):
        shared = f"--volume={job.docker.volume()}:/k8sjob"
        found = job.docker.run(*job.flags, *NAMED, shared, k8sjob, *resolve["args"])
        assert found.code == 0, found.err
        books = job.docker.start(*job.flags, shared, k8sjob, *sidecar["args"])
        program, *args = main["command"]
        own = ["--user=65534", f"--entrypoint={program}", main["image"]]
        worked = job.docker.run(*job.flags, shared, *own, *args)
        assert worked.code == 0, worked.err
        assert call("stop", books).code == 0  # as the kubelet does
        assert job.docker.look_at(books)["State"]["ExitCode"] == 0
        assert job.balance() == 10
        told = job.query("SELECT outcome, exit_code FROM k8sjob.attempts ORDER BY started_at")
        assert told[-1] == (outcome, 0)
    assert job.query("SELECT job || ':' || period FROM k8sjob.periods") == [(KEY,)]
