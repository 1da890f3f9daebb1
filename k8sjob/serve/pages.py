"""Templates and static files. What a page needs comes with it: nothing is fetched from elsewhere.

The names of static files hold a hash of what is in them, so that a browser may keep them for ever.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from k8sjob.serve.web import Answer, NotThere
from k8sjob.version import __version__

if TYPE_CHECKING:
    from k8sjob.serve.web import Request

_FOLDER = Path(__file__).parent / "templates"
_KINDS = {"style.css": "text/css; charset=utf-8", "icon.svg": "image/svg+xml"}


@dataclass(frozen=True, slots=True)
class Static:
    """A file that is served as it is. ``path`` is where, below the root."""

    path: str
    kind: str
    body: bytes


def _static(name: str, kind: str) -> Static:
    body = (_FOLDER / name).read_bytes()
    stem, _, suffix = name.partition(".")
    return Static(f"/static/{stem}-{sha256(body).hexdigest()[:16]}.{suffix}", kind, body)


class Pages:
    """Renders templates: every value is escaped, and one that is left out is an error."""

    def __init__(self) -> None:
        """Read all files."""
        self._static = {name: _static(name, kind) for name, kind in _KINDS.items()}
        self._by_path = {one.path: one for one in self._static.values()}
        self._jinja = Environment(
            loader=FileSystemLoader(_FOLDER),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )

    def render(
        self, template: str, request: Request, status: HTTPStatus = HTTPStatus.OK, /, **values: Any
    ) -> Answer:
        """Return a page."""
        text = self._jinja.get_template(template).render(
            root=request.root,
            style=request.root + self._static["style.css"].path,
            icon=request.root + self._static["icon.svg"].path,
            version=__version__,
            **values,
        )
        return Answer(body=text.encode(), kind="text/html; charset=utf-8", status=status)

    def error(self, request: Request, status: HTTPStatus, text: str) -> Answer:
        """Return a page that says what went wrong, and what to do."""
        first, _, rest = text.partition("\n")
        return self.render(
            "error.html",
            request,
            status,
            status=f"{int(status)} {status.phrase}",
            first=first,
            rest=[line.strip() for line in rest.splitlines()],
        )

    def static(self, request: Request) -> Answer:
        """Return a static file. Raises NotThere."""
        found = self._by_path.get(request.path)
        if found is None:
            raise NotThere(f"there is no file {request.path}.\n  Load the page again.")
        keep = {"Cache-Control": "public, max-age=31536000, immutable"}
        return Answer(body=found.body, kind=found.kind, headers=keep)
