"""The exporter is ready before there is a ledger: a first install with --wait comes to its end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.chart.control import pod, render
from tests.fix_report import uses
from tests.fix_stores import Database
from tests.serve.process import serving

if TYPE_CHECKING:
    from tests.fix_chart import Object
    from tests.fix_servers import Server
    from tests.template import Templates

pytestmark = pytest.mark.usefixtures("helm")


def exporter(**values: Any) -> Object:
    """Return its container."""
    (one,) = pod(render({"exporter": values}), "k8sjob-exporter")["containers"]
    found: Object = one
    return found


def probe(container: Object, name: str) -> str:
    """Return the path that a probe asks for."""
    asked = container[f"{name}Probe"]["httpGet"]
    assert asked["port"] in {port["name"] for port in container["ports"]}
    return str(asked["path"])


def test_it_is_ready_and_alive_on_a_database_without_a_ledger(
    request: pytest.FixtureRequest, pg_server: Server, templates: Templates
) -> None:
    """Helm runs the hook that makes the ledger once all Deployments are ready."""
    uses(request.node, pg_server.name)
    templates.add(pg_server)  # for the roles
    nothing = Database(pg_server, "postgres")
    container = exporter()
    with serving(nothing.dsn("reader")) as server:
        assert server.get(probe(container, "readiness")).status == 200
        assert server.get(probe(container, "liveness")).status == 200
        # What would have waited for ever:
        assert server.get("/readyz").status == 503
        assert 'k8sjob_up{ledger="default"} 0\n' in server.get("/metrics").text


def test_it_is_ready_while_the_database_is_away() -> None:
    """The page tells of it, and an upgrade does not wait for it."""
    container = exporter()
    with serving("postgresql://k8sjob_reader@127.0.0.1:1/none") as server:
        assert server.get(probe(container, "readiness")).status == 200
        assert "the ledger cannot be reached" in server.get("/").text


def test_it_can_be_asked_to_wait_for_its_ledger() -> None:
    container = exporter(readyWithLedger=True)
    assert probe(container, "readiness") == "/readyz"
    assert probe(container, "liveness") == "/healthz"
    # An answer of /readyz takes up to ten seconds.
    assert container["readinessProbe"]["timeoutSeconds"] > 10


def test_there_is_an_old_one_until_the_new_one_is_ready() -> None:
    spec = render().one("Deployment", "k8sjob-exporter")["spec"]
    assert spec["strategy"]["rollingUpdate"] == {"maxSurge": 1, "maxUnavailable": 0}


def test_nothing_else_has_to_be_ready_for_the_hook() -> None:
    """A CronJob is as it is, and the control Pod is ready once it runs."""
    (control,) = pod(render(), "k8sjob-control")["containers"]
    assert not [key for key in control if key.endswith("Probe")]


def test_the_service_leads_to_where_it_listens() -> None:
    rendered = render({"exporter": {"service": {"port": 80}}})
    (container,) = pod(rendered, "k8sjob-exporter")["containers"]
    (port,) = rendered.one("Service")["spec"]["ports"]
    assert (port["port"], port["targetPort"]) == (80, container["ports"][0]["containerPort"])
    listen = container["args"][1].removeprefix("--listen=")
    assert listen == f"0.0.0.0:{container['ports'][0]['containerPort']}"
