"""Chromium without a window, driven by Selenium; tests that need it are skipped where it is not."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.fix_report import cannot_meet, expect, uses

if TYPE_CHECKING:
    from collections.abc import Iterator

CHROMIUM = "Chromium"
#: What Debian, other systems and Google call them.
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_DRIVER = "chromedriver"

#: Everything as it looks: no bars that come and go, no window, no rights that a container lacks.
_FLAGS = (
    *("--headless=new", "--hide-scrollbars", "--disable-gpu", "--disable-dev-shm-usage"),
    *("--no-first-run", "--disable-extensions", "--disable-background-networking"),
)


def pytest_configure(config: pytest.Config) -> None:
    """Say before any test whether it is here."""
    expect(config, CHROMIUM)
    if why := _why_not():
        cannot_meet(config, CHROMIUM, why)


def _why_not() -> str | None:
    if not any(map(shutil.which, _BROWSERS)) or not shutil.which(_DRIVER):
        return "no chromium and chromedriver; Debian: apt-get install chromium chromium-driver"
    missing = [name for name in ("selenium", "axe_core_python") if find_spec(name) is None]
    return f"not installed: {', '.join(missing)}" if missing else None


@dataclass
class Browser:
    """A browser at a site. ``driver`` is Selenium's."""

    driver: Any
    site: str = ""

    def look(self, *, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        """Look at pages in a window of a size, as somebody who likes it light or dark."""
        screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
        liked = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [liked]})

    def open(self, path: str) -> None:
        """Go to a page of the site."""
        self.driver.get(self.site + path)

    def run(self, script: str, *arguments: Any) -> Any:
        """Return what a script returns. The driver may run some, whatever the page's policy."""
        return self.driver.execute_script(script, *arguments)

    def complaints(self) -> list[str]:
        """Return what the browser has complained about since it was asked last."""
        return [one["message"] for one in self.driver.get_log("browser")]

    def axe(self) -> list[str]:
        """Return what axe finds wrong with the page, all of which is opened before."""
        import axe_core_python

        self.run("document.querySelectorAll('details').forEach(one => one.open = true)")
        self.run((Path(axe_core_python.__file__).parent / "axe.min.js").read_text("utf-8"))
        found = self.driver.execute_async_script(
            "const done = arguments[0]; axe.run(document, {resultTypes: ['violations']})"
            ".then(found => done(found.violations))"
        )
        return [f"{one['id']}: {one['help']}: {one['nodes'][0]['html']}" for one in found]


@contextmanager
def chromium(home: Path) -> Iterator[Browser]:
    """Start it; what it keeps for itself goes into ``home``."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = next(filter(None, map(shutil.which, _BROWSERS)))
    root = ["--no-sandbox"] if os.geteuid() == 0 else []  # it refuses to be root in a sandbox
    for flag in (*_FLAGS, *root):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    folders = dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"), str(home))
    service = Service(shutil.which(_DRIVER), env={**os.environ, **folders})
    driver = webdriver.Chrome(options=options, service=service)
    try:
        driver.set_page_load_timeout(60)
        driver.set_script_timeout(60)
        yield Browser(driver)
    finally:
        driver.quit()


@pytest.fixture(scope="session")
def _chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Start it once for all tests."""
    with chromium(tmp_path_factory.mktemp("home")) as browser:
        yield browser


@pytest.fixture
def browser(request: pytest.FixtureRequest) -> Browser:
    """Give the browser to a test, or skip the test where there is none."""
    if why := _why_not():
        pytest.skip(why)
    uses(request.node, CHROMIUM)
    found: Browser = request.getfixturevalue("_chromium")
    found.look()
    return found
