"""The file that the main container's last line leaves."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from k8sjob.run.sidecar.end import MainEnd
from k8sjob.run.sidecar.main import ExitFile

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("text", "code"), [("0\n", 0), ("255\n", 255), ("  3 \n", 3), ("007\n", 7), ("3\r\n", 3)]
)
def test_a_code_is_read(tmp_path: Path, text: str, code: int) -> None:
    (tmp_path / "exit").write_bytes(text.encode())

    assert ExitFile(str(tmp_path)).look() == MainEnd(code)


@pytest.mark.parametrize(
    "text", ["256\n", "-1\n", "3 4\n", "$?\n", "\u0661\n", "9" * 70 + "\n", "\xff\n"]
)
def test_what_is_no_code_is_an_end_without_one(tmp_path: Path, text: str) -> None:
    (tmp_path / "exit").write_bytes(text.encode("utf-8"))
    file = ExitFile(str(tmp_path))

    end = file.look() or file.look()  # a line without an end may grow
    assert end
    assert end.exit_code is None
    assert "no exit code" in str(end)


@pytest.mark.parametrize("text", [None, "", "\n"])
def test_what_is_not_there_yet_is_waited_for(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "exit").write_text(text)
    file = ExitFile(str(tmp_path))

    assert [file.look(), file.look()] == [None, None]


def test_a_line_that_may_not_be_whole_is_looked_at_twice(tmp_path: Path) -> None:
    file = ExitFile(str(tmp_path))
    (tmp_path / "exit").write_text("1")
    first = file.look()
    (tmp_path / "exit").write_text("137")

    assert first is None
    assert [file.look(), file.look()] == [None, MainEnd(137)]


def test_a_file_that_is_older_than_the_context_is_of_another_run(tmp_path: Path) -> None:
    (tmp_path / "exit").write_text("0\n")
    (tmp_path / "context.json").write_text("{}")
    at = (tmp_path / "context.json").stat().st_mtime_ns
    file = ExitFile(str(tmp_path))

    os.utime(tmp_path / "exit", ns=(at - 1, at - 1))
    assert file.look() is None
    os.utime(tmp_path / "exit", ns=(at, at))
    assert file.look() == MainEnd(0)


def test_a_folder_in_its_place_is_no_end(tmp_path: Path) -> None:
    (tmp_path / "exit").mkdir()

    assert ExitFile(str(tmp_path)).look() is None
