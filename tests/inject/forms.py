"""The examples in more forms: lists, JSON, line ends; each can be covered, and taken back."""

from __future__ import annotations

import json
from textwrap import dedent, indent

from ruamel.yaml import YAML

from tests.inject.examples import (
    ANCHORS,
    BLOCKS,
    COMMENTED,
    EMPTY,
    EMPTY_JSON,
    FLOW,
    LISTED,
    OTHERS,
    UNINDENTED,
)

PLAIN = YAML(typ="safe", pure=True).load(UNINDENTED)


def as_json(*, step: int | str | None, compact: bool = False) -> str:
    """Return a CronJob as JSON."""
    return json.dumps(PLAIN, indent=step, separators=(",", ":") if compact else None)


def deep(text: str) -> str:
    """Return an object as the second item of a list, further in."""
    item = indent(dedent(text), "    ").lstrip()
    return f"kind: CronJobList\nitems:\n  - {item}"


EXAMPLES: dict[str, str] = {
    "comments": COMMENTED,
    "unindented lists": UNINDENTED,
    "block scalars": BLOCKS,
    "flow": FLOW,
    "empty values": EMPTY,
    "anchors": ANCHORS,
    "a list": LISTED,
    "a list further in": deep(UNINDENTED),
    "two documents": f"{OTHERS}---\n{COMMENTED}...\n---\n{BLOCKS}---\n{OTHERS}",
    "directives": f"%YAML 1.1\n---\n{FLOW}...\n",
    "CRLF": COMMENTED.replace("\n", "\r\n"),
    "CR": BLOCKS.replace("\n", "\r"),
    "mixed line ends": UNINDENTED.replace("\n", "\r\n", 7),
    "a byte order mark": f"\ufeff{COMMENTED}",
    "no newline at the end": UNINDENTED.rstrip("\n"),
    "no newline after a block": BLOCKS[: BLOCKS.index("\n\n                # below")],
    "no newline after a folded one": COMMENTED[
        : COMMENTED.index("              # a trailing")
    ].rstrip(),
    "spaces at the end of lines": UNINDENTED.replace(":\n", ":  \n"),
    "JSON": as_json(step=2),
    "JSON with tabs": as_json(step="\t") + "\n",
    "JSON in one line": as_json(step=None),
    "compact JSON": as_json(step=None, compact=True),
    "JSON with empty values": EMPTY_JSON,
    "JSON in a list": json.dumps({"items": [PLAIN, PLAIN], "kind": "List"}, indent=1),
    "JSON documents": f"{as_json(step=None)}\n{as_json(step=4)}\n",
}
