"""``get`` lists jobs, periods and attempts: tables to the letter, names, limits, exit codes."""

from __future__ import annotations

from contextlib import closing
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests.view.conftest import JOB, at, attempt_id, period

if TYPE_CHECKING:
    from tests.template import Role
    from tests.view.conftest import Ledger

FAILED: dict[str, Any] = {"outcome": "failed", "exit_code": 1, "message": "KeyError: 'balance'"}


@pytest.fixture
def history(ledger: Ledger) -> Ledger:
    """Three days of one job: one nobody tried, one that failed, one done; and another job."""
    ledger.know()
    ledger.put(11, "open", origin="reconciler")
    ledger.put(12, "open", origin="reconciler")
    ledger.put(13, "done")
    ledger.tried(1, 12, "12T00:00:05", ended_at=at("12T00:00:46"), **FAILED)
    ledger.tried(2, 12, "12T00:02:31", ended_at=at("12T00:02:35"), pod_name="q7p", **FAILED)
    ledger.tried(3, 13, "13T00:00:05", ended_at=at("13T00:00:07"), outcome="applied", exit_code=0)
    ledger.know("ops/vacuum", zone=None)
    ledger.put(13, "done", "ops/vacuum")
    return ledger


def test_periods_of_a_job_are_listed_with_the_oldest_first(history: Ledger) -> None:
    told = history.call("get", "periods", JOB, "--since", "3d")
    assert told.code == 0
    assert told.err == ""
    assert told.lines == [
        "PERIOD                SCHEDULED (Europe/Rome)  STATE    ATTEMPTS  LAST      AGE  REASON",
        (
            "2026-09-11T00:00:00Z  Fri 11 Sep 02:00         missing  0         -         2d   "
            "no attempt is known"
        ),
        (
            "2026-09-12T00:00:00Z  Sat 12 Sep 02:00         missing  2         failed 1  1d   "
            "KeyError: 'balance'"
        ),
        "2026-09-13T00:00:00Z  Sun 13 Sep 02:00         done     1         applied   19h",
    ]


def test_jobs_are_listed_with_what_they_owe(history: Ledger) -> None:
    told = history.call("get", "jobs", "-A")
    assert told.lines == [
        (
            "NAMESPACE  NAME          SCHEDULE  UNFINISHED  "
            "OLDEST                                               LAST DONE             NEXT"
        ),
        (
            "billing    daily-credit  -         2 missing   "
            "2026-09-11T00:00:00Z (2d late, no attempt is known)  2026-09-13T00:00:00Z  -"
        ),
        (
            "ops        vacuum        -         -           "
            "-                                                    2026-09-13T00:00:00Z  -"
        ),
    ]


def test_attempts_are_listed_with_the_newest_first(history: Ledger) -> None:
    told = history.call("get", "attempts", f"{JOB}:{period(12)}")
    assert told.lines == [
        (
            "ATTEMPT        PERIOD                STARTED               DURATION  OUTCOME  "
            "EXIT  POD  "
            "MESSAGE"
        ),
        (
            "0199a002-0000  2026-09-12T00:00:00Z  2026-09-12 00:02:31Z  4.0s      failed   1 "
            "    q7p  "
            "KeyError: 'balance'"
        ),
        (
            "0199a001-0000  2026-09-12T00:00:00Z  2026-09-12 00:00:05Z  41s       failed   1 "
            "    -    "
            "KeyError: 'balance'"
        ),
    ]


def test_an_attempt_is_found_by_how_its_id_begins(history: Ledger) -> None:
    told = history.call("get", "attempts", "0199A002", "-o", "name")
    assert told.lines == [attempt_id(2)]


def test_of_all_namespaces_the_job_stands_before_the_period(history: Ledger) -> None:
    told = history.call("get", "periods", "-A", "--state", "done")
    assert [line.split()[:2] for line in told.lines] == [
        ["JOB", "PERIOD"],
        [JOB, period(13)],
        ["ops/vacuum", period(13)],
    ]
    told = history.call("get", "periods", "-n", "ops", "-o", "name")
    assert told.lines == [f"ops/vacuum:{period(13)}"]
    history.patch.setenv("K8SJOB_NAMESPACE", "ops")
    assert history.call("get", "jobs", "-o", "name").lines == ["ops/vacuum"]
    assert history.call("get", "jobs", "-o", "name", "-A").lines == [JOB, "ops/vacuum"]


