"""Write the tables of metrics into docs/metrics.md: `make docs`."""

from __future__ import annotations

import re
from pathlib import Path

from k8sjob.serve.metrics import METRICS, PREFIX

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "metrics.md"
MARK = "<!-- metrics: checked against the code; `make docs` writes them -->\n"
END = "<!-- end of metrics -->\n"

#: What some metrics are of, and the labels that tell one from the other.
OF = {
    "Of each job": ("ledger", "namespace", "cronjob"),
    "Of each ledger": ("ledger",),
    "Of the exporter": (),
}


def tables() -> str:
    """Return all metrics, their kinds, labels and meanings, in the order of a scrape."""
    left, parts = dict(METRICS), []
    for of, labels in OF.items():
        found = {n: about for n, about in left.items() if about.labels[: len(labels)] == labels}
        left = {name: about for name, about in left.items() if name not in found}
        lines = [f"**{of}**, by {_names(labels)}:" if labels else f"**{of}**:", ""]
        lines += ["| metric | kind | labels | meaning |", "|---|---|---|---|"]
        for name, about in found.items():
            more = _names(about.labels[len(labels) :])
            lines.append(f"| `{PREFIX}{name}` | {about.kind} | {more} | {about.help} |")
        parts.append("\n".join(lines) + "\n")
    return "\n" + "\n".join(parts) + "\n"


def _names(labels: tuple[str, ...]) -> str:
    return ", ".join(f"`{label}`" for label in labels)


def written(page: str) -> str:
    """Return the page with the tables of the code in it."""
    return re.sub(f"{MARK}.*?{END}", lambda _: MARK + tables() + END, page, flags=re.DOTALL)


def main() -> None:
    """Replace the tables."""
    PAGE.write_text(written(PAGE.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
