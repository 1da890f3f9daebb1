"""Something done about once a second beside the work, which it can neither delay nor end."""

from __future__ import annotations

import logging
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

log = logging.getLogger("k8sjob")

EVERY_S = 1.0

#: How long the end waits for a tick that is under way.
_LAST_S = 1.0


@contextmanager
def ticking(tick: Callable[[], None] | None) -> Iterator[None]:
    """Call ``tick`` about once a second within the block, on a thread of its own.

    A database that hangs then delays neither a signal nor a byte of output. Calls never overlap.
    What ``tick`` raises is logged, once for each run of failures. A call that still hangs a second
    after the block is left alone.
    """
    if tick is None:
        yield
        return
    over = threading.Event()
    thread = threading.Thread(target=_tick_until, args=(over, tick), name="tick", daemon=True)
    _start(thread)
    try:
        yield
    finally:
        over.set()
        if thread.is_alive():
            thread.join(_LAST_S)


def _start(thread: threading.Thread) -> None:
    try:
        thread.start()
    except RuntimeError:  # the container may have no process id left to give
        log.warning("no heartbeat: a thread for it could not be started", exc_info=True)


def _tick_until(over: threading.Event, tick: Callable[[], None]) -> None:
    failing = False
    while not over.wait(EVERY_S):
        try:
            tick()
        except BaseException:  # SystemExit too: it would end the heartbeat unseen
            if not failing:
                log.warning("a heartbeat failed; the command runs on", exc_info=True)
            failing = True
        else:
            failing = False