def test_periods_are_filtered_by_their_ends_both_included(history: Ledger) -> None:
    for words in (
        (JOB, "--from", "2026-09-11", "--to", "2026-09-12"),
        (JOB, "--from", period(11), "--to", period(12)),
        (JOB, "--from", "2d", "--to", "24h", "--since", "30d"),
        (f"{JOB}:{period(11)}..{period(12)}",),
    ):
        expected = [period(11), period(12)][-1 if "2d" in words else 0 :]
        told = history.call("get", "periods", *words, "-o", "name")
        assert told.lines == [f"{JOB}:{p}" for p in expected], words


def test_a_limit_leaves_finished_ones_out_first_and_says_so(history: Ledger) -> None:
    told = history.call("get", "periods", JOB, "--limit", "2", "-o", "name")
    assert told.lines == [f"{JOB}:{period(11)}", f"{JOB}:{period(12)}"]
    assert told.err == "there are more: only 2 are shown. Raise --limit, or ask for less.\n"
    for what in ("jobs", "attempts"):
        told = history.call("get", what, "-A", "--limit", "1", "-o", "json")
        assert (len(told.json[what]), told.json["cut"]) == (1, True)
    assert history.call("get", "periods", JOB, "--limit", "3").err == ""


def test_a_state_is_found_behind_more_of_other_states_than_the_limit(history: Ledger) -> None:
    history.put(9, "skipped", reason="bank holiday")
    told = history.call("get", "periods", JOB, "--state", "skipped", "--limit", "1", "-o", "name")
    assert (told.lines, told.err) == ([f"{JOB}:{period(9)}"], "")


def test_a_part_that_only_sql_has_claimed_is_known(history: Ledger) -> None:
    part = f"{JOB}/invoices"
    history.put(12, "done", part)
    assert history.call("get", "periods", part, "-o", "name").lines == [f"{part}:{period(12)}"]
    assert f"Last done   {period(12)}" in history.call("describe", part).out
    assert history.call("describe", f"{JOB}/invoice").code == 1


def test_the_exit_code_tells_whether_something_is_unfinished(history: Ledger) -> None:
    assert history.call("get", "periods", JOB, "--exit-code").code == 1
    assert history.call("get", "jobs", "-A", "--exit-code").code == 1
    assert history.call("get", "periods", "ops/vacuum", "--exit-code").code == 0
    assert history.call("get", "periods", JOB, "--state", "done", "--exit-code").code == 0


def test_a_job_that_is_not_there_is_an_error_with_the_nearest_ones(history: Ledger) -> None:
    for words in (("get", "periods"), ("get", "jobs"), ("get", "attempts"), ("describe",)):
        told = history.call(*words, "billing/daily-kredit")
        assert (told.code, told.out) == (1, "")
        assert "Did you mean billing/daily-credit?" in told.err
        assert "k8sjob get jobs -A" in told.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("periods", "--state", "late"), "The states are missing, blocked"),
        (("periods", "--since", "yesterday"), "not a duration"),
        (("periods", "--from", "2026-09-13T00:00:00"), "is no instant"),
        (("jobs", "--since", "1d"), "jobs have no period"),
        (("periods", "-A", JOB), "something else is named too"),
        (("periods", "-n", "ops", JOB), "is not of namespace ops"),
    ],
)
def test_what_cannot_be_meant_is_refused(ledger: Ledger, words: tuple[str, ...], said: str) -> None:
    told = ledger.call("get", *words)
    assert told.code == 64
    assert said in told.err


@pytest.mark.parametrize("role", ["reader", "runner", "operator"])
def test_whoever_may_look_at_the_tables_can_list_and_describe(history: Ledger, role: Role) -> None:
    for words in (("get", "jobs"), ("get", "periods"), ("get", "attempts"), ("describe", JOB)):
        assert history.call(*words, role=role).code == 0


def test_nothing_found_is_said_and_is_no_error(ledger: Ledger) -> None:
    told = ledger.call("get", "periods", "-A")
    assert told == (0, "", "no periods found\n")


def test_the_ledgers_own_clock_is_asked(history: Ledger) -> None:
    from k8sjob.ledger import settings
    from k8sjob.ledger.read import open_reader

    with closing(open_reader(settings.parse(history.store.dsn, "the test"))) as reader:
        assert reader.now().utcoffset() == timedelta(0)
        assert reader.now() <= reader.now()
