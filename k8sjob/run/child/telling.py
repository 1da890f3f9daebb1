"""Log lines of a process that must not be held up by whoever reads them."""

from __future__ import annotations

import logging
import select

log = logging.getLogger("k8sjob")

_STDERR = 2


def tell(level: int, message: str, *values: object, event: str) -> None:
    """Log, unless standard error is full: waiting for its reader would put off signals and KILL."""
    takes = select.poll()
    takes.register(_STDERR, select.POLLOUT)
    if takes.poll(0):
        log.log(level, message, *values, extra={"event": event})
