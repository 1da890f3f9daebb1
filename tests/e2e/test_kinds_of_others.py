"""Kinds that the cluster has are left as they are; those that these tests make are gone again."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from tests.e2e import kinds
from tests.e2e.cluster import until

if TYPE_CHECKING:
    from tests.e2e.cluster import Object
    from tests.e2e.scene import Scene

GROUP = "k8sjob-e2e.example"
THEIRS, KILLED, NEW = "Widget", "Relic", "Gadget"


@dataclass
class Seen:
    """Somebody's kind before and after, and what there was meanwhile and at the end."""

    before: Object
    after: Object
    meanwhile: list[str]
    left: list[str]


def play(scene: Scene) -> Seen:
    """Lend a kind that is somebody's, one that a killed run has left, and one that is nowhere."""
    cluster = scene.cluster
    theirs = kinds.crd(THEIRS, GROUP)
    del theirs["metadata"]["labels"]
    theirs["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["description"] = "theirs"
    scene.apply(theirs, kinds.crd(KILLED, GROUP))
    path = f"{kinds.CRDS}/{kinds.name_of(THEIRS, GROUP)}"
    try:
        with ExitStack() as stack:
            until("their kind", partial(cluster.find, _objects(THEIRS)))
            before = cluster.get(path)
            for kind in (THEIRS, KILLED, NEW):
                stack.enter_context(kinds.lent(cluster, kind, GROUP))
            meanwhile = [kind for kind in (THEIRS, KILLED, NEW) if cluster.find(_objects(kind))]
        return Seen(before, cluster.get(path), meanwhile, kinds.left(cluster, GROUP))
    finally:
        cluster.kubectl("delete", "crd", kinds.name_of(THEIRS, GROUP))


def _objects(kind: str) -> str:
    return f"/apis/{GROUP}/v1/namespaces/default/{kind.lower()}s"


def test_all_are_served_meanwhile(seen: Seen) -> None:
    assert seen.meanwhile == [THEIRS, KILLED, NEW]


def test_what_is_somebodys_is_the_same_afterwards(seen: Seen) -> None:
    for what in ("uid", "generation", "labels", "annotations"):
        assert seen.after["metadata"].get(what) == seen.before["metadata"].get(what)


def test_what_was_made_is_gone_also_that_of_a_killed_run(seen: Seen) -> None:
    assert seen.left == []
