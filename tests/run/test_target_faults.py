from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

import pytest

import k8sjob
from k8sjob.errors import PermanentError, TryAgain
from k8sjob.states import Blocked, Skipped
from tests.run.commandline import (
    CREDIT,
    KEY,
    PERIOD,
    CommandLine,
    assert_applied,
    assert_nothing_was_committed,
    asynchronous,
    params,
)

if TYPE_CHECKING:
    from collections.abc import Callable

BOTH = pytest.mark.parametrize("wrap", [lambda work: work, asynchronous], ids=["sync", "async"])


def raising(error: BaseException) -> Callable[[Any], Any]:
    """Return a target that works and then raises."""

    def work(run: Any) -> None:
        pending = run.conn.execute(CREDIT)
        if hasattr(pending, "__await__"):
            pending.close()
        raise error

    return work


RAISED: dict[str, tuple[BaseException, int, str]] = {
    "an error": (ValueError("no such account"), 1, "ValueError: no such account"),
    "an error without words": (AssertionError(), 1, "AssertionError"),
    "several lines": (ValueError("first\nsecond"), 1, "ValueError: first"),
    "a permanent error": (PermanentError("closed for ever"), 70, "closed for ever"),
    "a permanent error without words": (PermanentError(), 70, "another try cannot help"),
    "try again": (TryAgain("later"), 75, "later"),
    "exit 0": (SystemExit(0), 1, "the target called sys.exit(0)"),
    "exit without a code": (SystemExit(), 1, "the target called sys.exit(None)"),
    "exit 3": (SystemExit(3), 3, "the target called sys.exit(3)"),
    "exit with words": (SystemExit("gone"), 1, "the target called sys.exit('gone')"),
    "an interrupt": (KeyboardInterrupt(), 130, "the target was interrupted"),
    "a group": (ExceptionGroup("many", [ValueError("one")]), 1, "many (1 sub-exception)"),
}


@pytest.mark.parametrize(("error", "code", "words"), **params(RAISED))
@BOTH
def test_what_the_target_raises_rolls_back(
    cli: CommandLine, wrap: Any, error: BaseException, code: int, words: str
) -> None:
    told = cli.run(wrap(raising(error)))
    assert words in told.err
    assert_nothing_was_committed(cli, told, code)


def test_the_attempt_keeps_the_traceback_from_the_target_on(cli: CommandLine) -> None:
    def inner() -> None:
        raise ValueError("no such account")

    def work(_run: Any) -> None:
        inner()

    told = cli.run(work)
    tail = cli.last().tail
    assert tail
    assert tail.startswith("Traceback (most recent call last):\n")
    assert tail.endswith("ValueError: no such account\n")
    assert "in work" in tail
    assert "in inner" in tail
    assert "k8sjob/run/" not in tail  # whose frames say nothing
    assert tail in told.err


@pytest.mark.parametrize(("size", "kept"), [("10", 10), ("0", 0)])
def test_the_attempt_keeps_as_much_output_as_it_is_told(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch, size: str, kept: int
) -> None:
    monkeypatch.setenv("K8SJOB_OUTPUT_BYTES", size)
    cli.run(raising(ValueError("no such account")))
    assert len(cli.last().tail or "") == kept


def test_a_failed_statement_of_a_file_names_its_line(cli: CommandLine) -> None:
    told = cli.run(cli.file(f"-- first\n{CREDIT};\n\n  SELECT nonsense\n;"))
    assert f"{KEY} failed: " in told.err
    assert "work-1.sql:4: " in told.err
    assert "nonsense" in told.err
    assert_nothing_was_committed(cli, told, code=1)


def test_a_failed_statement_that_the_target_swallows_is_not_committed(pg: CommandLine) -> None:
    def work(run: Any) -> None:
        run.conn.execute(CREDIT)
        with pytest.raises(Exception, match="nonsense"):
            run.conn.execute("SELECT nonsense")

    told = pg.run(work)
    assert "wrap the statement in conn.transaction()" in told.err
    assert_nothing_was_committed(pg, told, code=1)


def test_a_constraint_that_is_broken_at_the_commit_is_a_failure(cli: CommandLine) -> None:
    schema = "" if cli.store.kind == "sqlite" else "app."
    cli.query(
        f"CREATE TABLE {schema}cards (name text REFERENCES {schema}accounts (name) "
        "DEFERRABLE INITIALLY DEFERRED)"
    )
    if schema:
        cli.query("GRANT INSERT ON app.cards TO k8sjob_runner")
    told = cli.run(cli.file(f"{CREDIT}; INSERT INTO cards VALUES ('nobody')"))
    assert "foreign key constraint" in told.err.lower()
    assert_nothing_was_committed(cli, told, code=1)


def test_a_refusal_of_another_key_is_the_target_s_own_failure(cli: CommandLine) -> None:
    other = f"billing/invoices:{PERIOD}"
    assert cli.run(cli.file("SELECT 1"), job="billing/invoices").code == 0

    def work(run: Any) -> None:
        run.conn.execute(CREDIT)
        k8sjob.claim(run.conn, other)

    told = cli.run(work)
    assert f"{other} " in told.err
    assert told.code == 1  # and not the 0 of a duplicate: this period is not done
    assert cli.last().ending == ("failed", 1)
    assert (cli.state(), cli.balance()) == (None, 0)


