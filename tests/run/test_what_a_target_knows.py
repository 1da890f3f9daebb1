from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

import k8sjob
from k8sjob.errors import ConfigError, NoPeriod
from tests.run.commandline import CREDIT, JOB, PERIOD, CommandLine

SCHEDULED = "2026-09-13T22:00:00Z"
#: The same words in a file for either store.
NAMES = ("current_job", "current_period", "current_attempt", "scheduled_for", "window_end")


def told_by_sql(cli: CommandLine, *flags: str, period: str = PERIOD) -> dict[str, str | None]:
    """Return what a file's functions answer, by their names."""
    prefix = "k8sjob_" if cli.store.kind == "sqlite" else "k8sjob."
    schema = "" if cli.store.kind == "sqlite" else "app."
    columns = ", ".join(f"{name} text" for name in NAMES)
    cli.query(f"CREATE TABLE {schema}answers ({columns})")
    if cli.store.db:
        cli.query("GRANT INSERT ON app.answers TO k8sjob_runner")
    calls = ", ".join(
        f"{prefix}{name}()" + (" AT TIME ZONE 'UTC'" * (name[0] in "sw") if schema else "")
        for name in NAMES
    )
    told = cli.run(cli.file(f"INSERT INTO answers SELECT {calls}"), *flags, period=period)
    assert told.code == 0, told.text
    (row,) = cli.query(f"SELECT * FROM {schema}answers")
    return dict(zip(NAMES, row, strict=True))


def instant(text: str | None) -> datetime | None:
    """Read what either store writes."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC) if text else None


def test_a_file_knows_its_job_its_period_and_its_attempt(cli: CommandLine) -> None:
    answers = told_by_sql(cli, period=SCHEDULED)
    assert (answers["current_job"], answers["current_period"]) == (JOB, SCHEDULED)
    assert answers["current_attempt"] == cli.last().id
    assert instant(answers["scheduled_for"]) == datetime(2026, 9, 13, 22, tzinfo=UTC)
    assert answers["window_end"] is None  # only the schedule knows


def test_a_file_knows_the_window_of_a_natural_period_in_its_zone(cli: CommandLine) -> None:
    answers = told_by_sql(cli, "--time-zone", "Europe/Berlin", period="2026-10-25")
    assert instant(answers["scheduled_for"]) == datetime(2026, 10, 24, 22, tzinfo=UTC)
    assert instant(answers["window_end"]) == datetime(2026, 10, 25, 23, tzinfo=UTC)  # 25 hours


def test_a_file_knows_no_time_of_a_natural_period_without_a_zone(cli: CommandLine) -> None:
    answers = told_by_sql(cli)
    assert (answers["current_period"], answers["scheduled_for"]) == (PERIOD, None)


def test_nobody_else_knows(pg: CommandLine) -> None:
    assert pg.run(pg.file(CREDIT)).code == 0
    calls = ", ".join(f"k8sjob.{name}()" for name in NAMES)
    assert pg.query(f"SELECT {calls}") == [(None,) * 5]


def seen(cli: CommandLine, *flags: str, period: str = PERIOD) -> dict[str, Any]:
    """Return what a function sees of its run."""
    values: dict[str, Any] = {}

    def work(run: Any) -> None:
        values.update(
            key=run.key, attempt=run.attempt, for_=run.scheduled_for, current=k8sjob.current_key()
        )
        try:
            values["window"] = (run.window.start, run.window.end)
        except ConfigError as error:
            values["window"] = str(error)

    assert cli.run(work, *flags, period=period).code == 0
    return values


def test_a_function_knows_its_key_and_its_attempt(cli: CommandLine) -> None:
    values = seen(cli)
    assert str(values["key"]) == f"{JOB}:{PERIOD}"
    assert values["current"] == values["key"]
    assert values["attempt"] == UUID(cli.last().id)


def test_a_function_knows_nothing_once_it_has_returned(cli: CommandLine) -> None:
    seen(cli)
    with pytest.raises(NoPeriod):
        k8sjob.current_key()


@pytest.mark.parametrize(
    ("period", "zone", "start", "hours"),
    [
        ("2026-09-13", "UTC", "2026-09-13T00:00", 24),
        ("2026-03-29", "Europe/Berlin", "2026-03-28T23:00", 23),
        ("2026-10-25", "Europe/Berlin", "2026-10-24T22:00", 25),
        ("2026-W44", "America/New_York", "2026-10-26T04:00", 7 * 24 + 1),
        ("2026-02", "Asia/Kolkata", "2026-01-31T18:30", 28 * 24),
    ],
)
def test_a_function_knows_the_window_of_a_natural_period(
    cli: CommandLine, period: str, zone: str, start: str, hours: int
) -> None:
    values = seen(cli, "--time-zone", zone, period=period)
    begin = datetime.fromisoformat(start).replace(tzinfo=UTC)
    assert values["for_"] == begin
    assert values["window"] == (begin, begin + timedelta(hours=hours))


@pytest.mark.parametrize(
    ("period", "needed"), [(PERIOD, "--time-zone"), (SCHEDULED, "the job's schedule")]
)
def test_a_window_that_is_not_known_is_not_guessed(
    cli: CommandLine, period: str, needed: str
) -> None:
    values = seen(cli, period=period)
    assert values["window"].startswith(f"the window of {JOB}:{period} is not known")
    assert needed in values["window"]


def test_the_zone_is_kept_beside_the_period(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("K8SJOB_TIME_ZONE", "Europe/Berlin")
    seen(cli)
    assert cli.query(f"SELECT zone FROM {cli.store.table('periods')}") == [("Europe/Berlin",)]


# ----------------------------------------------------------------------------- no templating

PLAIN = ["%", "%s", "%(x)s", "%%", ":x", ':"x"', "{}", "{x}", "{{x}}", "$1", "?", "?1", "@x", "\\"]


@pytest.mark.parametrize("text", PLAIN)
def test_a_file_s_text_arrives_untouched(cli: CommandLine, text: str) -> None:
    rename = f"UPDATE accounts SET name = '{text}' -- {text}\n"
    told = cli.run(cli.file(f"{rename}; {CREDIT}"))
    assert told.code == 0, told.text
    assert cli.query("SELECT name FROM accounts") == [(text,)]
