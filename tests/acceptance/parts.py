"""The effects and the rows of a job's parts: one account and one row each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.run.commandline import JOB, PERIOD

if TYPE_CHECKING:
    from tests.run.commandline import CommandLine


def effects(cli: CommandLine) -> dict[str, int]:
    """Return the balance of each part's account: what is committed, and how often."""
    return dict(cli.store.query("SELECT name, balance FROM accounts WHERE name <> 'alice'"))


def once(names: list[str]) -> dict[str, int]:
    """Return the effects of these parts, each done once."""
    return dict.fromkeys(names, 10)


def done(names: list[str]) -> dict[str, str]:
    """Return the rows of these parts, none of them the job's own."""
    return {f"{JOB}/{name}:{PERIOD}": "done" for name in names}


def add(conn: Any, name: str) -> None:
    """Credit 10 to the account of this part."""
    conn.execute(
        f"INSERT INTO accounts VALUES ('{name}', 10) "
        "ON CONFLICT (name) DO UPDATE SET balance = accounts.balance + 10"
    )
