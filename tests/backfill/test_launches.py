"""Jobs are noted before they are made."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC
from typing import TYPE_CHECKING

import pytest

from k8sjob.errors import ConfigError, Denied
from k8sjob.key import JobName, Key
from k8sjob.ledger import settings
from k8sjob.ledger.launches import Launch, Launches, open_launches

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from tests.fix_stores import Database
    from tests.template import Role

KEY = Key.parse("billing/credit:2026-09-11T00:00:00Z")
OTHER = Key.parse("billing/credit:2026-09-12T00:00:00Z")
FIRST = Launch(key=KEY, generation=0, try_=1, name="credit-bf-20260911-0-1", reason="backfill")


def connect(db: Database, role: Role = "operator") -> AbstractContextManager[Launches]:
    return closing(open_launches(settings.parse(db.dsn(role), "test")))


@pytest.fixture
def launches(db: Database) -> Iterator[Launches]:
    """Connect as the operator."""
    with connect(db) as connected:
        yield connected


def noted(launches: Launches, key: Key = KEY) -> list[tuple[int, int, str, str | None]]:
    found = launches.launched([key]).get(key, ())
    return [(one.generation, one.try_, one.name, one.uid) for one in found]


def test_a_job_is_noted_and_later_its_uid(launches: Launches) -> None:
    launches.note(FIRST)
    assert noted(launches) == [(0, 1, FIRST.name, None)]
    launches.note(Launch(key=KEY, generation=0, try_=1, name=FIRST.name, reason="again", uid="u1"))
    (one,) = launches.launched([KEY])[KEY]
    assert (one.uid, one.reason) == ("u1", "backfill")
    assert one.noted_at
    assert one.noted_at.tzinfo is UTC


def test_a_uid_that_is_known_stays(launches: Launches) -> None:
    for uid in ("u1", None, "u2"):
        launches.note(Launch(key=KEY, generation=0, try_=1, name=FIRST.name, reason="any", uid=uid))
    assert noted(launches) == [(0, 1, FIRST.name, "u1")]


def test_notes_come_back_by_generation_and_try_and_only_those_asked_for(
    launches: Launches,
) -> None:
    for generation, try_ in ((1, 1), (0, 2), (0, 1)):
        launches.note(
            Launch(key=KEY, generation=generation, try_=try_, name=f"n{try_}", reason="any")
        )
    launches.note(Launch(key=OTHER, generation=0, try_=1, name="other", reason="any"))
    assert [one[:2] for one in noted(launches)] == [(0, 1), (0, 2), (1, 1)]
    assert [one[2] for one in noted(launches, OTHER)] == ["other"]
    assert launches.launched([]) == {}


def test_a_note_is_there_for_others_at_once(db: Database, launches: Launches) -> None:
    launches.note(FIRST)
    with connect(db, "reader") as other:
        assert len(noted(other)) == 1


@pytest.mark.parametrize("role", ["runner", "reader"])
def test_only_an_operator_may_note(db: Database, role: Role) -> None:
    with connect(db, role) as connected:
        with pytest.raises(Denied, match="migrate --grant-operator"):
            connected.note(FIRST)
        assert noted(connected) == []


def test_a_note_without_a_reason_is_refused(db: Database) -> None:
    conn = db.connect("operator")
    note = "SELECT k8sjob.note_launch('billing/credit', '2026-09-11', 0, 1, 'n', ' ')"
    with pytest.raises(Exception, match="a reason is needed"):
        conn.execute(note)


def test_a_note_of_no_period_is_refused(db: Database) -> None:
    conn = db.connect("operator")
    with pytest.raises(Exception, match="yesterday"):
        conn.execute("SELECT k8sjob.note_launch('billing/credit', 'yesterday', 0, 1, 'n', 'any')")


def test_the_cronjob_is_the_one_that_the_reconciler_saw(db: Database, launches: Launches) -> None:
    job = JobName("billing", "credit")
    assert launches.cronjob(job) is None
    admin = db.connect("admin", autocommit=True)
    admin.execute("INSERT INTO k8sjob.jobs (job, cronjob) VALUES ('billing/credit', 'credit-v2')")
    assert launches.cronjob(job) == "credit-v2"


def test_a_file_has_no_jobs_in_a_cluster() -> None:
    address = settings.parse("sqlite:///ledger.db", "K8SJOB_DSN")
    with pytest.raises(ConfigError, match=r"no Job in a cluster can reach[\s\S]*--local TARGET"):
        open_launches(address)
