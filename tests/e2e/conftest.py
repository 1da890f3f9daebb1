"""A real cluster for these tests, or a plain word that there is none.

Each file has one ``play(scene)``: what is done in the cluster. The plays of all selected tests run
at once, each in a namespace and on a ledger of its own; ``seen`` is what the file's play returned.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e import audit, watched
from tests.e2e.cluster import connected
from tests.e2e.images import CannotMeet, images
from tests.e2e.stage import PLAY_S, Stage
from tests.fix_report import cannot_meet, expect, uses

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

CLUSTER = "Kubernetes"
HERE = Path(__file__).parent
HOW = (
    "tests/e2e did not run: no cluster is named. "
    "K8SJOB_E2E_KUBECONFIG=~/.kube/config make test ARGS=tests/e2e runs them (tests/README.md)"
)
#: What some tests need beside a cluster: the fixture, the name, and why there is none.
BESIDE = {
    "audit_log": (audit.STORE, audit.why_not),
    "prometheus_beside": (watched.STORE, watched.why_not),
}
_SETUP_S = 900  # images are built, loaded or pulled before the first play


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Give the cluster its closing line, and these tests the time that they need."""
    ours = [item for item in items if HERE in item.path.parents]
    if ours:
        expect(config, CLUSTER)
    if why := _why_not():
        cannot_meet(config, CLUSTER, why)
    for item in ours:
        item.add_marker(pytest.mark.timeout(_SETUP_S + PLAY_S))
        for store, why_not in () if why else _beside(item):
            cannot_meet(config, store, why_not())


def _beside(item: pytest.Item) -> list[tuple[str, Callable[[], str]]]:
    assert isinstance(item, pytest.Function)
    return [found for name, found in BESIDE.items() if name in item.fixturenames]


def _why_not() -> str:
    if not os.environ.get("K8SJOB_E2E_KUBECONFIG"):
        return HOW
    return "" if shutil.which("kubectl") else "kubectl is not on PATH"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let all skipped tests speak from here, so that one line names the reason once."""
    report = yield
    if report.skipped and isinstance(report.longrepr, tuple):
        where = str(Path(__file__).relative_to(item.config.rootpath))
        report.longrepr = (where, 1, report.longrepr[2])
    return report


@pytest.fixture(scope="session")
def stage(request: pytest.FixtureRequest) -> Iterator[Stage]:
    """Start the plays of all tests of this run."""
    if why := _why_not():
        pytest.skip(why)
    ours = {item.path: item for item in request.session.items if HERE in item.path.parents}
    modules = [item.module for item in ours.values() if isinstance(item, pytest.Function)]
    kubeconfig = Path(os.environ["K8SJOB_E2E_KUBECONFIG"]).expanduser()
    with connected(shutil.which("kubectl") or "", kubeconfig) as cluster:
        try:
            stage = Stage(cluster, images(cluster))
        except CannotMeet as error:
            cannot_meet(request.config, CLUSTER, str(error))
            pytest.skip(str(error))
        try:
            stage.start(modules)
            yield stage
        finally:
            stage.close()


@pytest.fixture
def seen(request: pytest.FixtureRequest, stage: Stage) -> Any:
    """Give what the module's play has seen, once it is over."""
    if request.module in stage.told:
        pytest.fail("its play failed, as told above", pytrace=False)
    try:
        return stage.seen(request.module)
    except Exception:
        stage.told.append(request.module)
        raise


@pytest.fixture
def audit_log(stage: Stage) -> None:  # noqa: ARG001  # without a cluster that is the reason
    """Have the API server's audit log."""
    if why := audit.why_not():
        pytest.skip(f"{audit.STORE}: {why}")


@pytest.fixture
def prometheus_beside(stage: Stage) -> None:  # noqa: ARG001  # as above
    """Have a Prometheus that loads the rules in the cluster."""
    if why := watched.why_not():
        pytest.skip(why)


@pytest.fixture(autouse=True)
def _count(request: pytest.FixtureRequest) -> None:
    if _why_not():
        return
    uses(request.node, CLUSTER)
    for store, why_not in _beside(request.node):
        if not why_not():
            uses(request.node, store)
