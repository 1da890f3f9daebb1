"""A failed Job is told by its name alone: the rule reads the names that there are."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

from k8sjob.key import Key
from k8sjob.kube.names import backfill_name, slot_name
from tests.alerts.rulebook import alerts

LONG = "vacuum-of-all-the-tables-of-the-shop-once-a-night-ok"
PERIODS = (
    *("2026-09-11T00:00:00Z", "2026-09-11T01:30:00Z", "2026-09-11T01:30:07Z"),
    *("2026-09-11", "2026-W37", "2026-09", "once"),
)


def patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return what takes the CronJob's name out of a Job's, and what knows a digest."""
    [rule] = [one for one in alerts() if one["alert"] == "K8sjobTracksFailedJob"]
    [taken] = re.findall(r'"job_name", "(.+)"\)', rule["expr"])
    [known] = re.findall(r'job_name=~"(.+)"', rule["expr"])
    return re.compile(taken), re.compile(known)


@pytest.mark.parametrize("cronjob", ["vacuum", "vacuum-bf-2", "a.b", LONG])
def test_a_slots_job_is_its_cronjobs(cronjob: str) -> None:
    taken, known = patterns()
    name = slot_name(cronjob, datetime(2026, 9, 11, tzinfo=UTC))
    assert [found[1] for found in [taken.fullmatch(name)] if found] == [cronjob]
    assert not known.fullmatch(name)


@pytest.mark.parametrize("period", PERIODS)
@pytest.mark.parametrize("cronjob", ["vacuum", "vacuum-bf-2", "a.b"])
def test_a_backfills_short_name_is_its_cronjobs(cronjob: str, period: str) -> None:
    taken, known = patterns()
    name = backfill_name(cronjob, Key.of(f"ops/{cronjob}", period), 3, 12)
    assert [found[1] for found in [taken.fullmatch(name)] if found] == [cronjob]
    assert not known.fullmatch(name)


@pytest.mark.parametrize("period", PERIODS)
@pytest.mark.parametrize(
    ("cronjob", "job"),
    [("vacuum", "cleaning"), ("vacuum", "vacuum/eu"), (LONG, LONG)],
    ids=["called otherwise", "of a part", "too long"],
)
def test_a_backfills_name_with_a_digest_is_known(cronjob: str, job: str, period: str) -> None:
    taken, known = patterns()
    name = backfill_name(cronjob, Key.of(f"ops/{job}", period), 3, 12)
    assert known.fullmatch(name)
    found = taken.fullmatch(name)
    assert found
    assert cronjob.startswith(found[1])


@pytest.mark.parametrize("name", ["vacuum-by-hand", "vacuum-123", "vacuum-1789084800"])
def test_a_job_by_hand_is_nobodys(name: str) -> None:
    assert not any(pattern.fullmatch(name) for pattern in patterns())
