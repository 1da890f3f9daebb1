"""Write the tables of values into the charts' READMEs: `make docs`."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
CHARTS = ROOT / "charts"
BEGIN = "<!-- values -->\n"
END = "<!-- /values -->\n"
#: A comment about the key below it, as helm-docs reads it; plain comment lines go on with it.
_ABOUT = re.compile(r"^(?P<indent> *)# -- (?P<text>.*)$")
_MORE = re.compile(r"^ *# ?(?P<text>.*)$")
_KEY = re.compile(r"^(?P<indent> *)(?P<key>[\w.-]+|\"[^\"]+\"):(?: |$)")


@dataclass(frozen=True, slots=True)
class Value:
    """A key of values.yaml: its path with dots, its default, what is said of it."""

    path: str
    default: Any
    about: str

    @property
    def row(self) -> str:
        """The line of the table."""
        cells = (f"`{self.path}`", f"`{json.dumps(self.default)}`", self.about)
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def charts() -> list[Path]:
    """Return the folders of all charts."""
    return sorted(one.parent for one in CHARTS.glob("*/Chart.yaml"))


def values(chart: Path) -> list[Value]:
    """Return all leaves of a chart's values.yaml, and the maps that a comment is about."""
    text = (chart / "values.yaml").read_text("utf-8")
    said = _comments(text)
    tree = YAML().load(text)
    return [Value(path, plain(one), said.get(path, "")) for path, one in _walk(tree, said)]


def _walk(tree: CommentedMap, said: dict[str, str], above: str = "") -> Iterator[tuple[str, Any]]:
    """Tell a map with a comment of its own and children without any as one value."""
    for key, one in tree.items():
        path = f"{above}{key}"
        inner = isinstance(one, CommentedMap) and one
        if inner and (path not in said or any(k.startswith(f"{path}.") for k in said)):
            yield from _walk(one, said, f"{path}.")
        else:
            yield path, one


def plain(one: Any) -> Any:
    """Return a value without what ruamel.yaml remembers of its form."""
    if isinstance(one, dict):
        return {str(key): plain(value) for key, value in one.items()}
    if isinstance(one, list):
        return [plain(value) for value in one]
    return one


def _comments(text: str) -> dict[str, str]:
    """Return what stands above each key, by its path."""
    found: dict[str, str] = {}
    path: list[tuple[int, str]] = []
    about: list[str] = []
    for line in text.splitlines():
        if match := _ABOUT.match(line):
            about = [match["text"]]
        elif key := _KEY.match(line):
            indent = len(key["indent"])
            path = [step for step in path if step[0] < indent] + [(indent, key["key"].strip('"'))]
            if about:
                found[".".join(name for _, name in path)] = " ".join(about).strip()
            about = []
        elif about and (more := _MORE.match(line)):
            about.append(more["text"].strip())
        else:
            about = []
    return found


def table(chart: Path) -> str:
    """Return the table of a chart's values."""
    head = "| value | default | |\n|---|---|---|\n"
    return "\n" + head + "".join(f"{one.row}\n" for one in values(chart)) + "\n"


def written(chart: Path) -> str:
    """Return the chart's README with the table in it."""
    page = (chart / "README.md").read_text("utf-8")
    return re.sub(f"{BEGIN}.*?{END}", lambda _: BEGIN + table(chart) + END, page, flags=re.DOTALL)


def main() -> None:
    """Replace the tables."""
    for chart in charts():
        (chart / "README.md").write_text(written(chart), "utf-8")


if __name__ == "__main__":
    main()
