"""For your own tests: run a target as ``k8sjob run`` would, without a process of its own.

::

    def test_the_credit_is_given_once(tmp_path):
        dsn = f"sqlite:///{tmp_path}/shop.db"
        first = run_once(credit, "billing/daily-credit:2026-09-13", dsn=dsn)
        second = run_once(credit, "billing/daily-credit:2026-09-13", dsn=dsn)
        assert (first.outcome, second.outcome) == ("applied", "duplicate")
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from k8sjob.key import Key
from k8sjob.ledger import settings
from k8sjob.ledger.contract import drive
from k8sjob.ledger.open import open_ledger
from k8sjob.ledger.secrets import Redactor
from k8sjob.ledger.uuid7 import uuid7
from k8sjob.run.perform import perform
from k8sjob.run.request import Request
from k8sjob.run.result import Result
from k8sjob.run.stop import StopSignals
from k8sjob.run.target import Target
from k8sjob.run.work import of_function

if TYPE_CHECKING:
    from collections.abc import Callable

    from k8sjob.run.context import Run

__all__ = ["Result", "run_once"]


def run_once(
    function: Callable[[Run], Any],
    key: Key | str,
    *,
    dsn: str,
    payload: bytes | None = None,
    zone: str | None = None,
) -> Result:
    """Run ``function`` (def or async def) once for ``key`` and say how it ended.

    ``dsn`` is ``sqlite:///file`` (its ledger is made at the first use) or a Postgres that was
    migrated. The result has ``outcome``, ``exit_code``, ``message`` and ``tail``; whatever the
    function raised is in it. Raises Unavailable, SchemaAbsent, Denied where there is no ledger.
    """
    address = settings.parse(dsn, "dsn")
    name = getattr(function, "__name__", "function")
    request = Request(
        target=Target(f"{function.__module__}:{name}", function.__module__, name),
        key=key if isinstance(key, Key) else Key.parse(key),
        source="k8sjob.testing",
        payload=payload,
        zone=zone,
        redact=Redactor(dsn),
    )
    work = of_function(request.target, function)
    ledger = open_ledger(
        address,
        application_name=f"k8sjob {request.key}",
        lock_timeout_s=request.lock_timeout_s,
        asynchronous=work.needs_loop,
    )
    stop = StopSignals()
    stop.asynchronous = work.needs_loop
    try:
        attempted = perform(ledger, request, uuid7(), work.do, stop)
        return asyncio.run(attempted) if work.needs_loop else drive(attempted)
    finally:
        stop.restore()
