"""What the containers run, run for real: with their arguments, variables and mounted files."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from psycopg import sql

import k8sjob
from tests.chart.control import dsns, pod, render
from tests.fix_report import uses
from tests.fix_stores import Database
from tests.serve.process import serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.fix_chart import Object, Rendered
    from tests.fix_servers import Server
    from tests.template import Role, Templates

pytestmark = pytest.mark.usefixtures("helm")

GRANTS = {who: [f"k8sjob_{who}"] for who in ("operator", "runner", "reader")}
VALUES = {"ledgers": {"shop": {"existingSecret": "shop-ledger", "grants": GRANTS}}}
ROLES: dict[str, Role] = {"owner": "owner", "operator": "operator", "reader": "reader"}


@pytest.fixture
def rendered() -> Rendered:
    """Render a release with one ledger, which has a name of its own."""
    return render(VALUES)


@pytest.fixture
def database(
    request: pytest.FixtureRequest, pg_server: Server, templates: Templates
) -> Iterator[Database]:
    """Give a database without a ledger, once per server."""
    uses(request.node, pg_server.name)
    templates.add(pg_server)  # for the roles
    database = Database(pg_server, f"k8sjob_t_{secrets.token_hex(6)}")
    name = sql.Identifier(database.name)
    with pg_server.admin() as server:
        server.execute(sql.SQL("CREATE DATABASE {} OWNER k8sjob_owner").format(name))
        try:
            yield database
        finally:
            database.close()
            server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(name))


def mounted(spec: Object, database: Database, folder: Path) -> str:
    """Put the DSNs where Kubernetes would: files that lead through a folder that it exchanges."""
    volume = folder / secrets.token_hex(4)
    (volume / "..2026_09_13").mkdir(parents=True)
    (volume / "..data").symlink_to("..2026_09_13")
    for ledger, (secret, key) in dsns(spec).items():
        assert secret == "shop-ledger"
        (volume / "..data" / ledger).write_text(database.dsn(ROLES[key]) + "\n", "utf-8")
        (volume / ledger).symlink_to(f"..data/{ledger}")
    return str(volume)


def environment(container: Object, volume: str) -> dict[str, str]:
    """Return a container's variables, and where its volume is here."""
    found = {one["name"]: one["value"] for one in container["env"]}
    return found | {"K8SJOB_LEDGERS_DIR": volume}


def ran(args: list[str], env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run the image's entrypoint to its end."""
    root = Path(k8sjob.__file__).parent.parent
    return subprocess.run(
        [sys.executable, "-m", "k8sjob", *args],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(root), **env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def migrate(rendered: Rendered, database: Database, folder: Path) -> str:
    """Run the hook's container, and return what it said."""
    spec = pod(rendered, "k8sjob-migrate")
    (container,) = spec["containers"]
    done = ran(container["args"], environment(container, mounted(spec, database, folder)))
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_hook_makes_the_ledger_and_can_run_again(
    rendered: Rendered, database: Database, tmp_path: Path
) -> None:
    said = migrate(rendered, database, tmp_path)
    assert said.startswith("applied 0001 ")
    for who in GRANTS:
        assert f"granted {who} to k8sjob_{who}\n" in said
    assert "applied" not in migrate(rendered, database, tmp_path)


def test_after_it_the_exporter_serves_the_ledger_by_its_name(
    rendered: Rendered, database: Database, tmp_path: Path
) -> None:
    migrate(rendered, database, tmp_path)
    spec = pod(rendered, "k8sjob-exporter")
    (container,) = spec["containers"]
    env = environment(container, mounted(spec, database, tmp_path))
    with serving("", **env) as server:
        assert server.get("/readyz").text == "ready: ledger shop answers\n"
        assert 'k8sjob_up{ledger="shop"} 1\n' in server.get("/metrics").text


def test_after_it_people_see_the_only_ledger_without_naming_it(
    rendered: Rendered, database: Database, tmp_path: Path
) -> None:
    migrate(rendered, database, tmp_path)
    spec = pod(rendered, "k8sjob-control")
    (container,) = spec["containers"]
    env = environment(container, mounted(spec, database, tmp_path))
    done = ran(["get", "jobs", "-A", "-o", "json"], env)
    assert done.returncode == 0, done.stderr
    held = ran(["block", "billing/daily-credit", "--reason", "a test", "--yes"], env)
    assert held.returncode == 0, "the operator's DSN is there: " + held.stderr


@pytest.mark.parametrize("who", ["reconcile", "serve"])
def test_doctor_finds_each_parts_login_right(
    rendered: Rendered, database: Database, tmp_path: Path, who: str
) -> None:
    """What it says of the cluster is not asked for: there is none."""
    migrate(rendered, database, tmp_path)
    spec = pod(rendered, f"k8sjob-test-{who}")
    (container,) = spec["containers"]
    env = environment(container, mounted(spec, database, tmp_path))
    done = ran([*container["args"], "-o", "json"], env)
    told = json.loads(done.stdout)
    said = {one["check"]: (one["status"], one["ledger"]) for one in told["checks"]}
    assert (done.returncode, told["for"]) == (0, who)
    assert said["grants"] == ("ok", "shop"), "it may too little, or more than it has to"
    assert said["settings"] == ("ok", None)
