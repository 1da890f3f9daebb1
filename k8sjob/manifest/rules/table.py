"""All rules by name. ``docs/lint.md`` describes each; a test compares the two."""

from __future__ import annotations

from typing import Final

from k8sjob.manifest.rule import Rule
from k8sjob.manifest.rules import document, environment, failure, job, names, schedule

#: It checks what silences the others, so nothing silences it.
UNKNOWN_RULE: Final = "unknown-rule"

RULES: Final[tuple[Rule, ...]] = (
    Rule("bad-schedule", schedule.bad_schedule),
    Rule("zone-in-schedule", schedule.zone_in_schedule),
    Rule("every", schedule.every),
    Rule("never-fires", schedule.never_fires),
    Rule("either-day", schedule.either_day),
    Rule("no-time-zone", schedule.no_time_zone),
    Rule("unknown-time-zone", schedule.unknown_time_zone),
    Rule("fires-twice", schedule.fires_twice),
    Rule("left-out", schedule.left_out),
    Rule("astray", schedule.astray),
    Rule("starting-deadline-zero", schedule.starting_deadline_zero),
    Rule("starting-deadline-short", schedule.starting_deadline_short),
    Rule("name-too-long", job.name_too_long, jobs=True),
    Rule("no-deadline", job.no_deadline, jobs=True),
    Rule("deadline-zero", job.deadline_zero, jobs=True),
    Rule("pod-deadline", job.pod_deadline, jobs=True),
    Rule("backoff-limit-zero", job.backoff_limit_zero, jobs=True),
    Rule("policy-needs-never", failure.policy_needs_never, jobs=True),
    Rule("exit-codes-any-container", failure.exit_codes_any_container, jobs=True),
    Rule("exit-codes-order", failure.exit_codes_order, jobs=True),
    Rule("exit-code-zero", failure.exit_code_zero, jobs=True),
    Rule("unknown-container", failure.unknown_container, jobs=True),
    Rule("pod-replacement", failure.pod_replacement, jobs=True),
    Rule("retry-code-fails", failure.retry_code_fails, jobs=True),
    Rule("bad-value", names.bad_value, jobs=True),
    Rule("unknown-name", names.unknown_name, jobs=True),
    Rule("wrong-place", names.wrong_place),
    Rule("job-only", names.job_only),
    Rule("env-differs", environment.env_differs),
    Rule("duplicate-key", document.duplicate_key, jobs=True),
    Rule(UNKNOWN_RULE, lambda case: names.unknown_rule(case, NAMES), jobs=True),
)

NAMES: Final[list[str]] = [rule.name for rule in RULES]
