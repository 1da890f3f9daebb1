"""Values as YAML or JSON, in the style of the text that they are put into."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from k8sjob.manifest.scalars import resolve

#: Without quotes only what nobody can take for anything else.
_PLAIN = re.compile(r"--|-{0,2}[A-Za-z_./][A-Za-z0-9_./=@%+-]*(?:[ ,:][A-Za-z0-9_./=@%+-]+)*")


class Inline(dict[str, Any]):
    """A map that stands in one line, in braces."""


class InlineList(list[Any]):
    """A list that stands in one line, in brackets."""


@dataclass(frozen=True, slots=True)
class Style:
    """How a document is written.

    ``step``: columns that a map stands deeper than its key; ``hyphen``: those of a list's hyphens.
    ``json``: all keys and texts in quotes; ``indent``: of JSON in several lines, one level's;
    ``gap``: whether JSON has a space after each colon and comma.
    """

    step: int = 2
    hyphen: int = 0
    json: bool = False
    indent: str | None = None
    gap: bool = True


def scalar(value: str | int | bool, *, flow: bool = False) -> str:  # noqa: FBT001  # a value
    """Return a text, number or boolean in one line."""
    if not isinstance(value, str):
        return json.dumps(value)
    plain = _PLAIN.fullmatch(value) and isinstance(resolve(value), str)
    if plain and not (flow and "," in value):
        return value
    if value.isprintable() and "'" not in value and ('"' in value or "\\" in value):
        return f"'{value}'"
    return json.dumps(value, ensure_ascii=False)


def in_flow(value: Any, style: Style, margin: str | None = None) -> str:
    """Return a value for a place in braces or brackets.

    ``margin`` is what its line begins with, where such lines are to be used.
    """
    if style.json:
        if margin is None or style.indent is None:
            gaps = (", ", ": ") if style.gap else (",", ":")
            return json.dumps(value, ensure_ascii=False, separators=gaps)
        text = json.dumps(value, ensure_ascii=False, indent=style.indent)
        return text.replace("\n", f"\n{margin}")
    if isinstance(value, dict):
        return "{" + ", ".join(pair(name, one, style) for name, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(in_flow(one, style) for one in value) + "]"
    return scalar(value, flow=True)


def pair(name: str, value: Any, style: Style, margin: str | None = None) -> str:
    """Return an entry of a map in braces."""
    key = json.dumps(name) if style.json else scalar(name, flow=True)
    gap = ": " if style.gap or not style.json else ":"
    return f"{key}{gap}{in_flow(value, style, margin)}"


def entry(name: str, value: Any, style: Style, column: int) -> list[str]:
    """Return the lines of a map's entry, the first of which begins in ``column``."""
    head = " " * column + scalar(name) + ":"
    if isinstance(value, (Inline, InlineList)):
        return [f"{head} {in_flow(value, style)}"]
    if isinstance(value, dict):
        return [head, *entries(value, style, column + style.step)]
    if isinstance(value, list):
        return [head, *items(value, style, column + style.hyphen)]
    return [f"{head} {scalar(value)}"]


def entries(value: dict[str, Any], style: Style, column: int) -> list[str]:
    """Return the lines of a map's entries."""
    return [line for name, one in value.items() for line in entry(name, one, style, column)]


def items(value: list[Any], style: Style, column: int) -> list[str]:
    """Return the lines of a list's items, whose hyphens stand in ``column``."""
    return [line for one in value for line in _item(one, style, column)]


def _item(value: Any, style: Style, column: int) -> list[str]:
    margin = " " * column
    if isinstance(value, (Inline, InlineList)):
        return [f"{margin}- {in_flow(value, style)}"]
    if isinstance(value, dict):
        first, *rest = entries(value, style, column + 2)
        return [f"{margin}- {first.lstrip(' ')}", *rest]
    if isinstance(value, str) and "\n" in value:
        return [f"{margin}- |-", *(f"{margin}  {line}" for line in value.split("\n"))]
    return [f"{margin}- {scalar(value)}"]
