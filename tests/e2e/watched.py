"""A Prometheus on this machine that loads the rules which a release put into the cluster."""

from __future__ import annotations

import json
import re
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.seen.programs import answering, free_port
from tests.seen.prometheus import Prometheus

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.e2e.cluster import Object
    from tests.e2e.scene import Scene

STORE = "Prometheus beside the cluster"
PROGRAM = "prometheus"


def is_here() -> bool:
    """Whether there is a Prometheus."""
    return shutil.which(PROGRAM) is not None


def why_not() -> str:
    """Return why there is none, empty where there is one."""
    return "" if is_here() else f"{PROGRAM} is not on PATH"


@contextmanager
def prometheus(scene: Scene, service: str, rules: Object, folder: Path) -> Iterator[Prometheus]:
    """Scrape ``service`` each second; ``rules`` is the spec of a PrometheusRule."""
    forward = ("port-forward", "-n", scene.namespace, f"service/{service}", ":8080")
    with scene.cluster.running(*forward) as said:
        match = re.search(r"127\.0\.0\.1:(\d+) ->", said.readline())
        assert match, "kubectl forwards no port"
        # Looked at as often as scraped; nothing else of them is changed.
        groups = [group | {"interval": "1s"} for group in rules["groups"]]
        (folder / "rules.json").write_text(json.dumps({"groups": groups}))
        config = {
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": ["rules.json"],
            "scrape_configs": [
                {
                    "job_name": "k8sjob",
                    "honor_labels": True,
                    "static_configs": [{"targets": [f"127.0.0.1:{match[1]}"]}],
                }
            ],
        }
        (folder / "prometheus.json").write_text(json.dumps(config))
        port = free_port()
        words = (
            PROGRAM,
            f"--config.file={folder / 'prometheus.json'}",
            f"--storage.tsdb.path={folder / 'data'}",
            f"--web.listen-address=127.0.0.1:{port}",
        )
        with answering(folder, PROGRAM, words, (port, "/-/ready")):
            yield Prometheus(port)
