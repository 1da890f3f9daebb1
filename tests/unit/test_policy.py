"""The annotations of a CronJob: each is read, and whatever does not parse is refused by name."""

from __future__ import annotations

from typing import Any

import pytest

from k8sjob.cycle import Cycle
from k8sjob.errors import ConfigError
from k8sjob.policy import (
    PREFIX,
    READERS,
    CatchUp,
    ManualRuns,
    Policy,
    read_manual_runs,
    read_policy,
)

DURATIONS = ["grace", "catch-up-max-age", "max-lateness", "max-duration", "retention"]
TEXTS = ["job", "ledger", "owner", "severity", "runbook"]
WORDS = {
    "cycle": "scheduled, day, week, month, once",
    "catch-up": "flag, skip, every, latest",
    "manual-runs": "refuse, oldest-missing, latest-missing",
}

READ: list[tuple[str, str, str, Any]] = [
    ("job", "billing/credit", "job", "billing/credit"),
    ("ledger", "eu", "ledger", "eu"),
    *(("cycle", str(cycle), "cycle", cycle) for cycle in Cycle),
    ("grace", "30s", "grace_s", 30),
    ("grace", " 5m ", "grace_s", 300),
    *(("catch-up", str(word), "catch_up", word) for word in CatchUp),
    ("catch-up-max-count", "1", "catch_up_max_count", 1),
    ("catch-up-max-count", "10000", "catch_up_max_count", 10_000),
    ("catch-up-max-count", "007", "catch_up_max_count", 7),
    ("catch-up-max-age", "2d", "catch_up_max_age_s", 172_800),
    *(("manual-runs", str(word), "manual_runs", word) for word in ManualRuns),
    ("max-lateness", "6h", "max_lateness_s", 21_600),
    ("max-duration", "1s", "max_duration_s", 1),
    ("max-duration", "1000ms", "max_duration_s", 1),
    ("retention", "36500d", "retention_s", 3_153_600_000),
    ("owner", " team billing ", "owner", "team billing"),
    ("severity", "page", "severity", "page"),
    ("runbook", "https://wiki.example.com/credit", "runbook", "https://wiki.example.com/credit"),
]

GARBAGE: list[tuple[str, str, str]] = [
    *((name, text, f"write {words}") for name, words in WORDS.items() for text in ("", "Day", "x")),
    ("cycle", " day", "write scheduled"),
    ("cycle", "day\n", "write scheduled"),
    *(
        (name, text, "Write 30s, 5m, 2h or 7d")
        for name in DURATIONS
        for text in ("", "5", "-5m", "1.5h", "1h30m", "5 m", "5M", "٣s", "soon", "9" * 5000 + "s")
    ),
    *((name, text, "write a second or more") for name in DURATIONS for text in ("0s", "999ms")),
    *((name, text, "write 36500d") for name in DURATIONS for text in ("36501d", "999999999d")),
    *(
        ("catch-up-max-count", text, "write a whole number from 1 to 10000")
        for text in (
            "",
            "0",
            "-1",
            "+1",
            "1.0",
            "1e3",
            "1_000",
            "10001",
            " 5",
            "5\n",
            "²",
            "٣",
            "x",
        )
    ),
    ("catch-up-max-count", "9" * 5000, "write a whole number from 1 to 10000"),
    *((name, text, "take the annotation away") for name in TEXTS for text in ("", " \n\t")),
]


@pytest.mark.parametrize(("name", "text", "field", "value"), READ)
def test_an_annotation_is_read_and_no_other_field_moves(
    name: str, text: str, field: str, value: Any
) -> None:
    assert read_policy({PREFIX + name: text}) == Policy(**{field: value})


def test_the_table_of_this_file_has_every_annotation() -> None:
    assert {PREFIX + name for name, *_ in READ} == set(READERS)
    assert {PREFIX + name for name, *_ in GARBAGE} == set(READERS)


def test_each_annotation_fills_a_field_of_its_own() -> None:
    assert {field for field, _ in READERS.values()} == set(Policy.__slots__)


def test_all_annotations_are_read_together() -> None:
    found = read_policy({PREFIX + name: text for name, text, *_ in READ})
    assert (found.job, found.grace_s, found.catch_up_max_count) == ("billing/credit", 300, 7)
    assert (found.cycle, found.manual_runs) == (Cycle.ONCE, ManualRuns.LATEST_MISSING)


def test_without_annotations_misses_are_flagged_and_nothing_is_started() -> None:
    found = read_policy({})
    assert (found.catch_up, found.catch_up_max_count) == (CatchUp.FLAG, 10)
    assert found.catch_up_max_age_s == 7 * 86400
    assert (found.cycle, found.grace_s, found.manual_runs) == (None, None, None)


@pytest.mark.parametrize(
    "name",
    ["team.example.com/owner", "grace", "k8sjob.io/Grace", "k8sjob.io/period", "x.k8sjob.io/grace"],
)
def test_annotations_of_others_are_passed_over(name: str) -> None:
    assert read_policy({name: "garbage"}) == Policy()


@pytest.mark.parametrize(("name", "text", "advice"), GARBAGE)
def test_garbage_is_refused_with_the_annotation_and_what_to_write(
    name: str, text: str, advice: str
) -> None:
    with pytest.raises(ConfigError) as refused:
        read_policy({PREFIX + "owner": "billing", PREFIX + name: text})

    told = str(refused.value)
    assert told.startswith(f"annotation {PREFIX}{name}: {text!r} does not parse")
    assert "it was not taken" in told
    assert advice in told


@pytest.mark.parametrize("word", ManualRuns)
def test_a_policy_of_manual_runs_is_read_by_its_name(word: ManualRuns) -> None:
    assert read_manual_runs(str(word)) is word


def test_an_unknown_policy_of_manual_runs_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"k8sjob\.io/manual-runs: 'newest'.*oldest-missing"):
        read_manual_runs("newest")
