from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from k8sjob.doctor.limits import check_durability, check_keepalives, check_timeouts
from k8sjob.doctor.line import Status
from k8sjob.doctor.purpose import Purpose
from k8sjob.ledger.survey import Login, Pooling

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.doctor.conftest import Doctor
    from tests.fix_stores import Database

OK, WARN, FAIL = Status
FAR = Login("ann", "db.example", 5432, "shop", tls=True, took_s=0.01)
NEAR = Login("ann", "/run/postgresql", 5432, "shop", tls=False, took_s=0.01)


def keepalives(idle: int, every: int, count: int, **other: str) -> dict[str, str]:
    names = ("idle", "interval", "count")
    numbers = dict(zip(names, (idle, every, count), strict=True))
    return {f"tcp_keepalives_{name}": str(n) for name, n in numbers.items()} | other


# ---------------------------------------------------------------------------------- timeouts


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("statement_timeout", "statement_timeout is 30 s and ends each statement of the work"),
        ("idle_in_transaction_session_timeout", "is 30 s and ends a claim that computes for"),
        ("transaction_timeout", "transaction_timeout is 30 s and ends a claim that takes longer"),
    ],
)
def test_what_cuts_a_run_short_is_a_warning(
    doctor: Doctor, db: Database, setting: str, words: str
) -> None:
    if setting == "transaction_timeout" and db.server.major < 17:
        pytest.skip("Postgres has it from 17 on")

    line = doctor.ask(K8SJOB_DSN=db.dsn(options=f"-c {setting}=30s")).one("timeouts")

    assert line.status is WARN
    assert words in line.seen
    assert line.do.startswith(f'ALTER ROLE "k8sjob_runner" SET {setting} = 0')


def test_the_line_that_it_gives_takes_the_warning_away(doctor: Doctor, db: Database) -> None:
    admin = db.connect("admin", autocommit=True)
    role = f'ALTER ROLE "k8sjob_runner" IN DATABASE "{db.name}" SET statement_timeout'
    admin.execute(f"{role} = '5s'".encode())
    assert doctor.ask(K8SJOB_DSN=db.dsn()).one("timeouts").status is WARN

    admin.execute(f"{role} = 0".encode())
    assert doctor.ask(K8SJOB_DSN=db.dsn()).one("timeouts").status is OK


def test_a_lock_timeout_is_no_harm_to_a_run_which_sets_its_own(
    doctor: Doctor, db: Database
) -> None:
    line = doctor.ask(K8SJOB_DSN=db.dsn(options="-c lock_timeout=1s")).one("timeouts")

    assert (line.status, line.seen) == (OK, "nothing is cut: lock_timeout 1 s")


def test_each_limit_has_a_line() -> None:
    lines = check_timeouts(
        {"statement_timeout": "5000", "transaction_timeout": "60000"}, Purpose.RUN, "ann"
    )

    assert [line.seen.partition(" ")[0] for line in lines] == [
        "statement_timeout",
        "transaction_timeout",
    ]


@pytest.mark.parametrize(
    ("purpose", "settings", "status"),
    [
        (Purpose.RUN, {}, OK),
        (Purpose.MIGRATE, {"lock_timeout": "1000"}, WARN),
        (Purpose.MIGRATE, {"statement_timeout": "3600000"}, WARN),
        (Purpose.MIGRATE, {"idle_in_transaction_session_timeout": "60000"}, OK),
        (Purpose.RECONCILE, {"statement_timeout": "5000"}, WARN),
        (Purpose.RECONCILE, {"statement_timeout": "60000"}, OK),
        (Purpose.RECONCILE, {"lock_timeout": "5000"}, OK),
        (Purpose.BACKFILL, {"transaction_timeout": "5000"}, WARN),
        (Purpose.SERVE, {"statement_timeout": "5000"}, OK),
    ],
)
def test_a_limit_matters_to_those_whose_work_it_cuts(
    purpose: Purpose, settings: Mapping[str, str], status: Status
) -> None:
    (line,) = check_timeouts(settings, purpose, "ann")

    assert line.status is status


# -------------------------------------------------------------------------------- keepalives


@pytest.mark.parametrize(
    ("settings", "status", "words"),
    [
        (keepalives(30, 10, 3), OK, "noticed after 60 s"),
        (keepalives(7200, 75, 9), WARN, "noticed after 2 h 11 min"),
        (keepalives(0, 0, 0), WARN, "does not say"),
        (
            keepalives(7200, 75, 9, idle_in_transaction_session_timeout="60000"),
            OK,
            "noticed after 2 h 11 min",
        ),
        (keepalives(30, 10, 3, client_connection_check_interval="5000"), OK, "after 5 s"),
    ],
)
def test_how_long_a_dead_node_keeps_its_key_is_told(
    settings: Mapping[str, str], status: Status, words: str
) -> None:
    (line,) = check_keepalives(settings, Purpose.RUN, FAR, Pooling(between=False))

    assert line.status is status
    assert words in line.seen


def test_a_socket_of_this_machine_needs_no_keepalives() -> None:
    (line,) = check_keepalives(keepalives(0, 0, 0), Purpose.RUN, NEAR, Pooling(between=False))

    assert line.status is OK


def test_a_pooler_is_asked_first() -> None:
    (line,) = check_keepalives(keepalives(0, 0, 0), Purpose.RUN, NEAR, Pooling(between=True))

    assert line.seen.startswith("it is the pooler that notices")


@pytest.mark.parametrize("purpose", set(Purpose) - {Purpose.RUN})
def test_who_holds_no_keys_is_not_asked_for_keepalives(purpose: Purpose) -> None:
    assert not list(check_keepalives(keepalives(0, 0, 0), purpose, FAR, None))


# -------------------------------------------------------------------------------- durability


@pytest.mark.parametrize(
    ("settings", "statuses"),
    [
        ({"fsync": "on", "full_page_writes": "on", "synchronous_commit": "on"}, [OK]),
        ({"fsync": "on", "full_page_writes": "on", "synchronous_commit": "remote_apply"}, [OK]),
        ({"fsync": "on", "full_page_writes": "on", "synchronous_commit": "off"}, [WARN]),
        ({"fsync": "off", "full_page_writes": "on", "synchronous_commit": "on"}, [WARN]),
        ({"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off"}, [WARN, WARN]),
    ],
)
def test_a_commit_that_a_crash_may_undo_is_a_warning(
    settings: Mapping[str, str], statuses: list[Status]
) -> None:
    assert [line.status for line in check_durability(settings)] == statuses


def test_the_sessions_own_commits_are_looked_at(doctor: Doctor, db: Database) -> None:
    told = doctor.ask(K8SJOB_DSN=db.dsn(options="-c synchronous_commit=off"))

    assert any("synchronous_commit is off" in line.seen for line in told.of("durability"))
