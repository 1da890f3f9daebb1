"""Command lines in texts, and what the command line itself says of them."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

import click

from k8sjob.cli.main import COMMANDS, cli

if TYPE_CHECKING:
    from collections.abc import Iterator

#: What the templates of an alert stand for, for a job that has all of it.
_LABELS = {
    "namespace": "billing",
    "cronjob": "daily-credit",
    "ledger": "shop",
    "scope": "billing,shop",
    "job_name": "daily-credit-29901600",
}
_BLOCK = re.compile(r"^```\w*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`(?:kubectl )?(k8sjob [^`]+)`")


def in_page(text: str) -> Iterator[str]:
    """Yield the lines of a page that are ours: in its blocks, and between backticks."""
    for block in _BLOCK.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            yield from _ours(line)
    for whole in _INLINE.findall(_BLOCK.sub("", text)):
        line = whole.partition(" | ")[0]
        is_name = line.count(" ") == 1
        yield f"{line} --help" if is_name else line


def in_description(text: str) -> Iterator[str]:
    """Yield those of an alert's description, for a ledger with a name."""
    for line in text.splitlines():
        at = line.find("k8sjob ")
        if at >= 0 and line[:at].removesuffix("kubectl ").endswith(": "):
            yield _rendered(line[at:])


def _ours(line: str) -> Iterator[str]:
    """Yield what a line of a block gives to k8sjob: behind a prompt, settings, and up to a pipe."""
    line = line.strip().removeprefix("$ ")
    for part in re.split(r" \| | && | > ", line):
        words = part.split()
        while words and re.fullmatch(r"[A-Z][A-Z_0-9]*=.*", words[0]):
            words = words[1:]
        words = words[words[:2] == ["kubectl", "k8sjob"] :]
        if words and words[0] == "k8sjob":
            yield " ".join(words)


def _rendered(line: str) -> str:
    line = re.sub(r"\{\{ with \$labels\.ledger \}\}.*$", " --ledger shop", line)
    line = re.sub(
        r"\{\{ with \$labels\.scope \}\}.*?\{\{ end \}\}\{\{ end \}\}", " -n a -n b", line
    )
    line = re.sub(r"\{\{ \$labels\.(\w+) \}\}", lambda found: _LABELS[found[1]], line)
    line = re.sub(r"\{\{ if and \$value.*\{\{ end \}\}", ":2026-09-13T00:00:00Z", line)
    assert "{{" not in line, line
    return line


def fault_of(line: str) -> str | None:
    """Return why the command line would not take a line; None: it would."""
    _, *words = shlex.split(line, comments=True)
    if not words or words[0] not in COMMANDS:
        return f"there is no command {words[:1]}"
    command = cli.get_command(click.Context(cli), words[0])
    assert command
    try:
        command.make_context(words[0], words[1:])
    except click.UsageError as error:
        return error.format_message()
    except click.exceptions.Exit:  # --help
        return None
    return None
