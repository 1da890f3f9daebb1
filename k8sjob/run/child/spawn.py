"""Starting a command, and saying why it cannot be started, with the shell's exit codes."""

from __future__ import annotations

import errno
import os
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

#: POSIX, Shell Command Language, 2.8.2: found but not executable, and not found.
NOT_EXECUTABLE = 126
NOT_FOUND = 127

#: These say that no process can be made now, and nothing about the command.
_NO_PROCESS = frozenset({errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE})


class CannotStart(Exception):
    """The command is not there or cannot be executed; nothing was run."""

    def __init__(self, exit_code: int, message: str) -> None:
        """Keep the shell's exit code beside the message."""
        super().__init__(message)
        self.exit_code = exit_code


def open_standard_descriptors() -> None:
    """Put the null device where 0, 1 or 2 is closed: a pipe of ours must not get their numbers."""
    while (fd := os.open(os.devnull, os.O_RDWR)) <= 2:  # noqa: PLR2004  # standard error
        os.set_inheritable(fd, True)
    os.close(fd)


def start(
    argv: Sequence[str], env: Mapping[str, str], outputs: tuple[int, int] | None
) -> subprocess.Popen[bytes]:
    """Start ``argv`` in a session of its own, its output and errors going to ``outputs``.

    With None it inherits ours. A session and not only a group: a group in the background of our
    terminal would be stopped as soon as it reads from it. The command cannot leave the group that
    it leads (setsid(2)), so its id stays the group's.

    Raises CannotStart, or OSError where no process can be made (EAGAIN, ENOMEM), which may pass.
    """
    refused: tuple[str, OSError] | None = None
    for path in _candidates(argv[0], env):
        try:
            return _start(path, argv, env, outputs)
        except OSError as error:
            if error.errno in _NO_PROCESS:
                raise
            refused = refused or (path, error)
    if refused is None:
        raise CannotStart(NOT_FOUND, _not_found(argv[0], env))
    raise CannotStart(NOT_EXECUTABLE, _not_executable(*refused))


def _start(
    path: str, argv: Sequence[str], env: Mapping[str, str], outputs: tuple[int, int] | None
) -> subprocess.Popen[bytes]:
    out, err = outputs or (None, None)
    return subprocess.Popen(  # noqa: S603  # running what it is given is this command's purpose
        argv,
        executable=path,
        env=env,
        stdout=out,
        stderr=err,
        start_new_session=True,
        close_fds=False,  # ours close at exec; what was handed to us on purpose is handed on
    )


def _candidates(name: str, env: Mapping[str, str]) -> Iterator[str]:
    """Yield the files that ``name`` may mean, as execvp(3) looks for them, in the child's PATH."""
    if "/" in name:
        paths = [name]
    else:
        # An empty entry is the current folder (execvp(3)).
        paths = [f"{folder or '.'}/{name}" for folder in os.get_exec_path(env)]
    return (path for path in paths if name and os.path.lexists(path))


def _not_found(name: str, env: Mapping[str, str]) -> str:
    if "/" in name:
        advice = "Check the path, and that the image has the file at this place"
    else:
        path = os.pathsep.join(os.get_exec_path(env))
        advice = f"Install it in the image, or give its whole path. PATH is {path}"
    return f"{name!r} was not found. Nothing was run.\n  {advice}."


def _not_executable(path: str, error: OSError) -> str:
    return (
        f"{path} cannot be executed: {error.strerror}. Nothing was run.\n  {_advice(path, error)}"
    )


def _advice(path: str, error: OSError) -> str:
    if os.path.isdir(path):  # noqa: PTH112  # as above
        return "It is a folder: give the program in it."
    if error.errno == errno.EACCES:
        return f"In the Dockerfile: RUN chmod +x {path}  (or the volume is mounted noexec)"
    if error.errno == errno.ENOENT:
        return (
            "The file is there, and what would run it is not: the interpreter that its first line"
            " names (mind a carriage return at its end), or its loader (glibc on Alpine)."
        )
    if error.errno == errno.ENOEXEC:
        return (
            "It is a script without a first line, or made for another processor. For a script:"
            f" k8sjob run -- sh {path}"
        )
    if error.errno == errno.E2BIG:
        return "Its arguments and its environment are too long together: pass a file instead."
    return "Try it by hand in the same image."
