from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from k8sjob.errors import ConfigError, InvalidKey, K8sjobError, NoPeriod, UsageError
from k8sjob.run.request import Flags, Request, make_request
from k8sjob.states import Outcome

if TYPE_CHECKING:
    from pathlib import Path

JOB = Flags(job="billing/credit", period="2026-09-13")


def made(env: dict[str, str], **flags: Any) -> Request:
    return make_request("app.credit:credit", Flags(**flags), env)


def test_flags_win_over_the_environment_and_the_source_says_which_it_was() -> None:
    env = {"K8SJOB_JOB": "ops/other", "K8SJOB_PERIOD": "2026-09-14"}

    by_flag = made(env, job="billing/credit", period="2026-09-13")
    by_variable = made(env)

    assert (str(by_flag.key), by_flag.source) == ("billing/credit:2026-09-13", "--period")
    assert (str(by_variable.key), by_variable.source) == ("ops/other:2026-09-14", "K8SJOB_PERIOD")


@pytest.mark.parametrize(
    ("env", "flags"),
    [
        ({"K8SJOB_NAMESPACE": "billing", "K8SJOB_CRONJOB": "credit"}, {}),
        ({"K8SJOB_NAMESPACE": "other"}, {"job": "credit", "namespace": "billing"}),
        ({"K8SJOB_NAMESPACE": "other"}, {"job": "billing/credit"}),
        ({"K8SJOB_JOB": "billing/credit", "K8SJOB_CRONJOB": "other"}, {}),
    ],
)
def test_a_job_without_a_namespace_takes_the_one_that_is_set(
    env: dict[str, str], flags: dict[str, str]
) -> None:
    assert str(made({"K8SJOB_PERIOD": "once", **env}, **flags).key) == "billing/credit:once"


def test_an_empty_variable_counts_as_not_set() -> None:
    env = {"K8SJOB_JOB": "", "K8SJOB_PERIOD": "", "K8SJOB_TIME_ZONE": "", "K8SJOB_POD_NAME": ""}

    request = make_request("credit.sql", JOB, env)

    assert (request.zone, request.place["pod_name"]) == (None, None)
    with pytest.raises(NoPeriod):
        made(env, job="billing/credit")


@pytest.mark.parametrize(
    ("env", "flags", "error", "words"),
    [
        ({}, {"period": "once"}, UsageError, "Pass --job NAMESPACE/NAME"),
        ({}, {"job": "a/b"}, NoPeriod, "Pass --period"),
        ({}, {"job": "a/b", "period": "yesterday"}, InvalidKey, "2026-09-13"),
        ({}, {"job": "b", "period": "once"}, InvalidKey, "NAMESPACE/b"),
        (
            {},
            {"job": "a/b", "period": "once", "time_zone": "Europe/Roma"},
            ConfigError,
            "Europe/Rome",
        ),
        ({}, {"job": "a/b", "period": "once", "lock_timeout": "soon"}, UsageError, "30s"),
        ({}, {"job": "a/b", "period": "once", "fail_on": "applied"}, ConfigError, "blocked"),
        ({}, {"job": "a/b", "period": "once", "fail_on": "blokked"}, ConfigError, "blokked"),
        ({}, {"job": "a/b", "period": "once", "payload": "@/nowhere"}, UsageError, "/nowhere"),
        ({"K8SJOB_OUTPUT_BYTES": "2k"}, {"job": "a/b", "period": "once"}, ConfigError, "2048"),
    ],
)
def test_what_is_wrong_is_refused_with_what_to_pass(
    env: dict[str, str], flags: dict[str, str], error: type[K8sjobError], words: str
) -> None:
    with pytest.raises(error, match=words):
        made(env, **flags)


def test_a_payload_is_bytes_from_a_flag_a_file_or_the_environment(tmp_path: Path) -> None:
    (tmp_path / "p").write_bytes(b"\x00\xff")

    at_file = make_request(
        "f.sql", Flags(job="a/b", period="once", payload=f"@{tmp_path / 'p'}"), {}
    )
    variable = made({"K8SJOB_PAYLOAD": "ü"}, job="a/b", period="once")
    none = made({}, job="a/b", period="once")
    empty = made({}, job="a/b", period="once", payload="")

    assert at_file.payload == b"\x00\xff"
    assert variable.payload == "ü".encode()
    assert (none.payload, none.payload_sha256) == (None, None)
    assert empty.payload == b""
    assert empty.payload_sha256 != none.payload_sha256


def test_the_outcomes_to_fail_on_are_a_list() -> None:
    request = made({"K8SJOB_FAIL_ON": " blocked, awaiting,"}, job="a/b", period="once")

    assert request.fail_on == {Outcome.BLOCKED, Outcome.AWAITING}


@pytest.mark.parametrize(
    "text", ["credit", "a:b:c", ":f", "m:", "a b:c", "1a:b", "credit.py", "a.:b"]
)
def test_a_target_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="module:function"):
        make_request(text, JOB, {})


def test_a_file_is_told_from_a_function_by_its_ending() -> None:
    assert make_request("./jobs/a-b c.sql", JOB, {}).target.mode == "sql"
    assert make_request("app.jobs:Credit.run", JOB, {}).target.mode == "callable"
