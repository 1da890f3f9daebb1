"""A command that waits in a container ends when it is asked to, not when its grace is over."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

_PATIENCE = 20.0


def test_a_waiting_command_ends_at_once(pid_1: list[str]) -> None:
    command = [sys.executable, "-m", "k8sjob", "migrate", "--wait", "90s"]
    env = {**os.environ, "K8SJOB_DSN": "postgresql://k8sjob@127.0.0.1:1/nowhere"}
    with subprocess.Popen(
        [*pid_1, *command], env=env, stderr=subprocess.PIPE, text=True
    ) as outside:
        assert outside.stderr
        assert outside.stderr.readline().startswith("waiting up to 90 s")
        children = Path(f"/proc/{outside.pid}/task/{outside.pid}/children").read_text()
        os.kill(int(children), signal.SIGTERM)
        assert outside.wait(_PATIENCE) == 128 + signal.SIGTERM
