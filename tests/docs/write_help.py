"""Write each command's help text into docs/reference.md: `make docs`."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from k8sjob.cli.main import COMMANDS

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference.md"
MARK = "<!-- help: checked against the code; `make docs` writes it -->\n"


def help_of(command: str) -> str:
    """Return what ``k8sjob COMMAND --help`` prints on a page of 80 columns."""
    words = [command] if command else []
    return subprocess.run(
        [sys.executable, "-m", "k8sjob", *words, "--help"],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(ROOT), "COLUMNS": "80", "PYTHONUTF8": "1"},
    ).stdout.rstrip()


def block(command: str) -> str:
    """Return the help text as it stands in the page."""
    name = " ".join(filter(None, ["k8sjob", command]))
    return f"```text\n$ {name} --help\n{help_of(command)}\n```\n"


def main() -> None:
    """Replace all blocks of help texts by those of the code."""
    page = PAGE.read_text("utf-8")
    page = re.sub(r"<!-- help: [^\n]*-->\n", "", page)
    page = re.sub(r"```text\n\$ k8sjob[a-z ]* --help\n.*?\n```\n\n?", "", page, flags=re.DOTALL)
    blocks = MARK + "\n".join(block(command) for command in ["", *COMMANDS])
    head, title, rest = page.partition("## Commands\n\n")
    PAGE.write_text(f"{head}{title}{blocks}\n{rest}", "utf-8")


if __name__ == "__main__":
    main()
