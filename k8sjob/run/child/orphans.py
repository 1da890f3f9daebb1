"""What an init process does for processes whose parent has gone (pid_namespaces(7))."""

from __future__ import annotations

import logging
import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

log = logging.getLogger("k8sjob")

_PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h


@contextmanager
def orphans_come_here() -> Iterator[None]:
    """Become the parent of orphaned descendants. PID 1 is it anyway; elsewhere Linux has that."""
    if os.getpid() == 1:
        yield
        return
    _set_subreaper(1)
    try:
        yield
    finally:
        _set_subreaper(0)


def _set_subreaper(value: int) -> None:
    if sys.platform != "linux":
        return
    import ctypes  # noqa: PLC0415  # slow to import, and not needed as PID 1

    try:
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, value, 0, 0, 0)
    except (OSError, AttributeError):
        log.debug("orphans of the command go to PID 1", exc_info=True)


def reap() -> Iterator[tuple[int, int]]:
    """Reap all children that have ended; yield process id and exit code, or minus the signal."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:  # there are no children at all
            return
        if pid == 0:
            return
        yield pid, os.waitstatus_to_exitcode(status)
