"""A Postgres in a Pod, behind a Service, with a migrated ledger to clone."""

from __future__ import annotations

import json
import re
import secrets
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from tests.e2e.cluster import until, value
from tests.e2e.manifests import migration, postgres_pod, postgres_service

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.cluster import Cluster, Object
    from tests.e2e.images import Images

ROLES = ("owner", "operator", "runner", "reader")
_TEMPLATE = "template_of_ledgers"
_START_S = 120

# The business: one account, a count of tries that no rollback takes back, and a gate that is open
# once it has given a number.
_BUSINESS = """
    CREATE SCHEMA app;
    CREATE TABLE app.accounts (name text PRIMARY KEY, balance integer NOT NULL);
    INSERT INTO app.accounts VALUES ('alice', 0);
    CREATE SEQUENCE app.tries;
    CREATE SEQUENCE app.gate;
    GRANT USAGE ON SCHEMA app TO k8sjob_runner;
    GRANT SELECT, UPDATE ON app.accounts TO k8sjob_runner;
    GRANT USAGE ON SEQUENCE app.tries TO k8sjob_runner;
    GRANT SELECT ON SEQUENCE app.gate TO k8sjob_runner;
"""


@dataclass(frozen=True)
class Postgres:
    """A running server; ``address`` is its Service's, since not each cluster has names."""

    cluster: Cluster
    namespace: str
    address: str
    password: str

    @classmethod
    def start(cls, cluster: Cluster, namespace: str, images: Images) -> Postgres:
        """Start a server with the roles and a migrated database."""
        password = secrets.token_urlsafe(18)
        cluster.apply(
            postgres_pod(namespace, images.postgres, password), postgres_service(namespace)
        )
        service = cluster.get(f"/api/v1/namespaces/{namespace}/services/postgres")
        server = cls(cluster, namespace, service["spec"]["clusterIP"], password)
        server.wait_until_ready()
        for role in ROLES:
            server.execute("postgres", f"CREATE ROLE k8sjob_{role} LOGIN PASSWORD '{password}'")
        server.make(_TEMPLATE)
        server.migrate(images)
        return server

    def wait_until_ready(self) -> None:
        """Return once it takes connections, and Pods are sent to it."""
        path = f"/api/v1/namespaces/{self.namespace}/pods/postgres"
        until("a ready Postgres", lambda: _is_ready(self.cluster.get(path)), seconds=_START_S)

    def restart(self) -> None:
        """End the server at once, as a failover does; the kubelet starts it again."""
        before = self._restarts()
        stop = ("exec", "-n", self.namespace, "postgres", "--", "sh", "-c", "kill -INT 1")
        assert self.cluster.kubectl(*stop).code in {0, 137}
        until("a new container", lambda: self._restarts() > before)
        self.wait_until_ready()

    def _restarts(self) -> int:
        pod = self.cluster.get(f"/api/v1/namespaces/{self.namespace}/pods/postgres")
        return sum(each["restartCount"] for each in pod["status"]["containerStatuses"])

    def migrate(self, images: Images) -> None:
        """Migrate the template in a Pod of our image, as its owner."""
        self.cluster.apply(migration(self.namespace, images.control, self.dsn("owner", _TEMPLATE)))
        path = f"/api/v1/namespaces/{self.namespace}/pods/migrate"
        phases = ("Succeeded", "Failed")
        until("the migration's end", lambda: _phase(self.cluster.get(path)) in phases)
        said = self.cluster.kubectl("logs", "-n", self.namespace, "migrate").out
        assert _phase(self.cluster.get(path)) == "Succeeded", said

    def clone(self, name: str) -> None:
        """Make a database with a ledger of its own."""
        self.execute("postgres", f'CREATE DATABASE "{name}" TEMPLATE {_TEMPLATE}')

    def make(self, name: str) -> None:
        """Make a database with the business and without a ledger."""
        self.execute("postgres", f'CREATE DATABASE "{name}" OWNER k8sjob_owner')
        self.execute(name, _BUSINESS)

    def drop(self, name: str) -> None:
        """Drop a database that nobody uses."""
        self.execute("postgres", f'DROP DATABASE "{name}"')

    @contextmanager
    def reached_from_here(self, role: str, database: str) -> Iterator[str]:
        """Give a URL that works on this machine, wherever the cluster is."""
        words = ("port-forward", "-n", self.namespace, "service/postgres", ":5432")
        with self.cluster.running(*words) as said:
            match = re.search(r"127\.0\.0\.1:(\d+) ->", said.readline())
            assert match, "kubectl forwards no port"
            inside = f"@{self.address}:5432/"
            yield self.dsn(role, database).replace(inside, f"@127.0.0.1:{match[1]}/")

    def dsn(self, role: str, database: str) -> str:
        """Return the URL of a database for a role."""
        login = f"k8sjob_{role}:{quote(self.password, safe='')}"
        return f"postgresql://{login}@{self.address}:5432/{database}"

    def execute(self, database: str, text: str) -> str:
        """Run SQL as the superuser, in the server's own Pod."""
        psql = ("psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-U", "postgres", "-d", database)
        where = ("exec", "-i", "-n", self.namespace, "postgres", "--")
        return self.cluster.kubectl(*where, *psql, "-f", "-", stdin=text).good

    def rows(self, database: str, text: str) -> list[Object]:
        """Return the rows of a query, by the names of its columns."""
        rows: list[Object] = json.loads(
            self.execute(database, f"SELECT coalesce(json_agg(found), '[]') FROM ({text}) found")
        )
        return rows


def _is_ready(pod: Object) -> bool:
    conditions: list[dict[str, Any]] = value(pod, "status", "conditions") or []
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def _phase(pod: Object) -> str:
    return str(value(pod, "status", "phase"))
