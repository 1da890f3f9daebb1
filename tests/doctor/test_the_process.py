"""The command as a process, as in the entrypoint's image."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.doctor.mute import mute_server

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.fix_stores import Database
    from tests.inside.apiserver import ApiServer

ROOT = Path(__file__).parents[2]

#: What the image of the entrypoint has not: the extras of the package.
_WITHOUT_EXTRAS = """
import sys
for name in ("kubernetes", "prometheus_client", "starlette", "uvicorn", "ruamel", "urllib3"):
    sys.modules[name] = None
from k8sjob.cli.main import main
main(sys.argv[1:])
"""


def run(env: Mapping[str, str], *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", _WITHOUT_EXTRAS, "doctor", *args],
        env={"PYTHONPATH": str(ROOT), "PYTHONUTF8": "1", **env},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def test_the_core_of_the_package_is_enough(db: Database, api_server: ApiServer) -> None:
    from tests.inside.apiserver import answer

    api_server.script = [answer(201, {"status": {"allowed": True}})]

    ended = run({"K8SJOB_DSN": db.dsn(), **api_server.env}, "-o", "json")

    assert (ended.returncode, ended.stderr) == (0, "")
    found = {check["check"]: check["status"] for check in json.loads(ended.stdout)["checks"]}
    assert (found["grants"], found["rbac"]) == ("ok", "ok")


def test_the_process_ends_though_a_server_keeps_its_thread() -> None:
    with mute_server() as dsn:
        began = time.monotonic()
        ended = run({"K8SJOB_DSN": dsn}, "--timeout", "500ms")
        took_s = time.monotonic() - began

    assert ended.returncode == 1
    assert "no answer within 0.5 s" in ended.stdout
    assert took_s < 9, "longer than libpq itself would have waited"
