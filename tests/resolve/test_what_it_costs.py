"""A period that is passed costs one look at the ledger, and nothing is loaded for it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.resolve.pod import ago, text, track
from tests.run.commandline import CREDIT, JOB, PERIOD, CommandLine
from tests.wire import WireProxy

NOT_LOADED = (
    *(
        "k8sjob.schedule",
        "k8sjob.expect",
        "k8sjob.policy",
        "k8sjob.kube",
        "k8sjob.run.origin.resolve",
    ),
    *(
        "k8sjob.run.origin.context_file",
        "zoneinfo",
        "tzdata",
        "http",
        "ssl",
        "urllib.request",
        "asyncio",
    ),
)
#: What the driver loads by itself is its own.
CALL = """
import sys, {driver}
before = set(sys.modules)
from k8sjob.cli.main import main
try:
    main(sys.argv[1:])
finally:
    print("loaded:", [name for name in {names} if name in set(sys.modules) - before])
"""


def loaded(cli: CommandLine, *args: str) -> str:
    """Return which of these modules a run has loaded, in a process of its own."""
    env = {**os.environ, "K8SJOB_DSN": cli.store.dsn}
    driver = "sqlite3" if cli.store.kind == "sqlite" else "psycopg"
    code = CALL.format(driver=driver, names=NOT_LOADED)
    command = [sys.executable, "-c", code, "run", cli.file(CREDIT), *args]
    told = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    return told.stdout.partition("loaded: ")[2].strip()


def test_a_period_that_is_passed_loads_no_schedule_no_zone_and_no_api(cli: CommandLine) -> None:
    assert loaded(cli, "--job", JOB, "--period", "2026-01-01T00:00:00Z") == "[]"


def test_what_is_said_not_to_be_loaded_is_what_is_loaded_elsewhere(pg: CommandLine) -> None:
    track(pg, "* * * * *")

    found = loaded(pg, "--job", JOB, "--period", text(ago(minutes=2)))

    for name in ("k8sjob.schedule", "k8sjob.expect", "tzdata"):
        assert name in found


@pytest.mark.parametrize("tracked", [False, True])
def test_a_period_that_is_passed_costs_one_look(pg: CommandLine, *, tracked: bool) -> None:
    if tracked:
        track(pg, "0 0 * * *")
    period = text(ago(days=1).replace(hour=0, minute=0)) if tracked else PERIOD
    with WireProxy(pg.store.dsn) as proxy, proxy.counting() as trips:
        told = pg.run(pg.file(CREDIT), period=period, dsn=proxy.conninfo())
        count = trips.count

    assert told.code == 0, told.text
    # The look, the start row, BEGIN, the claim, the work, the seal, COMMIT, the end row.
    assert count == 8
