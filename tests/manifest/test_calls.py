"""What of k8sjob a container starts by itself, and what only looks like it."""

from __future__ import annotations

import json

import pytest

from k8sjob.cli.main import COMMANDS
from k8sjob.manifest.calls import BESIDE, HOUSEKEEPING, RUN, Calls, calls
from k8sjob.manifest.case import cases
from k8sjob.manifest.read import Document, documents
from tests.manifest.manifests import NOW, cronjob

OWN = '              command: [k8sjob, run, "billing.credit:credit"]\n'
NONE = ((), True)


def called(line: str, image: str = "billing:1.4") -> Calls:
    """Return what a container of this image calls that has this line in its manifest."""
    text = cronjob(container=line).replace(OWN, "").replace("billing:1.4", image)
    (document,) = documents(text)
    assert isinstance(document, Document)
    (case,) = cases(document, NOW)
    (container,) = case.containers()
    return calls(container)


def shell(text: str) -> Calls:
    """Return what a shell's text calls."""
    return called(f"command: [sh, -c, {json.dumps(text)}]")


def test_each_command_is_known_for_what_it_is() -> None:
    assert {RUN, *BESIDE, *HOUSEKEEPING} == {*COMMANDS}


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("command: [k8sjob, run, a:b]", "run"),
        ("command: [/usr/local/bin/k8sjob, prune, -A]", "prune"),
        ("command: [k8sjob]\nargs: [run, a:b]", "run"),
        ("command: [k8sjob, --by, run, -n, get, --no-color, reconcile]", "reconcile"),
        ("command: [python3.13, -u, -m, k8sjob, run, a:b]", "run"),
        ("command: [/usr/bin/tini, -g, --, k8sjob, run, a:b]", "run"),
        ("command: [env, A=b, k8sjob, run, a:b]", "run"),
        ("command: [sh, -c]\nargs: [k8sjob run a:b]", "run"),
        ("command: [bash, -euo, pipefail, -c, k8sjob run a:b]", "run"),
        ("command: [/bin/busybox, sh, -ec, k8sjob run a:b]", "run"),
        ("command: [uv, run, k8sjob, run, a:b]", "run"),
        ("command: [ddtrace-run, k8sjob, run, a:b]", "run"),
        ("command: [timeout, 1h, k8sjob, run, a:b]", "run"),
        ("command: [timeout, '300', k8sjob, reconcile]", "reconcile"),
        ("command: [gosu, app, /venv/bin/k8sjob, run, a:b]", "run"),
        ("command: [nice, -n, '10', k8sjob, run, a:b]", "run"),
        ("command: [env, -u, X, k8sjob, run, a:b]", "run"),
        ("command: [python3, /usr/bin/k8sjob, run, a:b]", "run"),
        ("command: [sh, -c, timeout 1h k8sjob run a:b]", "run"),
        ("command: [sh, -c, 'exec k8sjob \"$@\"', --, run, a:b]", "run"),
        ("args: [resolve, --write, /k8sjob]", "resolve"),
        ("args: [resolve, --write=/k8sjob]", "resolve"),
    ],
)
def test_what_is_started_is_seen(line: str, name: str) -> None:
    assert called(line).commands == (name,)


@pytest.mark.parametrize(
    "line",
    [
        "args: [migrate]",
        "args: [prune, --all]",
        "args: [run, report]",
        "command: []\nargs: [run, report]",
        "command: [psql, -c, set search_path to k8sjob]",
        "command: [psql, -c, k8sjob run]",
        "command: [ls, /data/k8sjob]",
        "command: [ls, k8sjob, run]",
        "command: [python, -m, other, k8sjob, run]",
        "command: [python, k8sjob, run]",
        "command: [sh, k8sjob, run]",
        "command: [sh, -c, ./credit, k8sjob, run]",
        "command: [k8sjob-report, run]",
        "command: [timeout, 1h, ./credit, --schema, k8sjob]",
        "command: [timeout, 1h, ls, k8sjob]",
        "args: [resolve, host.example]",
        "command: [python]",
        "tty: true",
    ],
)
def test_what_only_looks_like_it_is_not(line: str) -> None:
    assert called(line) == NONE


@pytest.mark.parametrize(
    "image",
    [
        "k8sjob",
        "k8sjob-control:0.1.0",
        "registry.example:5000/team/k8sjob:0.1.0",
        "registry.example/k8sjob@sha256:0a",
        "k8sjob:0.1.0@sha256:0a",
    ],
)
def test_arguments_alone_are_believed_of_the_images_that_start_k8sjob(image: str) -> None:
    assert called("args: [migrate]", image).keeps_house
    assert called("args: [run, a:b]", image).covers


@pytest.mark.parametrize("image", ["k8sjob/credit:1", "a/k8sjob-billing:1", "a/billing:k8sjob"])
def test_arguments_alone_are_not_believed_of_any_other(image: str) -> None:
    assert called("args: [migrate]", image) == NONE


@pytest.mark.parametrize(
    "text",
    [
        "k8sjob run a.sql",
        "cd /app && exec k8sjob run a.sql",
        "cd /app || exit 1; k8sjob run a.sql",
        "set -e\n# the night's work; really\nk8sjob run a.sql >/tmp/out 2>&1\n",
        "cd /app # there\nk8sjob run a.sql",
        "A=b k8sjob \\\n  run a.sql",
        "if [ -e /go ]; then k8sjob run a.sql; fi",
        "(k8sjob run a.sql)",
        "echo 'starts; now' && /opt/k8sjob 'run' \"a.sql\"",
        "k8sjob doctor && k8sjob run a.sql",
    ],
)
def test_a_command_in_a_shells_text_is_seen(text: str) -> None:
    assert shell(text).covers


@pytest.mark.parametrize(
    "text",
    [
        "echo k8sjob run",
        "echo 'first; k8sjob run a:b'",
        'psql -c "set search_path to k8sjob; run"',
        "./credit # k8sjob run a:b",
        "./credit k8sjob run",
        "cd /data && ls k8sjob run",
        "k8sjob report",
        "k8sjob=1 run",
    ],
)
def test_a_word_in_a_shells_text_is_none(text: str) -> None:
    assert shell(text).commands == ()


@pytest.mark.parametrize(
    ("text", "is_own"),
    [
        ("k8sjob prune -A", True),
        ("set -eu; . /venv/bin/activate && exec k8sjob prune -A 2>&1", True),
        ("k8sjob doctor && k8sjob prune -A; echo done", True),
        ("k8sjob doctor && ./credit", False),
        ("./credit; k8sjob confirm billing/credit:2026-09-12", False),
    ],
)
def test_only_what_does_nothing_else_keeps_house(text: str, *, is_own: bool) -> None:
    made = shell(text)
    assert made.commands
    assert not made.covers
    assert made.keeps_house == is_own
