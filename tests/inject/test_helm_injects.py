"""docs/inject.md, CronJobs that Helm deploys: what stands there does it."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from tests.fix_helm4 import with_k8sjob
from tests.inject.examples import COMMENTED, OTHERS
from tests.inject.injected import covered, cronjobs, objects, refusal

if TYPE_CHECKING:
    from tests.fix_helm4 import Helm4

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "inject.md").read_text("utf-8")
SECTION = PAGE.partition("\n## CronJobs that Helm deploys\n")[2].partition("\n## ")[0]
BLOCKS = dict(re.findall(r"^```(\w+)\n(.*?)^```$", SECTION, flags=re.DOTALL | re.MULTILINE))
INSTALL, UPGRADE = (line.removeprefix("$ helm ").split() for line in BLOCKS["console"].splitlines())
OWNED = {"owner": "payments"}


def with_chart(helm: Helm4, template: str) -> Helm4:
    """Install the plugin as the page says, and write a chart of one template."""
    plugin, templates = helm.folder / "k8sjob-inject", helm.folder / "chart" / "templates"
    plugin.mkdir()
    (plugin / "plugin.yaml").write_text(BLOCKS["yaml"])
    templates.mkdir(parents=True)
    (templates.parent / "Chart.yaml").write_text("apiVersion: v2\nname: billing\nversion: 0.1.0\n")
    (templates / "all.yaml").write_text(template)
    done = helm.run(*INSTALL)
    assert done.returncode == 0, done.stderr
    return helm


def rendered(helm: Helm4) -> subprocess.CompletedProcess[str]:
    """Render the chart with the flags of the page's upgrade, for which no cluster is needed."""
    assert UPGRADE[:2] == ["upgrade", "--install"]
    return helm.run("template", *UPGRADE[2:])


def test_what_helm_4_deploys_is_covered_by_the_plugin(helm4: Helm4) -> None:
    text = f"{COMMENTED}---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: other}}\n"
    done = rendered(with_chart(helm4, text.replace("daily-credit", "{{ .Release.Name }}-credit")))
    assert done.returncode == 0, done.stderr
    named = text.replace("daily-credit", "billing-credit")
    by_kind = {one["kind"]: one for one in objects(done.stdout)}
    assert by_kind == {one["kind"]: one for one in objects(covered(named, annotations=OWNED))}


def test_what_cannot_be_covered_ends_the_upgrade(helm4: Helm4) -> None:
    text = COMMENTED.replace("command:", "args:", 1).replace("args: [", "x: [")
    assert "has no command" in refusal(text)
    done = rendered(with_chart(helm4, text))
    assert done.returncode != 0
    assert "CronJob" not in done.stdout


def test_the_program_for_helm_3_passes_a_stream_through(tmp_path: Path) -> None:
    with_k8sjob(tmp_path / "bin")
    program = tmp_path / "k8sjob-inject.sh"
    program.write_text(BLOCKS["sh"])
    program.chmod(0o755)
    text = f"---\n{OTHERS}---\n{COMMENTED}"
    done = subprocess.run(
        [program],
        input=text,
        env={"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout == covered(text, annotations=OWNED)
    assert cronjobs(done.stdout)
