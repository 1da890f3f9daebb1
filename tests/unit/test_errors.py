from __future__ import annotations

import re

import pytest

from k8sjob import errors
from k8sjob.errors import EXIT_TABLE, ExitCode, K8sjobError


def every_error() -> list[type[K8sjobError]]:
    found, todo = [], [K8sjobError]
    while todo:
        found.append(todo.pop())
        todo += found[-1].__subclasses__()
    return [e for e in found if e.__module__ == errors.__name__]


@pytest.mark.parametrize("error", every_error())
def test_an_error_without_a_message_says_the_first_line_of_its_docstring(
    error: type[K8sjobError],
) -> None:
    assert str(error()) == (error.__doc__ or "").splitlines()[0]
    assert str(error("mine")) == "mine"


def test_each_exit_code_has_its_line_in_the_table() -> None:
    assert list(EXIT_TABLE) == list(ExitCode)
    assert list(EXIT_TABLE) == sorted(EXIT_TABLE)


@pytest.mark.parametrize("error", every_error())
def test_the_tree_in_the_modules_docstring_tells_each_errors_code(
    error: type[K8sjobError],
) -> None:
    line = re.search(
        rf"{error.__name__} *(\d*) .*$|{error.__name__}$", errors.__doc__ or "", re.MULTILINE
    )
    assert line, "not in the tree"
    parent = error.__base__
    expected = error.exit_code
    if not line[1]:  # as its parent's
        assert parent is not None
        assert expected == getattr(parent, "exit_code", None)
    else:
        assert int(line[1]) == expected
        assert ("permanent" in line[0]) == EXIT_TABLE[expected].permanent


def test_no_code_is_clicks_2_or_one_that_a_shell_uses() -> None:
    assert not {2, *range(126, 166)} & set(map(int, ExitCode))
