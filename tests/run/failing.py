"""A function in the database that fails as often as it is told to, and counts the runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.run.commandline import CommandLine

# Fails at its first calls; a sequence is not rolled back, so it counts the runs.
FAILS = """
CREATE SEQUENCE app.runs;
GRANT USAGE ON SEQUENCE app.runs TO k8sjob_runner;
CREATE FUNCTION app.fail(state text, times int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF nextval('app.runs') <= times THEN
        RAISE EXCEPTION 'not this time' USING ERRCODE = state;
    END IF;
END $$;
"""


def runs(cli: CommandLine) -> int:
    """Count the runs."""
    ((count,),) = cli.query("SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM app.runs")
    assert isinstance(count, int)
    return count
