"""All plays at once: most of them wait for a minute to come, and they can wait together."""

from __future__ import annotations

import secrets
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.e2e import manifests
from tests.e2e.cluster import STOPPED
from tests.e2e.postgres import Postgres
from tests.e2e.scene import Scene

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import ModuleType

    from tests.e2e.cluster import Cluster
    from tests.e2e.images import Images

PLAY_S = 540  # no play takes longer


@dataclass
class Stage:
    """One Postgres, and a scene for each module that has a play.

    ``told``: the modules of plays whose failure has been told in full.
    """

    cluster: Cluster
    images: Images
    run: str = field(default_factory=lambda: f"k8sjob-e2e-{secrets.token_hex(3)}")
    plays: dict[str, Future[Any]] = field(default_factory=dict)
    told: list[ModuleType] = field(default_factory=list)
    pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(32))

    def start(self, modules: Iterable[ModuleType]) -> None:
        """Build a scene for each module, then start all plays."""
        space = self.namespace("postgres", restricted=False)
        postgres = Postgres.start(self.cluster, space, self.images)
        for module in modules:
            name = module.__name__.rpartition(".")[2].removeprefix("test_").replace("_", "-")
            scene = Scene(self.cluster, self.images, postgres, f"{self.run}-{name}"[:63])
            self.plays[module.__name__] = self.pool.submit(_play, module.play, scene)

    def namespace(self, name: str, *, restricted: bool) -> str:
        """Make a namespace that ends with the run."""
        full = f"{self.run}-{name}"
        self.cluster.apply(manifests.namespace(full, restricted=restricted))
        return full

    def seen(self, module: ModuleType) -> Any:
        """Wait for what the module's play has seen; raises what the play raised."""
        return self.plays[module.__name__].result(timeout=PLAY_S)

    def close(self) -> None:
        """Stop what still plays, and leave the cluster as it was."""
        STOPPED.set()
        self.pool.shutdown(cancel_futures=True)
        STOPPED.clear()
        spaces = [space["metadata"]["name"] for space in self.cluster.items("/api/v1/namespaces")]
        self.cluster.delete_namespaces([name for name in spaces if name.startswith(self.run)])


def _play(play: Callable[[Scene], Any], scene: Scene) -> Any:
    try:
        scene.build()
        return play(scene)
    except BaseException as error:
        if not STOPPED.is_set():
            error.add_note(scene.story())
        raise
