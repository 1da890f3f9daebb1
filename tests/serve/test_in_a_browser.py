"""The pages in a real browser: who can use them, what they look like, what they let in."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.fix_servers import SERVERS
from tests.fix_stores import fresh_database
from tests.serve import horrors, scene
from tests.serve.process import wait_until
from tests.serve.website import website

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.fix_chromium import Browser
    from tests.fix_stores import Connection
    from tests.template import Templates

CREDIT = "/jobs/billing/daily-credit"
PERIOD = f"{CREDIT}?period=2026-09-12T00:00:00Z"
HOSTILE = f"/jobs/{horrors.HOSTILE}?period=2026-09-01T00:00:00Z"
PAGES = [
    *("/", "/?state=missing", "/?text=nothing", PERIOD, "/jobs/ops/heartbeat", "/jobs/ops/vacuum"),
    *("/jobs/data/export", "/jobs/billing/invoices", "/jobs/shop/prices", "/jobs/data/archive"),
    *("/nowhere", HOSTILE, f"/jobs/{horrors.LONG}", "/jobs/hostile/schedule"),
]


@pytest.fixture(scope="session")
def address(request: pytest.FixtureRequest, templates: Templates) -> Iterator[str]:
    """Serve the scene with the horrors among it, on the first server that there is."""
    if request.config.option.no_server:
        pytest.skip("it needs a server, and --no-server leaves these out")
    servers = request.config.stash[SERVERS]
    server = servers.get(servers.offers[0])
    templates.add(server)
    with fresh_database(server) as database:
        with database.connect("admin") as conn:
            _paint_both(conn)
        with website(database) as found:
            yield found


def _paint_both(conn: Connection) -> None:
    scene.paint(conn)
    conn.execute("TRUNCATE k8sjob.passes, k8sjob.scopes")
    conn.execute("UPDATE k8sjob.attempts SET id = gen_random_uuid()")
    horrors.paint(conn)


@pytest.fixture
def page(browser: Browser, address: str) -> Callable[..., Browser]:
    """Open a page of the site, in a window of a size, light or dark."""

    def open_page(path: str, *, width: int = 1280, dark: bool = False) -> Browser:
        opened = replace(browser, site=address)
        opened.look(width=width, dark=dark)
        opened.complaints()
        opened.open(path)
        return opened

    return open_page


@pytest.mark.parametrize("place", PAGES)
@pytest.mark.parametrize(
    ("width", "dark"), [(1280, False), (1280, True), (400, False)], ids=["wide", "dark", "narrow"]
)
def test_axe_finds_nothing_that_keeps_anybody_out(
    page: Callable[..., Browser], place: str, width: int, *, dark: bool
) -> None:
    assert page(place, width=width, dark=dark).axe() == []


@pytest.mark.parametrize("place", PAGES)
def test_nothing_is_refused_and_nothing_runs(page: Callable[..., Browser], place: str) -> None:
    browser = page(place)
    assert [one for one in browser.complaints() if "status of 404" not in one] == []
    assert browser.run("return window.hacked") is None
    assert browser.run("return document.scripts.length") == 0


def test_a_script_that_got_into_a_page_would_not_run(page: Callable[..., Browser]) -> None:
    browser = page("/")
    browser.run(
        "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.hacked=1\">"
        '<p id="p" style="color: red">x</p>\');'
        "const made = document.createElement('script'); made.text = 'window.hacked = 2';"
        "document.body.append(made)"
    )
    browser.driver.execute_async_script("setTimeout(arguments[0], 200)")
    assert browser.run("return window.hacked") is None
    complaints = " ".join(browser.complaints())
    assert "script-src" in complaints
    assert "style-src" in complaints


@pytest.mark.parametrize("place", PAGES)
def test_on_the_narrowest_screen_nothing_hangs_over(
    page: Callable[..., Browser], place: str
) -> None:
    browser = page(place, width=320)
    browser.run("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert browser.run("return document.documentElement.scrollWidth") == 320


def test_light_and_dark_are_as_the_reader_likes(page: Callable[..., Browser]) -> None:
    back = "return getComputedStyle(document.body).backgroundColor"
    light, dark = (page("/", dark=dark).run(back) for dark in (False, True))
    assert light == "rgb(244, 246, 249)"
    assert dark == "rgb(14, 19, 27)"


@pytest.mark.parametrize("place", [CREDIT, "/jobs/ops/heartbeat", "/jobs/ops/vacuum"])
@pytest.mark.parametrize("width", [1280, 400])
def test_each_cell_can_be_hit_by_a_finger(
    page: Callable[..., Browser], place: str, width: int
) -> None:
    # 24 by 24 pixels: WCAG 2.2, success criterion 2.5.8.
    sizes = page(place, width=width).run(
        "return [...document.querySelectorAll('a.cell')].map(one => one.getBoundingClientRect())"
        ".map(box => Math.min(box.width, box.height))"
    )
    assert len(sizes) > 50
    assert min(sizes) >= 24


def test_each_cell_shows_its_letter(page: Callable[..., Browser]) -> None:
    shown = page(CREDIT).run(
        "return [...document.querySelectorAll('a.cell')].map(one => one.innerText.split('\\n'))"
    )
    assert ["11", "M"] in shown
    assert all(len(one) == 2 for one in shown)


# ------------------------------------------------------------------------------ by the keyboard


def press(browser: Browser, *keys: str) -> None:
    """Press keys, one after the other, whatever has the focus."""
    from selenium.webdriver.common.action_chains import ActionChains

    for key in keys:
        ActionChains(browser.driver).send_keys(key).perform()


def focused(browser: Browser) -> str:
    return str(browser.run("return document.activeElement.innerText"))


def has_focus(browser: Browser, name: str) -> bool:
    return bool(browser.run("return document.activeElement.id") == name)


def test_the_first_key_leads_past_what_is_on_every_page(page: Callable[..., Browser]) -> None:
    from selenium.webdriver.common.keys import Keys

    browser = page("/")
    press(browser, Keys.TAB)
    assert focused(browser) == "Skip to the content"
    assert browser.run("return document.activeElement.getBoundingClientRect().top") >= 0
    press(browser, Keys.ENTER)
    wait_until(lambda: has_focus(browser, "main"), "the content has the focus")
    press(browser, Keys.TAB)
    assert focused(browser) == "Look again"


def test_whatever_has_the_focus_shows_it(page: Callable[..., Browser]) -> None:
    from selenium.webdriver.common.keys import Keys

    browser = page(CREDIT)
    seen = set()
    for _ in range(60):
        press(browser, Keys.TAB)
        tag, style, width = browser.run(
            "const one = document.activeElement, style = getComputedStyle(one);"
            "return [one.tagName, style.outlineStyle, parseFloat(style.outlineWidth)]"
        )
        assert (style, width >= 2) == ("solid", True), tag
        seen.add(tag)
    assert {"A", "CODE", "SUMMARY", "DIV"} <= seen


def test_the_calendar_can_be_skipped_and_a_cell_be_opened(page: Callable[..., Browser]) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    browser = page(CREDIT)
    browser.driver.find_element(By.LINK_TEXT, "Skip the calendar").send_keys(Keys.ENTER)
    wait_until(lambda: has_focus(browser, "after-calendar"), "the calendar is skipped")
    cell = browser.driver.find_element(By.CSS_SELECTOR, "a.cell[title^='2026-09-12']")
    assert cell.accessible_name.startswith("2026-09-12T00:00:00Z (Sat 12 Sep 02:00 Europe/Rome)")
    cell.send_keys(Keys.ENTER)
    wait_until(lambda: browser.driver.current_url.endswith("#period"), "the period is opened")
    card = browser.driver.find_element(By.ID, "period")
    assert card.accessible_name.startswith("missing 2026-09-12T00:00:00Z")
    assert "KeyError: 'balance'" in card.text


def test_the_last_output_opens_without_a_script(page: Callable[..., Browser]) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    browser = page(PERIOD)
    pre = browser.driver.find_element(By.CSS_SELECTOR, "#period pre")
    assert not pre.is_displayed()
    browser.driver.find_element(By.CSS_SELECTOR, "#period .try summary").send_keys(Keys.ENTER)
    wait_until(pre.is_displayed, "it is opened")
    assert pre.text == scene.TRACEBACK


def test_the_filter_is_used_as_any_form(page: Callable[..., Browser]) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import Select

    browser = page("/")
    Select(browser.driver.find_element(By.NAME, "state")).select_by_visible_text("blocked")
    browser.driver.find_element(By.NAME, "text").send_keys("declined\n")
    address = "/?text=declined&namespace=&state=blocked&owner="
    wait_until(lambda: browser.driver.current_url.endswith(address), "the form is sent")
    rows = browser.driver.find_elements(By.CSS_SELECTOR, ".jobs tbody tr")
    assert [row.find_element(By.TAG_NAME, "a").text for row in rows] == ["billing/invoices"]


def test_tables_are_tables_for_a_screen_reader_on_narrow_screens_too(
    page: Callable[..., Browser],
) -> None:
    from selenium.webdriver.common.by import By

    browser = page("/", width=400)
    table = browser.driver.find_element(By.CSS_SELECTOR, ".jobs")
    assert table.aria_role == "table"
    row = table.find_element(By.CSS_SELECTOR, "tbody tr")
    assert row.aria_role == "row"
    assert [one.aria_role for one in row.find_elements(By.XPATH, "./*")][:3] == [
        *("cell", "rowheader", "cell")
    ]
