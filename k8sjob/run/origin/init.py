"""``k8sjob resolve``: the period of a Job, found in an init container for all the others."""

from __future__ import annotations

import logging
import os
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from k8sjob.errors import ConfigError, K8sjobError, TryAgain, Unavailable
from k8sjob.ledger.contract import drive
from k8sjob.ledger.open import open_ledger
from k8sjob.ledger.uuid7 import uuid7
from k8sjob.run.origin.context_file import context_of
from k8sjob.run.origin.facts import AskedFacts
from k8sjob.run.origin.resolve import resolve
from k8sjob.run.origin.sources import read_asked
from k8sjob.run.record import record
from k8sjob.run.request import make_request
from k8sjob.run.target import Target

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from k8sjob.ledger.contract import Ledger
    from k8sjob.ledger.settings import Address
    from k8sjob.run.origin.context_file import Context
    from k8sjob.run.origin.sources import Resolved
    from k8sjob.run.request import Flags, Request
    from k8sjob.run.result import Result

log = logging.getLogger("k8sjob")

#: Seconds between two tries to reach a ledger that is not there yet.
_PAUSE_S = 0.5


class _Nothing(Target):
    """What is run where only the period is looked for."""

    __slots__ = ()

    @property
    def mode(self) -> str:
        """How the attempt's row calls it."""
        return "resolve"


def resolve_once(
    flags: Flags,
    env: Mapping[str, str],
    *,
    find: Callable[[], Address] | None,
    wait_s: float,
) -> tuple[Context, Result | None]:
    """Return what the other containers are told; and what it came to where it is too late.

    ``find`` looks the ledger's address up at each try, of which there are some within ``wait_s``
    seconds; None: none is set. Without a ledger less is known, and a warning says what. Raises as
    :func:`k8sjob.run.origin.resolve.resolve` does.
    """
    asked = read_asked(flags, env)
    if asked.context and not os.path.exists(asked.context):  # noqa: PTH110  # no pathlib at start
        asked = replace(asked, context=None)  # it is about to be written
    ledger, away = _reach(find, wait_s) if find else (None, None)
    if ledger is None:
        _warn(away)
    try:
        resolved = resolve(asked, AskedFacts(ledger, env, away))
    finally:
        if ledger is not None:
            drive(ledger.close())
    late = _skip(find(), resolved, flags, env) if find and resolved.late else None
    return context_of(resolved, uuid7()), late


def _reach(find: Callable[[], Address], wait_s: float) -> tuple[Ledger | None, K8sjobError | None]:
    """Connect to a ledger that may not be there yet: its network, or its schema."""
    end = time.monotonic() + wait_s
    while True:
        ledger = open_ledger(find(), application_name="k8sjob resolve", lock_timeout_s=30.0)
        try:
            drive(ledger.open())
            drive(ledger.resolution(""))  # whether its tables are there
        except (Unavailable, TryAgain) as error:
            drive(ledger.close())
            left = end - time.monotonic()
            if left <= 0:
                return None, error
            time.sleep(min(_PAUSE_S, left))
        else:
            return ledger, None


def _warn(away: K8sjobError | None) -> None:
    why = str(away).partition("\n")[0] if away else "no ledger is set"
    log.warning(
        "%s: not looked up is what this Job stood for before, what is missing, and the schedule",
        why,
        extra={"event": "resolved_without_ledger"},
    )


def _skip(address: Address, resolved: Resolved, flags: Flags, env: Mapping[str, str]) -> Result:
    """Skip the period that this Job comes too late for, with an attempt that tells of it."""
    request = make_request(_Nothing("resolve"), flags, env, resolve=lambda _asked: resolved)
    name = f"k8sjob {request.key}"
    ledger = open_ledger(address, application_name=name, lock_timeout_s=request.lock_timeout_s)
    return drive(record(ledger, request, uuid7(), _never))


async def _never(request: Request) -> Result:
    raise ConfigError(f"{request.key} has nothing to run")
