"""The outbox is looked after with SQL: what the alert and its runbook give is run on a ledger."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from uuid import UUID

import pytest
from psycopg.errors import InsufficientPrivilege

from tests.alerts.rulebook import RUNBOOKS, alerts

if TYPE_CHECKING:
    from tests.fix_stores import Database

STATES = ("pending", "dead", "sent")
NEWS = (
    "SELECT state, tries, next_at <= clock_timestamp(), leased_until FROM k8sjob.outbox WHERE n = 2"
)


def in_runbook() -> list[str]:
    text = (RUNBOOKS / "K8sjobOutboxStuck.md").read_text("utf-8")
    return re.findall(r"^```sql\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def in_description(state: str) -> str:
    [rule] = [one for one in alerts() if one["labels"].get("state") == state]
    [query] = re.findall("SELECT .*;", rule["annotations"]["description"])
    return str(query)


@pytest.fixture
def outbox(db: Database) -> Database:
    """Leave a message in each state, the dead one after many tries."""
    owner = db.connect("owner", autocommit=True)
    for n, state in enumerate(STATES, 1):
        owner.execute(
            "INSERT INTO k8sjob.outbox (id, job, period, n, destination, body, state, tries, "
            "next_at, leased_until) VALUES (%(id)s, 'billing/credit', '2026-09', %(n)s, 'bank', "
            "'', %(state)s, 9, '2999-01-01', '2999-01-01')",
            {"id": UUID(int=n), "n": n, "state": state},
        )
    return db


@pytest.mark.parametrize("state", ["pending", "dead"])
def test_the_alert_tells_how_to_find_the_period(state: str, outbox: Database) -> None:
    found = outbox.connect("reader").execute(in_description(state).encode()).fetchall()
    assert [row[:3] for row in found] == [("billing/credit", "2026-09", "bank")]


def test_the_runbook_finds_what_is_not_sent(outbox: Database) -> None:
    listed, counted, _, _ = in_runbook()
    reader = outbox.connect("reader")
    rows = reader.execute(listed.encode()).fetchall()
    assert {(row[1], row[2], row[4]) for row in rows} == {
        ("billing/credit", "2026-09", state) for state in ("pending", "dead")
    }
    counts = reader.execute(counted.encode()).fetchall()
    assert {row[:3] for row in counts} == {("bank", "pending", 1), ("bank", "dead", 1)}


@pytest.mark.parametrize("number", [1, 3], ids=["pending", "sent"])
def test_what_is_not_dead_is_left_alone(number: int, outbox: Database) -> None:
    owner = outbox.connect("owner")
    for change in in_runbook()[2:]:
        assert owner.execute(change.replace("…", str(UUID(int=number))).encode()).rowcount == 0


def test_a_dead_message_is_tried_again_from_the_beginning(outbox: Database) -> None:
    again = in_runbook()[2].replace("…", str(UUID(int=2))).encode()
    for other in ("reader", "runner", "operator"):
        with pytest.raises(InsufficientPrivilege):
            outbox.connect(other).execute(again)
    owner = outbox.connect("owner", autocommit=True)
    assert owner.execute(again).rowcount == 1
    assert owner.execute(NEWS).fetchall() == [("pending", 0, True, None)]


def test_a_dead_message_can_be_taken_away(outbox: Database) -> None:
    owner = outbox.connect("owner", autocommit=True)
    assert owner.execute(in_runbook()[3].replace("…", str(UUID(int=2))).encode()).rowcount == 1
    assert owner.execute(NEWS).fetchall() == []
