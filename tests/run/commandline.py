"""``k8sjob run`` in this process, and what comes of it: its words, the rows, the balance."""

from __future__ import annotations

import inspect
import sys
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from k8sjob.cli.main import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from k8sjob.states import Outcome
    from tests.fix_stores import Connection, Store

JOB = "billing/daily-credit"
PERIOD = "2026-09-13"
KEY = f"{JOB}:{PERIOD}"

#: What the business does: it shows how often it was committed.
CREDIT = "UPDATE accounts SET balance = balance + 10 WHERE name = 'alice'"


class Told(NamedTuple):
    """How a command ended and what it said."""

    code: int
    out: str
    err: str

    @property
    def text(self) -> str:
        """All of it, as a person at a terminal sees it."""
        return self.out + self.err


class Tried(NamedTuple):
    """The row of an attempt."""

    id: str
    job: str
    period: str
    outcome: str | None
    exit_code: int | None
    message: str | None
    tail: str | None
    source: str
    mode: str
    pid: int
    client: str
    speaker: str | None
    ended: bool

    @property
    def ending(self) -> tuple[str | None, int | None]:
        """Outcome and exit code."""
        return self.outcome, self.exit_code


@dataclass
class CommandLine:
    """Runs commands on one store and looks at it over a connection of its own."""

    store: Store
    patch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]
    folder: Path
    _files: int = field(default=0, init=False)
    _looking: Connection | None = field(default=None, init=False)

    def run(
        self,
        target: str | Callable[..., Any],
        *flags: str,
        job: str = JOB,
        period: str = PERIOD,
        dsn: str | None = None,
    ) -> Told:
        """Run a function, or the target of that name, and return what came of it."""
        name = target if isinstance(target, str) else self.module(work=target) + ":work"
        self.patch.setenv("K8SJOB_DSN", dsn or self.store.dsn)
        return self.call("run", name, "--job", job, "--period", period, *flags)

    def call(self, *args: str) -> Told:
        """Call ``k8sjob`` with these arguments."""
        self.capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main(list(args))
        code = end.value.code
        assert isinstance(code, int)
        return Told(code, *self.capsys.readouterr())

    def module(self, **names: object) -> str:
        """Make a module that holds ``names`` and return its name."""
        made = ModuleType("business")
        vars(made).update(names)
        self.patch.setitem(sys.modules, made.__name__, made)
        return made.__name__

    def file(self, text: str) -> str:
        """Write a SQL file and return its name."""
        self._files += 1
        path = self.folder / f"work-{self._files}.sql"
        path.write_text(text, encoding="utf-8")
        return str(path)

    def query(self, text: str) -> list[tuple[Any, ...]]:
        """Return the rows of ``text``, committed; a server is looked at over one connection."""
        if self.store.db is None:
            return self.store.query(text)
        if self._looking is None:
            path = "-c search_path=app,public"
            self._looking = self.store.db.connect("admin", autocommit=True, options=path)
        cursor = self._looking.execute(text.encode())
        return cursor.fetchall() if cursor.description else []

    def balance(self) -> int:
        """Return alice's balance, as others see it."""
        ((balance,),) = self.query("SELECT balance FROM accounts WHERE name = 'alice'")
        assert isinstance(balance, int)
        return balance

    def state(self, key: str = KEY) -> str | None:
        """Return the state of a key's row; None where there is no row."""
        return self.states().get(key)

    def states(self) -> dict[str, str]:
        """Return the state of every row."""
        rows = self.query(f"SELECT job, period, state FROM {self.store.table('periods')}")
        return {f"{job}:{period}": state for job, period, state in rows}

    def attempts(self) -> list[Tried]:
        """Return every attempt, oldest first."""
        columns = ", ".join(name for name in Tried._fields if name != "ended")
        table = self.store.table("attempts")
        rows = self.query(
            f"SELECT {columns}, ended_at IS NOT NULL FROM {table} ORDER BY started_at, id"
        )
        return [Tried._make((str(row[0]), *row[1:-1], bool(row[-1]))) for row in rows]

    def last(self) -> Tried:
        """Return the newest attempt."""
        return self.attempts()[-1]


def asynchronous(work: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return the coroutine function that does what ``work`` does, which itself may be one."""
    if inspect.iscoroutinefunction(work):
        return work

    async def as_coroutine(run: Any) -> Any:
        answer = work(run)
        return await answer if inspect.isawaitable(answer) else answer

    return as_coroutine


def params(table: dict[str, Any]) -> dict[str, Any]:
    """Return a table as what ``parametrize`` takes: its values, and their names."""
    return {"argvalues": list(table.values()), "ids": list(table)}


def assert_applied(cli: CommandLine, target: str | Callable[..., Any], balance: int = 10) -> None:
    """Run the target and see its effect."""
    told = cli.run(target)
    assert told.out.startswith(f"{KEY} applied in "), told.text
    assert (cli.state(), cli.balance()) == ("done", balance)
    assert cli.last().ending == ("applied", 0)


def assert_nothing_was_committed(cli: CommandLine, told: Told, code: int = 76) -> None:
    """See what others see: no effect, no row, an attempt that says why, and a free period."""
    assert told.code == code, told.text
    assert (cli.balance(), cli.state()) == (0, None)
    tried = cli.last()
    assert tried.ending == ("failed", code)
    assert tried.message
    assert tried.message.startswith(f"{KEY} failed: ")
    assert (cli.run(cli.file(CREDIT)).code, cli.balance()) == (0, 10)


def never(_run: Any) -> None:
    pytest.fail("this run must not reach its target")


def assert_refused(cli: CommandLine, outcome: Outcome, code: int, *flags: str) -> str:
    """Run a target that must not be reached; return what was said."""
    before = cli.states(), cli.balance()
    told = cli.run(never, *flags)
    assert told.code == code, told.text
    assert (cli.states(), cli.balance()) == before
    assert cli.last().ending == (outcome, code)
    assert f"{KEY} {outcome}: " in (told.err if code else told.out)
    return told.text
