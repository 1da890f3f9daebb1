from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.supervise.supervised import HUGE

if TYPE_CHECKING:
    from pathlib import Path

    from tests.supervise.conftest import Start


def test_a_command_that_is_nowhere_on_the_path_is_127(supervise: Start) -> None:
    end = supervise(["make-report", "-v"], env={"PATH": "/nowhere:/usr/bin"}).end()

    assert end.exit_code == 127
    assert end.error == (
        "'make-report' was not found. Nothing was run.\n"
        "  Install it in the image, or give its whole path. PATH is /nowhere:/usr/bin."
    )


@pytest.mark.parametrize("name", ["/no/such/command", "./command", ""])
def test_a_path_that_is_not_there_is_127(supervise: Start, name: str) -> None:
    end = supervise([name]).end()

    assert end.exit_code == 127
    assert end.error is not None
    assert end.error.startswith(f"{name!r} was not found. Nothing was run.")


def test_the_path_that_counts_is_the_childs(supervise: Start, tmp_path: Path) -> None:
    _program(tmp_path / "make-report", "#!/bin/sh\nexit 9\n")

    assert supervise(["make-report"], env={"PATH": str(tmp_path)}).end().exit_code == 9


def test_a_file_that_may_not_be_run_does_not_hide_one_that_may(
    supervise: Start, tmp_path: Path
) -> None:
    for name in "ab":
        (tmp_path / name).mkdir()
    _program(tmp_path / "a" / "make-report", "#!/bin/sh\nexit 9\n").chmod(0o644)
    _program(tmp_path / "b" / "make-report", "#!/bin/sh\nexit 8\n")

    path = f"{tmp_path}/a:{tmp_path}/b"

    assert supervise(["make-report"], env={"PATH": path}).end().exit_code == 8


def test_a_file_without_the_right_to_run_is_126(supervise: Start, tmp_path: Path) -> None:
    path = _program(tmp_path / "job", "#!/bin/sh\n")
    path.chmod(0o644)

    end = supervise([str(path)]).end()

    assert end.exit_code == 126
    assert end.error == (
        f"{path} cannot be executed: Permission denied. Nothing was run.\n"
        f"  In the Dockerfile: RUN chmod +x {path}  (or the volume is mounted noexec)"
    )


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("#!/no/such/interpreter\n", "the interpreter that its first line names"),
        ("#!/bin/sh\r\nexit 0\r\n", "mind a carriage return"),
        ("exit 0\n", "k8sjob run -- sh "),
    ],
    ids=["interpreter", "carriage return", "no first line"],
)
def test_a_script_that_nothing_can_run_is_126(
    supervise: Start, tmp_path: Path, text: str, advice: str
) -> None:
    end = supervise([str(_program(tmp_path / "job", text))]).end()

    assert end.exit_code == 126
    assert end.error is not None
    assert advice in end.error


def test_a_folder_is_126(supervise: Start, tmp_path: Path) -> None:
    end = supervise([str(tmp_path)]).end()

    assert end.exit_code == 126
    assert end.error is not None
    assert "It is a folder" in end.error


def test_arguments_that_are_too_long_are_126(supervise: Start) -> None:
    end = supervise(["true", HUGE]).end()

    assert end.exit_code == 126
    assert end.error is not None
    assert "too long together" in end.error


def _program(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    path.chmod(0o755)
    return path