# ------------------------------------------------------------------ targets that are not targets


def two_parameters(_run: Any, _more: Any) -> None:
    pytest.fail("called")


def no_parameter() -> None:
    pytest.fail("called")


def keyword_only(*, run: Any) -> None:
    pytest.fail(f"called with {run}")


def returns_blocked(run: Any) -> Any:
    run.conn.execute(CREDIT)
    return Blocked("not today")


def returns_skipped(run: Any) -> Any:
    run.conn.execute(CREDIT)
    return Skipped("not today")


def returns_error(run: Any) -> Any:
    run.conn.execute(CREDIT)
    return ValueError("not today")


async def a_coroutine() -> None:
    pytest.fail("awaited")


def returns_coroutine(_run: Any) -> Any:
    return a_coroutine()


NOT_TARGETS: dict[str, tuple[Any, str]] = {
    "two parameters": (two_parameters, "does not take exactly one parameter"),
    "no parameter": (no_parameter, "does not take exactly one parameter"),
    "a keyword only": (keyword_only, "does not take exactly one parameter"),
    "a number": (7, "is not a function"),
    "returns Blocked": (returns_blocked, "returned Blocked. Its work was rolled back."),
    "returns Skipped": (returns_skipped, "Raise it: a return commits."),
    "returns an error": (returns_error, "returned ValueError"),
    "returns a coroutine": (returns_coroutine, "Write it as async def."),
}


@pytest.mark.parametrize(("work", "words"), **params(NOT_TARGETS))
def test_what_cannot_be_a_target_is_a_mistake_of_the_settings(
    cli: CommandLine, work: Any, words: str
) -> None:
    told = cli.run(work)
    assert words in told.err
    assert_nothing_was_committed(cli, told, code=78)


@pytest.mark.parametrize("answer", [Blocked("no"), Skipped("no"), ValueError("no")])
def test_a_coroutine_that_returns_its_answer_is_told_to_raise_it(
    cli: CommandLine, answer: Exception
) -> None:
    async def work(_run: Any) -> Any:
        return answer

    told = cli.run(work)
    assert "Raise it: a return commits." in told.err
    assert_nothing_was_committed(cli, told, code=78)


class Credit:
    """Targets that are no plain functions."""

    def __call__(self, run: Any) -> None:  # noqa: D102  # as its name says
        run.conn.execute(CREDIT)

    @staticmethod
    def in_class(run: Any) -> None:
        """Be called without an instance."""
        run.conn.execute(CREDIT)

    def with_default(self, run: Any, amount: int = 10) -> None:
        """Be called with one argument, though there could be two."""
        run.conn.execute(CREDIT)
        assert amount == 10


@pytest.mark.parametrize(
    "name", ["instance", "Credit.in_class", "instance.with_default", "partial"]
)
def test_anything_that_takes_one_argument_is_a_target(cli: CommandLine, name: str) -> None:
    partial = functools.partial(Credit.with_default, Credit(), amount=10)
    module = cli.module(instance=Credit(), Credit=Credit, partial=partial)
    assert_applied(cli, f"{module}:{name}")


FILES = {
    "breaks": ("1 / 0", "ZeroDivisionError"),
    "does not parse": ("def work(run)", "SyntaxError"),
    "imports what is not there": ("import not_there", "No module named 'not_there'"),
    "leaves": ("import sys; sys.exit(0)", "SystemExit: 0"),
    "has no such name": ("", "has no attribute 'work'"),
}


@pytest.mark.parametrize(("text", "words"), **params(FILES))
def test_a_module_that_cannot_be_loaded_is_a_mistake_of_the_settings(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch, text: str, words: str
) -> None:
    monkeypatch.chdir(cli.folder)
    monkeypatch.delitem(sys.modules, "business_file", raising=False)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (cli.folder / "business_file.py").write_text(text)
    told = cli.run("business_file:work")
    assert words in told.err
    assert "the target business_file:work cannot be loaded" in told.err
    assert_nothing_was_committed(cli, told, code=78)


def test_a_module_in_the_current_folder_is_found(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(cli.folder)
    monkeypatch.delitem(sys.modules, "business_here", raising=False)
    text = f"def work(run):\n    run.conn.execute({CREDIT!r})\n"
    (cli.folder / "business_here.py").write_text(text)
    assert_applied(cli, "business_here:work")


@pytest.mark.parametrize(
    ("write", "words"),
    [
        (None, "cannot be read: No such file or directory"),
        (b"", "holds no statement"),
        (b" -- nothing\n;", "holds no statement"),
        (b"SELECT '\xff'", "it is not UTF-8"),
        (b"SELECT 'open", "line 1: a string is opened here and never closed."),
    ],
)
def test_a_file_that_cannot_be_read_is_a_mistake_of_the_settings(
    cli: CommandLine, write: bytes | None, words: str
) -> None:
    path = cli.folder / "credit.sql"
    if write is not None:
        path.write_bytes(write)
    told = cli.run(str(path))
    assert words in told.err
    assert_nothing_was_committed(cli, told, code=78)
