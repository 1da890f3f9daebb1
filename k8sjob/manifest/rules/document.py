"""The rule about the document itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from k8sjob.manifest.rule import Found
from k8sjob.manifest.shown import bare
from k8sjob.manifest.tree import Items, Map

if TYPE_CHECKING:
    from collections.abc import Iterator

    from k8sjob.manifest.case import Case
    from k8sjob.manifest.tree import Node


def duplicate_key(case: Case) -> Iterator[Found]:
    """Find keys that stand in one map twice."""
    waiting: list[Node | None] = [case.root.node]
    seen: set[int] = set()
    while waiting:
        node = waiting.pop()
        if isinstance(node, Map) and id(node) not in seen:
            seen.add(id(node))
            waiting.extend(entry.node for entry in node.entries.values())
            for at, name in node.again:
                yield Found(
                    at,
                    f"{bare(name)} stands in this map already: kubectl takes the last one without "
                    "a word, kustomize refuses the file: keep one of them",
                )
        elif isinstance(node, Items) and id(node) not in seen:
            seen.add(id(node))
            waiting.extend(node.nodes)
