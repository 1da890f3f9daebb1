"""What is found in the Job: its name, its deadline, its retries, its podFailurePolicy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.manifest.manifests import CRONJOB, JOB, cronjob, found, job, message, report, rules

if TYPE_CHECKING:
    from collections.abc import Callable

POLICY = """\
podFailurePolicy:
  rules:
    - action: {action}
      onExitCodes: {{containerName: main, operator: {operator}, values: {values}}}
"""


def policy(values: str, operator: str = "In", action: str = "FailJob") -> str:
    return POLICY.format(action=action, operator=operator, values=values)


@pytest.mark.parametrize(
    ("manifest", "length", "found"),
    [
        (CRONJOB, 52, []),
        (CRONJOB, 53, ["name-too-long"]),
        (JOB, 63, []),
        (JOB, 64, ["name-too-long"]),
    ],
)
def test_names_have_an_end(manifest: str, length: int, found: list[str]) -> None:
    assert rules(manifest.replace("name: credit", f"name: {'x' * length}")) == found


@pytest.mark.parametrize(
    ("manifest", "length", "completions", "limit"),
    [
        (cronjob, 52, 10, None),
        (cronjob, 52, 100, 51),
        (cronjob, 51, 100, None),
        (cronjob, 53, 100, 51),
        (job, 61, 10, None),
        (job, 61, 100, 60),
        (job, 61, 0, None),
    ],
)
def test_names_of_indexed_jobs_leave_room_for_the_index(
    manifest: Callable[..., str], length: int, completions: int, limit: int | None
) -> None:
    text = manifest(job=f"completionMode: Indexed\ncompletions: {completions}")
    text = text.replace("name: credit", f"name: {'x' * length}")
    assert rules(text) == ([] if limit is None else ["name-too-long"])
    if limit:
        assert message(text).endswith(f"write one of at most {limit}")


def test_a_job_without_a_deadline_is_told_where_its_spec_begins() -> None:
    assert found(cronjob(deadline="backoffLimit: 3")) == [(10, "no-deadline")]
    assert found(job(deadline="backoffLimit: 3")) == [(6, "no-deadline")]


def test_forbid_makes_it_worse() -> None:
    text = cronjob(deadline="backoffLimit: 3", spec="concurrencyPolicy: Forbid")
    assert "with concurrencyPolicy: Forbid nothing starts" in message(text)
    assert "Forbid" not in message(cronjob(deadline="backoffLimit: 3"))


@pytest.mark.parametrize("value", ["null", "~"])
def test_a_deadline_of_null_is_none(value: str) -> None:
    assert rules(cronjob(deadline=f"activeDeadlineSeconds: {value}")) == ["no-deadline"]


def test_a_deadline_in_the_pods_spec_is_the_only_thing_told_about_deadlines() -> None:
    pods = "activeDeadlineSeconds: 60"
    text = cronjob(deadline="backoffLimit: 3", pod=pods)
    assert found(text) == [(15, "pod-deadline")]
    assert message(text).endswith("move it to spec.jobTemplate.spec")
    assert message(job(deadline="backoffLimit: 3", pod=pods)).endswith("move it to the Job's spec")
    assert rules(cronjob(pod=pods)) == []


def test_a_deadline_of_nothing_fails_each_job() -> None:
    assert rules(cronjob(deadline="activeDeadlineSeconds: 0")) == ["deadline-zero"]


def test_no_retries_are_no_at_most_once() -> None:
    assert found(cronjob(job="backoffLimit: 0")) == [(12, "backoff-limit-zero")]
    assert found(job(job="backoffLimit: 0")) == [(8, "backoff-limit-zero")]
    assert rules(cronjob(job="backoffLimit: 1")) == []
    assert rules(cronjob(job="backoffLimit: false")) == []


@pytest.mark.parametrize(
    ("restart", "told"),
    [
        ("restartPolicy: OnFailure", "podFailurePolicy beside restartPolicy: OnFailure"),
        ("hostNetwork: false", "podFailurePolicy beside no restartPolicy"),
    ],
)
def test_a_policy_goes_with_never_alone(restart: str, told: str) -> None:
    text = cronjob(job=policy("[64]"), restart=restart)
    assert rules(text) == ["policy-needs-never"]
    assert message(text).startswith(told)
    assert rules(cronjob(restart=restart)) == []


def test_exit_codes_need_a_container() -> None:
    text = cronjob(job=policy("[64]").replace("containerName: main, ", ""))
    assert found(text) == [(15, "exit-codes-any-container")]
    assert message(text).endswith("write containerName: main")


def test_conditions_need_no_container() -> None:
    rule = "{action: Ignore, onPodConditions: [{type: DisruptionTarget}]}"
    assert rules(cronjob(job=f"podFailurePolicy: {{rules: [{rule}]}}")) == []


@pytest.mark.parametrize(
    ("values", "instead"),
    [("[65, 64]", "[64, 65]"), ("[64, 64]", "[64]"), ("[0x41, 0o100]", "[64, 65]")],
)
def test_exit_codes_stand_in_order_and_once(values: str, instead: str) -> None:
    text = cronjob(job=policy(values))
    assert rules(text) == ["exit-codes-order"]
    assert message(text).endswith(f"write values: {instead}")


def test_zero_is_no_failure_and_not_advised() -> None:
    assert rules(cronjob(job=policy("[0, 64]"))) == ["exit-code-zero"]
    assert rules(cronjob(job=policy("[0, 69, 75]", "NotIn"))) == []
    both = cronjob(job=policy("[64, 0]"))
    assert rules(both) == ["exit-code-zero", "exit-codes-order"]
    assert _messages(both, "exit-codes-order")[0].endswith("write values: [64]")


def _messages(text: str, rule: str) -> list[str]:
    return [finding.message for finding in report(text).findings if finding.rule == rule]


def test_init_containers_are_containers_too() -> None:
    text = policy("[64]").replace("main", "fetch")
    assert rules(cronjob(job=text)) == ["unknown-container"]
    assert message(cronjob(job=text)).endswith("write main")
    assert rules(cronjob(job=text, pod="initContainers: [{name: fetch}]")) == []


def test_pods_that_still_run_are_not_replaced_beside_a_policy() -> None:
    line = "podReplacementPolicy: TerminatingOrFailed\n"
    assert rules(cronjob(job=line + policy("[64]"))) == ["pod-replacement"]
    assert rules(cronjob(job=line)) == []
    assert rules(cronjob(job=line.replace("TerminatingOr", "") + policy("[64]"))) == []


@pytest.mark.parametrize(
    ("values", "operator", "told"),
    [
        ("[64, 75]", "In", "FailJob takes exit code 75 as final"),
        ("[69, 75]", "In", "FailJob takes exit code 69 and 75 as final"),
        ("[1]", "NotIn", "FailJob takes exit code 69 and 75 as final"),
        ("[69]", "NotIn", "FailJob takes exit code 75 as final"),
    ],
)
def test_codes_that_ask_for_another_try_are_not_final(
    values: str, operator: str, told: str
) -> None:
    text = cronjob(job=policy(values, operator))
    assert rules(text) == ["retry-code-fails"]
    assert message(text).startswith(told)


@pytest.mark.parametrize(
    "text",
    [
        cronjob(job=policy("[75]", action="Count")),
        cronjob(job=policy("[69, 75]", "NotIn")),
        cronjob(job=policy("[75]")).replace("command: [k8sjob,", "command: [other,"),
        cronjob(job=policy("[75]")).replace("command: [k8sjob,", "command: [ls, /data/k8sjob,"),
        cronjob(job=policy("[75]").replace("main", "fetch"), pod="initContainers: [{name: fetch}]"),
    ],
)
def test_codes_of_others_and_other_actions_are_their_own_affair(text: str) -> None:
    assert rules(text) == []


@pytest.mark.parametrize(
    "command", ["[/usr/bin/k8sjob, run, a:b]", '[sh, -c, "exec k8sjob run a:b"]']
)
def test_k8sjob_is_seen_in_a_path_and_in_a_shells_line(command: str) -> None:
    text = cronjob(job=policy("[75]")).replace('[k8sjob, run, "billing.credit:credit"]', command)
    assert rules(text) == ["retry-code-fails"]


def test_a_job_is_not_asked_for_a_schedule_or_a_zone() -> None:
    assert rules(JOB) == []
    assert rules(job(job=policy("[64]"), restart="restartPolicy: OnFailure")) == [
        "policy-needs-never"
    ]
