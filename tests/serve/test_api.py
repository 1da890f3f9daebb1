"""The API says what ``k8sjob get -o json`` says, selected by parameters."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from k8sjob.cli import looking
from k8sjob.cli.main import main
from k8sjob.ledger.settings import parse
from k8sjob.serve.app import App
from k8sjob.serve.site import Site
from tests.fix_report import uses
from tests.serve import scene
from tests.serve.client import Client
from tests.serve.conftest import find_reader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.fix_stores import Database


@pytest.fixture
def command(
    gallery: Database, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Any]:
    """Call ``k8sjob get … -o json`` at the same moment."""
    monkeypatch.setenv("K8SJOB_DSN", gallery.dsn("reader"))
    monkeypatch.setattr(looking, "now", lambda _: scene.NOW)

    def call(*words: str) -> Any:
        with pytest.raises(SystemExit) as end:
            main(["get", *words, "-o", "json"])
        assert end.value.code == 0
        return json.loads(capsys.readouterr().out)

    return call


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("", ["-A"]),
        ("namespace=billing", ["-n", "billing"]),
        ("name=billing/daily-credit", ["billing/daily-credit"]),
        ("namespace=ops&name=backup&name=vacuum", ["-n", "ops", "backup", "vacuum"]),
        ("state=missing,blocked", ["-A", "--state", "missing,blocked"]),
        ("state=missing&state=blocked", ["-A", "--state", "missing,blocked"]),
        ("limit=3", ["-A", "--limit", "3"]),
        ("ledger=default&limit=2", ["-A", "--limit", "2"]),
    ],
)  # fmt: skip
def test_jobs_are_those_of_the_command(
    client: Client, command: Callable[..., Any], query: str, words: list[str]
) -> None:
    got = client.get(f"/api/v1/jobs?{query}").json
    assert got == command("jobs", *words)
    assert got["jobs"]


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("name=billing/daily-credit", ["billing/daily-credit"]),
        ("name=billing/daily-credit&limit=5", ["billing/daily-credit", "--limit", "5"]),
        ("state=missing,due", ["-A", "--state", "missing,due"]),
        ("namespace=billing&since=3d", ["-n", "billing", "--since", "3d"]),
        ("name=ops/heartbeat&from=2026-09-13T17:18:00Z&to=2026-09-13T17:23:00Z",
         ["ops/heartbeat", "--from", "2026-09-13T17:18:00Z", "--to", "2026-09-13T17:23:00Z"]),
        ("name=billing/daily-credit:2026-09-12T00:00:00Z",
         ["billing/daily-credit:2026-09-12T00:00:00Z"]),
        ("name=data/archive&since=30d&state=suspended",
         ["data/archive", "--since", "30d", "--state", "suspended"]),
    ],
)  # fmt: skip
def test_periods_are_those_of_the_command(
    client: Client, command: Callable[..., Any], query: str, words: list[str]
) -> None:
    got = client.get(f"/api/v1/periods?{query}").json
    assert got == command("periods", *words)
    assert got["periods"]


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("jobs?state=lost", "lost is no state"),
        ("jobs?limit=0", "no number from 1 to 10000"),
        ("jobs?since=1d", "there is no parameter 'since' here"),
        ("jobs?name=UPPER/case", "breaks the rules of a namespace"),
        ("jobs?name=billing/daily-credit:2026-09-13", "jobs have no period"),
        ("periods?from=2026-09-13T00:00:00", "is no instant"),
        ("periods?from=0001-01-01T00:00:00%2B05:00", "is no instant"),
        ("periods?since=999999999d", "write 36500d or less"),
        ("periods?since=yesterday", "not a duration"),
        ("periods?name=billing/x&namespace=ops", "billing/x is not of namespace ops"),
        ("periods?name=%3Cscript%3E", "<script>"),
        ("periods?name=a%00b/c", "breaks the rules"),
        ("periods?namespace=a&namespace=b", "namespace is given 2 times"),
    ],
)
def test_what_is_asked_wrongly_is_told_in_the_errors_words(
    client: Client, place: str, words: str
) -> None:
    got = client.get(f"/api/v1/{place}")
    assert got.status == 400
    assert words in got.json["error"]
    assert got.json["status"] == 400


@pytest.mark.parametrize("what", ["jobs", "periods"])
def test_a_job_that_is_not_known_is_not_there(client: Client, what: str) -> None:
    got = client.get(f"/api/v1/{what}?name=billing/daily-kredit")
    assert got.status == 404
    assert "Did you mean billing/daily-credit?" in got.json["error"]


def test_a_ledger_that_is_not_served_is_not_there(client: Client) -> None:
    got = client.get("/api/v1/jobs?ledger=north")
    assert got.status == 404
    assert got.json["error"].endswith("The ledgers are default.")


def test_a_wrong_question_leaves_the_connection_as_good_as_before(
    own: Client, painted: Database
) -> None:
    for _ in range(10):
        assert own.get("/api/v1/jobs?state=lost").status == 400
    with painted.connect("admin", autocommit=True) as conn:
        query = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'k8sjob reader'"
        row = conn.execute(query + " AND datname = current_database()").fetchone()
    assert row == (1,)


# ------------------------------------------------------------------------------ several ledgers


@pytest.fixture
def two(request: pytest.FixtureRequest, gallery: Database) -> Iterator[Callable[[str], Client]]:
    """Serve two ledgers: the painted one, and one that is told as a DSN."""
    uses(request.node, gallery.server.name)
    made: list[Site] = []

    def serve(dsn: str) -> Client:
        finds = {**find_reader(gallery), "south": lambda: parse(dsn, "the test")}
        made.append(Site(finds, now=lambda _: scene.NOW))
        return Client(App.of(made[-1]))

    yield serve
    for site in made:
        site.close()


def test_of_several_ledgers_each_entry_says_whose_it_is(
    two: Callable[[str], Client], gallery: Database
) -> None:
    client = two(gallery.dsn("runner"))
    alone = client.get("/api/v1/jobs?ledger=south").json
    both = client.get("/api/v1/jobs").json
    assert [job["ledger"] for job in both["jobs"]] == ["default"] * 14 + ["south"] * 14
    assert [{k: v for k, v in job.items() if k != "ledger"} for job in both["jobs"][14:]] == (
        alone["jobs"]
    )
    assert both["away"] == []
    assert client.get("/api/v1/jobs?limit=15").json["cut"]


def test_a_ledger_that_is_away_hides_nothing_of_the_others(two: Callable[[str], Client]) -> None:
    client = two("postgresql://k8sjob:hunter2@127.0.0.1:1/none")
    got = client.get("/api/v1/jobs?namespace=billing")
    assert got.status == 200
    assert [job["name"] for job in got.json["jobs"]] == ["daily-credit", "invoices", "reminders"]
    ((away),) = got.json["away"]
    assert away["ledger"] == "south"
    assert away["error"].startswith("the ledger cannot be reached")
    assert "hunter2" not in got.text
    assert client.get("/api/v1/jobs?ledger=south").status == 503


def test_a_job_that_is_in_no_ledger_that_answers_may_be_in_the_other(
    two: Callable[[str], Client],
) -> None:
    client = two("postgresql://127.0.0.1:1/none")
    assert client.get("/api/v1/jobs?name=billing/nobody").status == 503
    assert client.get("/api/v1/jobs?name=billing/nobody&ledger=default").status == 404
    assert client.get("/api/v1/jobs?state=lost").status == 400
