"""Ways of writing that few people use and a parser takes all the same."""

from __future__ import annotations

import json
from textwrap import dedent, indent

from tests.inject.examples import UNINDENTED
from tests.inject.forms import PLAIN, as_json, deep


def _after_name(lines: str) -> str:
    """Return a CronJob with more lines in its metadata."""
    added = indent(dedent(lines).strip("\n"), "    ")
    return UNINDENTED.replace("    name: daily-credit\n", f"    name: daily-credit\n{added}\n")


ODD: dict[str, str] = {
    "a root further in": indent(UNINDENTED, "  "),
    "a root beside the mark": f"--- {as_json(step=None)}\n",
    "keys in quotes": UNINDENTED.replace("spec:", '"spec" :').replace("command:", "'command' :"),
    "a hyphen alone": UNINDENTED.replace("-   image", f"-\n{' ' * 24}image"),
    "a comment behind a hyphen": UNINDENTED.replace("-   image", f"- # main\n{' ' * 24}image"),
    "an anchor behind a hyphen": UNINDENTED.replace("-   image", f"- &main\n{' ' * 24}image"),
    "an anchor before hyphens": UNINDENTED.replace("command:\n", "command: &c # x\n"),
    "tags": UNINDENTED.replace("name: daily", "name: !!str daily").replace(
        "command:\n", "command: !!seq\n"
    ),
    "a wide gap": UNINDENTED.replace("- ./credit.sh", "-      ./credit.sh # x"),
    "a first word in a block": UNINDENTED.replace(
        "- ./credit.sh", f"- |\n{' ' * 28}a\n{' ' * 29}b\n\n{' ' * 24}- b"
    ),
    "kept empty lines at the end": UNINDENTED + "    x: >+\n      a\n\n\n",
    "kept empty lines and spaces": UNINDENTED + "    x: >+\n      a\n\n   ",
    "kept empty lines": _after_name("x: |+\n\n\n    a\n\n# c\n"),
    "an empty block": _after_name("x: |"),
    "an empty block that is kept": _after_name("x: |+ # c"),
    "a text of several lines": _after_name('x: "a\n # no comment\n\n b"  # c'),
    "braces in a text": _after_name("x: 'a\n {\n\n b'"),
    "nothing last": _after_name("x:\n# c"),
    "an anchor of nothing": _after_name("x: &n\n# c"),
    "a tag of nothing": _after_name("x: !!null\n# c"),
    "nothing in labels": _after_name("labels:\n  a:\n  b: # x"),
    "a long key": _after_name("? x\n: y"),
    "a long key of nothing": _after_name("? x"),
    "labels in braces": _after_name("labels: {a: b,}"),
    "labels in braces in lines": _after_name("labels: {\n  a: b,\n  c: d # e\n}"),
    "no labels in braces in lines": _after_name("labels: { # c\n}"),
    "other line ends in a text": _after_name('x: "a\u2028b\u0085c"'),
    "an emoji": _after_name("x: 😀 é"),
    "a list in a list": f"kind: List\nitems:\n- {indent(deep(UNINDENTED), '  ').lstrip()}",
    "a list in one line": json.dumps({"kind": "List", "items": [PLAIN, PLAIN]}),
    "env in brackets in lines": UNINDENTED.replace(
        "name: main\n", "name: main\n" + indent("env: [\n   {name: A, value: b} # c\n]\n", " " * 24)
    ),
    "no env and a comment": UNINDENTED.replace(
        "name: main\n", "name: main\n" + indent("env:   # none\n# really\n", " " * 24)
    ),
}
