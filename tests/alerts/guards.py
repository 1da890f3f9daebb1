"""The guards of the rules: what each is, the rules without it, and the cases that notice.

A case that stays green without the guard that it is about shows nothing. `test_guards.py` takes
each guard out and looks at the cases fail. The tables are `guards_of_missing`, `guards_of_jobs`
and `guards_of_watchers`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

JOB = "(cluster, ledger, namespace, cronjob)"
SUSPENDED = f"          unless on {JOB} k8sjob_job_suspended == 1\n"


@dataclass(frozen=True, slots=True)
class Guard:
    """What is taken out, and what has to fail then.

    ``within`` is the record or alert that ``old`` stands in, once; empty: all of the rules, where
    it may stand more often. ``breaks``: the names of cases.
    """

    name: str
    within: str
    old: str
    new: str
    breaks: tuple[str, ...]


def held(record: str, case: str) -> Guard:
    """Return the guard that holds what was found while nobody sees the ledger."""
    line = f"          or\n          {record} and on (cluster, ledger) k8sjob:unseen\n"
    return Guard(f"{record} is held", record, line, "", (case,))


def known(record: str, case: str) -> Guard:
    """Return the guard by which the record's alert comes though nobody tells the job's owner."""
    line = f"          or on {JOB}\n          {record}\n"
    return Guard(f"{record} needs no owner", "", line, "", (case,))


def waits(alert: str, wait: str, *cases: str) -> Guard:
    """Return the guard by which a trouble has to last for a time."""
    return Guard(f"{alert} waits", alert, f"        for: {wait}\n", "", cases)


def without(rules: str, guard: Guard) -> str:
    """Return the text of the rules without a guard. Raises AssertionError where it is not there."""
    begin, end = _place(rules, guard.within)
    part = rules[begin:end]
    found = part.count(guard.old)
    assert found == 1 or (found and not guard.within), f"{guard.name}: found {found} times"
    return rules[:begin] + part.replace(guard.old, guard.new) + rules[end:]


def _place(rules: str, name: str) -> tuple[int, int]:
    if not name:
        return 0, len(rules)
    begin = re.search(rf"^      - (?:record|alert): {re.escape(name)}$", rules, re.MULTILINE)
    assert begin, name
    end = re.compile("^      (?:- |# -{9})", re.MULTILINE).search(rules, begin.end())
    return begin.start(), end.start() if end else len(rules)
