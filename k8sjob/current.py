"""Which period this code is working on: what the runner says, in this process or to its child."""

from __future__ import annotations

import os
from contextvars import ContextVar
from uuid import UUID

from k8sjob.errors import ConfigError, NoPeriod
from k8sjob.key import Key

#: Key and attempt of the run, set by the runner around a target that it calls in this process.
running: ContextVar[tuple[Key, UUID] | None] = ContextVar("k8sjob_running", default=None)


def current_key() -> Key:
    """Return the key that this code runs for: the run's own, or ``K8SJOB_KEY`` in a child process.

    Raises NoPeriod where there is neither, InvalidKey where the variable holds something else.
    """
    if (now := running.get()) is not None:
        return now[0]
    if text := os.environ.get("K8SJOB_KEY"):
        return Key.parse(text)
    raise NoPeriod(
        "this code does not run under k8sjob, so there is no current key. Nothing was done.\n"
        "  Start it with k8sjob run, or set K8SJOB_KEY, e.g. billing/daily-credit:2026-09-13"
    )


def attempt() -> UUID | None:
    """Return the attempt that this code belongs to: the run's, or ``K8SJOB_ATTEMPT``'s.

    Raises ConfigError where the variable holds something else.
    """
    if (now := running.get()) is not None:
        return now[1]
    text = os.environ.get("K8SJOB_ATTEMPT")
    try:
        return UUID(text) if text else None
    except ValueError:
        raise ConfigError(
            f"K8SJOB_ATTEMPT={text!r} is not the id of an attempt. Nothing was done.\n"
            "  Leave it as k8sjob run sets it, or unset it."
        ) from None
