"""Sums of what was put in, by which it is told whether a person has changed it since.

A comparison with what would be put in now would not do: after a new name, another grace period or a
newer k8sjob that is something else, though nobody has touched what is there.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from k8sjob.manifest.inject.written import Alias, Row, Table, Word

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from k8sjob.manifest.inject.written import Written

#: What somebody writes there counts as asked for (`k8sjob.manifest.inject.earlier`).
#: Or follows from it: a cluster pulls `latest` always.
_ASKED: Final = {"": {"image", "imagePullPolicy"}, "secretKeyRef": {"name", "key"}}
#: What a cluster writes into what it is given.
_DEFAULTS: Final = {
    "apiVersion": "v1",
    "defaultMode": "420",
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
}
_LENGTH: Final = 4


def sum_of(piece: Any) -> str:
    """Return the sum of a piece, as data or as it is written: the same for the same meaning."""
    data = _core(data_of(piece) if not isinstance(piece, (dict, list)) else piece)
    return sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:_LENGTH]


def sums_of(items: Iterable[Mapping[str, Any]], prefix: str = "") -> dict[str, str]:
    """Return the sums of items by their names."""
    return {one["name"].removeprefix(prefix): sum_of(one) for one in items}


def data_of(node: Written | None) -> Any:
    """Return what is written, all scalars as texts."""
    match node:
        case Table():
            return {key.text: data_of(value) for key, value in node.entries}
        case Row():
            return [data_of(item) for item in node.items]
        case Alias():
            return data_of(node.target)
        case Word(null=False):
            return node.text
        case _:
            return None


def _core(value: Any, under: str = "") -> Any:
    """Return a value without what does not count: what is empty, asked for, a cluster's default."""
    if isinstance(value, list):
        return [_core(one) for one in value]
    if isinstance(value, dict):
        found = {n: _core(one, n) for n, one in value.items() if n not in _ASKED.get(under, ())}
        return {n: one for n, one in found.items() if one and _DEFAULTS.get(n) != one}
    if value is None or isinstance(value, str):
        # A shell's lines may have come into one, and a block may end with its newline.
        return value and "; ".join(value.rstrip().split("\n"))
    return json.dumps(value)
