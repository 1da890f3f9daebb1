"""Which metrics and labels a piece of PromQL names, and which of them the exporter has not."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from k8sjob.serve.metrics import METRICS, PREFIX

if TYPE_CHECKING:
    from collections.abc import Iterator

_SELECTOR = re.compile(r"(?<![\w:])(k8sjob_\w+)(?![\w:])(?:\{([^}]*)\})?")
_LABEL = re.compile(r'(\w+)\s*(?:=~|!~|!=|=)\s*"')
_LABEL_VALUES = re.compile(r"label_values\((k8sjob_\w+)(?:\{[^}]*\})?, (\w+)\)")


def faults(text: str) -> Iterator[str]:
    """Yield what is named in ``text`` and not shown by the exporter."""
    for name, labels in _SELECTOR.findall(text):
        family = METRICS.get(name.removeprefix(PREFIX))
        if family is None:
            yield f"no metric is called {name}"
            continue
        for label in _LABEL.findall(labels):
            if label not in family.labels:
                yield f"{name} has no label {label}"
    for name, label in _LABEL_VALUES.findall(text):
        family = METRICS.get(name.removeprefix(PREFIX))
        if family is not None and label not in family.labels:
            yield f"{name} has no label {label}"
