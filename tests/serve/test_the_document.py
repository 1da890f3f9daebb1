"""docs/serve.md says what the code has: paths, letters, parameters, bounds."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path

from k8sjob.serve import api, app, board, readers, scraping, server, signs, site
from k8sjob.serve.ledgers import WITHIN_S
from k8sjob.serve.overview import A_PAGE
from k8sjob.serve.scraping import Scraping
from k8sjob.serve.site import Site

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "serve.md").read_text("utf-8")


def table(head: str) -> list[list[str]]:
    """Return the rows of the table whose head begins with a word."""
    lines = TEXT.partition(f"\n| {head} |")[2].splitlines()[2:]
    rows = []
    for line in lines:
        if not line.startswith("|"):
            break
        rows.append([cell.strip().strip("`") for cell in line.strip("|").split("|")])
    return rows


def test_each_path_that_is_served_is_told_and_no_other() -> None:
    paths = [row[0] for row in table("path")]
    with closing(Site({})) as made:
        routes = app.routes(made, Scraping(made.ledgers))
    forms = [route.form.pattern for route in routes if route.answer is not app._nowhere]  # noqa: SLF001
    ours = [form.replace("([^/]+)/([^/]+)", "NS/NAME") for form in forms]
    assert sorted(paths) == sorted(set(ours) - {"/static/.+"})


def test_each_letter_is_told_in_the_words_of_the_page() -> None:
    assert table("letter") == [
        [sign.letter, sign.word, sign.meaning] for sign in signs.OF_PERIODS.values()
    ]


def test_no_letter_stands_for_two_states() -> None:
    every = {**signs.OF_PERIODS, **signs.OF_JOBS}
    assert len({sign.letter for sign in every.values()}) == len(every)


def test_each_parameter_is_told_and_of_what() -> None:
    told = {name: row[1] for row in table("parameter") for name in re.findall(r"\w+", row[0])}
    of = dict.fromkeys(api._OF_JOBS, "both")  # noqa: SLF001
    of |= {name: "periods" for name in api._OF_PERIODS if name not in of}  # noqa: SLF001
    assert told == of


def test_the_numbers_are_those_of_the_code() -> None:
    rows = dict(table("what"))
    assert rows["connections to a ledger"].startswith(f"1 for scrapes, {readers.MOST} at most")
    assert rows["a query of a page or the API"].startswith(f"{readers.QUERY_S:g} s")
    assert rows["waiting for a ledger"] == (
        f"{readers.WITHIN_S:g} s; {site._A_MOMENT_S:g} s if it has let us wait the last time. "  # noqa: SLF001
        f"A scrape: {WITHIN_S:g} s, or {scraping._SPARE_S:g} s less than Prometheus waits"  # noqa: SLF001
    )
    assert rows["requests that wait for ledgers"].startswith(
        f"{app.PAGES} pages and API calls, and {app.SCRAPES} scrapes"
    )
    assert board.SHARED_FOR_S == 1
    idle = server._SETTINGS["channel_timeout"]  # noqa: SLF001
    assert rows["an idle connection of a client"] == f"is closed after {idle} s"
    assert f"lists {A_PAGE} jobs a page" in TEXT
    assert f"{api.LIMIT} if nothing is said, {api.MOST:,} at most" in TEXT
    assert f"has answered within {readers.LATELY_S:g} s" in TEXT


def test_each_picture_is_shown_and_told_to_those_who_do_not_see_it() -> None:
    shown = re.findall(r'(?:\(|src="|srcset=")images/([\w-]+\.png)', TEXT)
    there = {file.name for file in (ROOT / "docs" / "images").iterdir()}
    assert set(shown) == there
    assert re.findall(r"!\[([^\]]{40,})\]\(images/", TEXT)
    assert "![](" not in TEXT
    assert all('alt="' in one for one in re.findall("<img [^>]*>", TEXT))
