"""Make one thing of functions, coroutines and SQL files: what a run awaits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from k8sjob.errors import ConfigError, K8sjobError
from k8sjob.run.result import UNDONE
from k8sjob.run.target import is_coroutine, load_function, load_statements

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from k8sjob.ledger.statements import Statement
    from k8sjob.run.context import Run
    from k8sjob.run.target import Target


class StatementFailed(K8sjobError):
    """A statement of the file failed."""


class Work(NamedTuple):
    """What does the work, and whether it needs an event loop."""

    do: Callable[[Run], Awaitable[object]]
    needs_loop: bool = False


def load(target: Target, *, sqlite: bool) -> Work:
    """Load the target. One that cannot be loaded fails when run, so its attempt is on record."""
    try:
        if target.module is None:
            return Work(_of_statements(target, load_statements(target, sqlite=sqlite)))
        function = load_function(target)
    except (Exception, SystemExit) as error:  # noqa: BLE001  # whatever an import may raise
        return Work(_of_failure(target, error))
    return of_function(target, function)


def of_function(target: Target, function: Callable[[Any], Any]) -> Work:
    """Return the work of a function that was imported already."""
    if is_coroutine(function):
        return Work(_awaiting(target, function), needs_loop=True)
    return Work(_calling(target, function))


def _of_failure(
    target: Target, error: Exception | SystemExit
) -> Callable[[Run], Awaitable[object]]:
    async def fail(_run: Run) -> object:
        if isinstance(error, K8sjobError):
            raise error
        raise ConfigError(
            f"the target {target.text} cannot be loaded: {type(error).__name__}: {error}\n"
            "  Nothing was changed."
        ) from error

    return fail


def _calling(target: Target, function: Callable[[Any], Any]) -> Callable[[Run], Awaitable[object]]:
    async def call(run: Run) -> object:
        answer = function(run)
        _refuse_exception(target, answer)
        if hasattr(answer, "__await__"):
            if hasattr(answer, "close"):
                answer.close()  # it was never awaited, and shall not complain of it later
            raise ConfigError(
                f"the target {target.text} returned something to await. Its work was rolled back.\n"
                "  Write it as async def."
            )
        return answer

    return call


def _awaiting(target: Target, function: Callable[[Any], Any]) -> Callable[[Run], Awaitable[object]]:
    async def call(run: Run) -> object:
        answer = await function(run)
        _refuse_exception(target, answer)
        return answer

    return call


def _refuse_exception(target: Target, answer: object) -> None:
    if isinstance(answer, BaseException):
        raise ConfigError(
            f"the target {target.text} returned {type(answer).__name__}. Its work was "
            "rolled back.\n"
            "  Raise it: a return commits."
        ) from answer


def _of_statements(
    target: Target, statements: Sequence[Statement]
) -> Callable[[Run], Awaitable[object]]:
    async def execute(run: Run) -> None:
        for statement in statements:
            try:
                await run.execute(statement.text)
            except K8sjobError:
                raise
            except Exception as error:
                first = (str(error).strip().splitlines() or [type(error).__name__])[0]
                raise StatementFailed(
                    f"{target.text}:{statement.line}: {first}\n  {UNDONE}"
                ) from error

    return execute
