"""What is run: a Python function, a file of SQL, or a command."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from k8sjob.errors import ConfigError, ProtocolError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from k8sjob.ledger.statements import Statement


@dataclass(frozen=True, slots=True)
class Target:
    """What comes after ``run``, not loaded yet: ``module:function``, ``file.sql``, a command."""

    text: str
    module: str | None = None
    function: str | None = None
    argv: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Target:
        """Tell a function from a file. Raises UsageError."""
        if text.endswith(".sql"):
            return cls(text)
        module, colon, function = text.partition(":")
        words = [*module.split("."), *function.split(".")]
        if not colon or not all(word.isidentifier() for word in words):
            raise UsageError(
                f"not a target: {text!r}. Nothing was done.\n"
                "  Write module:function, e.g. app.credit:credit, or a file that ends in .sql."
            )
        return cls(text, module, function)

    @property
    def mode(self) -> str:
        """How the attempt's row calls it."""
        if self.argv:
            return "command"
        return "callable" if self.module else "sql"


def load_function(target: Target) -> Callable[[Any], Any]:
    """Import the target's function, from the current folder too. Raises ConfigError."""
    import importlib  # noqa: PLC0415  # not for SQL files

    if os.getcwd() not in sys.path:  # noqa: PTH109  # no pathlib at start
        sys.path.insert(0, os.getcwd())  # noqa: PTH109
    try:
        found: Any = importlib.import_module(target.module or "")
        for name in (target.function or "").split("."):
            found = getattr(found, name)
    except (ImportError, AttributeError) as error:
        raise ConfigError(
            f"the target {target.text} cannot be loaded: {type(error).__name__}: {error}\n"
            f"  Nothing was changed. Is the module installed in this image, or in {os.getcwd()}?"  # noqa: PTH109
        ) from error
    if not callable(found):
        raise ConfigError(f"the target {target.text} is not a function. Nothing was changed.")
    _check_signature(target, found)
    return found  # type: ignore[no-any-return]  # callable, as checked


def _check_signature(target: Target, function: Callable[..., Any]) -> None:
    import inspect  # noqa: PLC0415  # not for SQL files

    try:
        inspect.signature(function).bind(object())
    except TypeError:
        raise ConfigError(
            f"the target {target.text} does not take exactly one parameter. Nothing was changed.\n"
            f"  Write: def {target.function}(run: k8sjob.Run) -> None"
        ) from None
    except ValueError:
        return  # written in C, without a signature: the call will tell


def is_coroutine(function: Callable[..., Any]) -> bool:
    """Whether the function has to be awaited."""
    import inspect  # noqa: PLC0415  # not for SQL files

    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004  # an object with an async __call__
    )


def load_statements(target: Target, *, sqlite: bool) -> Sequence[Statement]:
    """Read the file and cut it into statements; nothing is put into its text.

    Raises ConfigError where it cannot be read, and ProtocolError where a statement would end the
    transaction: both before anything was run.
    """
    from k8sjob.ledger.statements import (  # noqa: PLC0415  # not for functions
        ends_transaction,
        split,
        split_sqlite,
    )

    try:
        with open(target.text, encoding="utf-8") as file:  # noqa: PTH123  # no pathlib at start
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ConfigError(
            f"{target.text} cannot be read: {reason}. Nothing was changed."
        ) from error
    try:
        statements = split_sqlite(text) if sqlite else split(text)
    except ConfigError as error:
        raise ConfigError(f"{target.text}: {error}") from error
    if not statements:
        raise ConfigError(f"{target.text} holds no statement. Nothing was changed.")
    for statement in statements:
        if found := ends_transaction(statement.text):
            raise ProtocolError(
                f"{target.text}:{statement.line}: {found} would end or replace the transaction "
                "that k8sjob holds\n"
                "  Nothing was run. Take it out: k8sjob begins, and commits the file together "
                "with the claim."
            )
    return statements
