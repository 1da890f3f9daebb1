"""Who may call which function of the ledger, and what functions may change, step by step.

A new function stands here before it is anybody's.
"""

from __future__ import annotations

from k8sjob.ledger.migrate import migrations

NOBODY, OPERATOR, RUNNING = "", "operator", "operator runner"
READING = "operator reader runner"

#: Every function and who may call it, by the migration that made it.
FUNCTIONS_OF = {
    "ledger": {
        "await": RUNNING,
        "block": RUNNING,
        "check_client": RUNNING,
        "check_key": NOBODY,
        "check_reason": NOBODY,
        "claim": RUNNING,
        "claim_answer": RUNNING,
        "claim_text": RUNNING,
        "close_to_all": NOBODY,
        "current_attempt": READING,
        "current_job": READING,
        "current_period": READING,
        "earliest_start": READING,
        "end_attempt": RUNNING,
        "enter_gate": NOBODY,
        "grant_access": NOBODY,
        "grant_again": NOBODY,
        "guard_commit": NOBODY,
        "hold_reason": READING,
        "holders": READING,
        "is_job": READING,
        "is_sound": NOBODY,
        "landed": RUNNING,
        "lift_hold": OPERATOR,
        "may_move": READING,
        "move": NOBODY,
        "period_instant": READING,
        "period_kind": READING,
        "prune_periods": OPERATOR,
        "raise_answer": RUNNING,
        "reopen": OPERATOR,
        "run_claim": RUNNING,
        "scheduled_for": READING,
        "seal": RUNNING,
        "set_hold": OPERATOR,
        "skip": RUNNING,
        "start_attempt": RUNNING,
        "try_claim": RUNNING,
        "version_numbers": READING,
        "whole_job": READING,
        "window_end": READING,
    },
    "people": {
        "decide": OPERATOR,
        "ended_before": READING,
        "guard_floor": NOBODY,
        "prune_attempts": OPERATOR,
    },
    "commands": {"heartbeat": RUNNING},
    "cluster": {
        "change_version": OPERATOR,
        "close_attempt": OPERATOR,
        "end_pass": OPERATOR,
        "enter_list": OPERATOR,
        "expect_periods": OPERATOR,
        "explain_period": OPERATOR,
        "forget_scope": OPERATOR,
        "is_connected": OPERATOR,
        "lapse": RUNNING,
        "move_mark": OPERATOR,
        "note_blind": OPERATOR,
        "note_launch": OPERATOR,
        "note_unstarted": OPERATOR,
        "overdue_awaiting": OPERATOR,
        "resolve_job": RUNNING,
        "revoke_access": NOBODY,
        "start_pass": OPERATOR,
        "supersede": RUNNING,
        "track_job": OPERATOR,
    },
}

#: Those that act with the owner's rights.
DEFINERS_OF = {
    "ledger": {
        *("await", "block", "skip", "reopen", "set_hold", "lift_hold", "prune_periods"),
        *("claim_answer", "enter_gate", "check_client", "start_attempt", "end_attempt"),
        *("landed", "holders"),
    },
    "people": {"decide", "prune_attempts"},
    "commands": {"heartbeat"},
    "cluster": {
        *("change_version", "close_attempt", "end_pass", "enter_list", "expect_periods"),
        *("explain_period", "forget_scope", "is_connected", "move_mark", "note_blind"),
        "note_launch",
        *("lapse", "note_unstarted", "overdue_awaiting", "resolve_job", "start_pass"),
        *("supersede", "track_job"),
    },
}

#: What changes or deletes rows that tell what was. (Those of jobs and counters tell what is.)
CHANGES_OF = {
    "ledger": {
        ("claim_answer", "UPDATE", "periods"),
        ("move", "UPDATE", "periods"),
        ("await", "UPDATE", "periods"),
        ("end_attempt", "UPDATE", "attempts"),
        ("lift_hold", "UPDATE", "holds"),
        ("prune_periods", "UPDATE", "gate"),
        ("prune_periods", "DELETE FROM", "periods"),
    },
    "people": {
        ("decide", "UPDATE", "periods"),
        ("prune_attempts", "DELETE FROM", "attempts"),
    },
    "commands": {("heartbeat", "UPDATE", "attempts")},
    "cluster": {
        ("change_version", "UPDATE", "schedule_versions"),
        ("close_attempt", "UPDATE", "attempts"),
        ("end_pass", "DELETE FROM", "passes"),
        ("end_pass", "UPDATE", "passes"),
        ("enter_list", "UPDATE", "scopes"),
        ("end_attempt", "UPDATE", "attempts"),
        ("expect_periods", "UPDATE", "periods"),
        ("explain_period", "UPDATE", "periods"),
        ("forget_scope", "DELETE FROM", "passes"),
        ("forget_scope", "DELETE FROM", "scopes"),
        ("move", "UPDATE", "periods"),
        ("prune_attempts", "DELETE FROM", "attempts"),
        ("prune_attempts", "DELETE FROM", "resolutions"),
        ("revoke_access", "DELETE FROM", "grants"),
        ("supersede", "UPDATE", "periods"),
    },
}

_STEPS = [step.name for step in migrations()]
FUNCTIONS = {name: who for step in _STEPS for name, who in FUNCTIONS_OF[step].items()}
DEFINERS = {name for step in _STEPS for name in DEFINERS_OF[step]}
CHANGES = {change for step in _STEPS for change in CHANGES_OF[step]}
