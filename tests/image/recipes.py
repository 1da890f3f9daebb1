"""The files of docs/images.md."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.fix_docker import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PAGE = (ROOT / "docs" / "images.md").read_text("utf-8")
FILES = dict(re.findall(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```\n", PAGE, re.DOTALL))

KEY = "billing/daily-credit:2026-09-13"
JOB, PERIOD = KEY.split(":")


def write(recipe: str, folder: Path) -> None:
    """Write the files of a recipe."""
    for name, text in FILES.items():
        if name.startswith(f"{recipe}/"):
            path = folder / name.removeprefix(f"{recipe}/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
