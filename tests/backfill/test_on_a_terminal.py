"""A bar where somebody watches."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.backfill.conftest import JOB, World, day, name
from tests.kube.made import ending

if TYPE_CHECKING:
    from collections.abc import Callable


def watched(
    world: World, *args: str, until: bytes = b"", then: Callable[[], object] | None = None
) -> tuple[int, str, str]:
    """Run the command with a terminal for its standard error; return its code and both outputs.

    ``then`` is called once ``until`` is on the terminal.
    """
    ours, theirs = pty.openpty()
    env = os.environ | {"K8SJOB_DSN": world.db.dsn("operator"), "TERM": "xterm"}
    command = [sys.executable, "-m", "k8sjob", "backfill", JOB, "--kubeconfig", world.kubeconfig]
    with subprocess.Popen(
        [*command, *args],
        env=env,
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        stderr=theirs,
    ) as running:
        os.close(theirs)
        said = b""
        try:
            while chunk := os.read(ours, 4096):
                said += chunk
                if then and until in said:
                    act, then = then, None
                    act()
        except OSError:  # the other end is closed: Linux says EIO
            pass
        finally:
            os.close(ours)
        assert running.stdout
        out = running.stdout.read().decode()
    return running.returncode, out, said.decode()


def test_a_bar_shows_how_far_it_is_and_only_what_is_worth_it_is_told(world: World) -> None:
    def at_once(job: dict[str, Any]) -> None:
        if job["metadata"]["name"] == name(2):
            world.done(job["metadata"]["annotations"]["k8sjob.io/period"])
        end = "Complete" if job["metadata"]["name"] == name(2) else "Failed"
        job["status"] = {"active": 0, **ending(end, day(0))}

    world.api.on_create = at_once
    flags = ("--from", day(2), "--to", day(1), "--parallelism", "2", "--wait")
    code, out, said = watched(world, *flags)
    assert code == 1
    assert out.splitlines()[0].split() == ["PERIOD", "ACTION", "JOB", "REASON"]
    assert "backfill" in said
    assert "100%" in said
    assert f"{day(2)}  done" not in said
    assert f"{day(1)}  not done; Job {name(1)} is Failed: BackoffLimitExceeded" in said
    assert "2 created; 1 done, 1 not done" in said


def test_the_bar_tells_of_failed_tries_while_a_job_goes_on(world: World) -> None:
    def tries(job: dict[str, Any]) -> None:
        job["status"] |= {"active": 1, "failed": 2}

    world.api.on_create = tries
    code, _out, said = watched(
        world,
        *("--from", day(1), "--to", day(1), "--wait"),
        until=b"backfill, 1 failed try",
        then=world.finish,
    )
    assert code == 0
    assert "100%" in said
