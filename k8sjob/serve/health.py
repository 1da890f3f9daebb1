"""Whether the process lives, and whether there is a ledger to serve."""

from __future__ import annotations

from concurrent.futures import as_completed
from http import HTTPStatus
from typing import TYPE_CHECKING

from k8sjob.errors import K8sjobError
from k8sjob.key import JobName
from k8sjob.serve.readers import late
from k8sjob.serve.web import text_answer

if TYPE_CHECKING:
    from k8sjob.ledger.known import Known
    from k8sjob.ledger.read import Reader
    from k8sjob.serve.site import Site
    from k8sjob.serve.web import Answer, Request

_NOBODY = JobName("none", "none")


def healthz(_request: Request) -> Answer:
    """Return 200: no ledger is asked, since a restart of this process would bring none back."""
    return text_answer("ok\n")


class Readiness:
    """``/readyz``: 200 where at least one ledger has answered lately, else 503 with the reasons."""

    def __init__(self, site: Site) -> None:
        """Take whose ledgers are asked."""
        self._site = site

    def __call__(self, _request: Request) -> Answer:
        """Ask all ledgers, unless one has answered lately; the first that answers is enough."""
        for name, shelf in self._site.shelves.items():
            if shelf.has_answered_lately():
                return _ready(name)
        asked = {shelf.ask(_anything): name for name, shelf in self._site.shelves.items()}
        reasons = dict.fromkeys(asked.values(), late(self._site.within_s))
        try:
            for future in as_completed(asked, self._site.within_s):
                error = future.exception()
                if error is None:
                    return _ready(asked[future])
                reasons[asked[future]] = _reason(error)
        except TimeoutError:
            pass
        told = [f"{name}: {reason}" for name, reason in reasons.items()]
        return text_answer("\n".join(["not ready", *told, ""]), HTTPStatus.SERVICE_UNAVAILABLE)


def _anything(reader: Reader) -> Known:
    """Ask the cheapest question that needs schema and rights."""
    return reader.known(_NOBODY)


def _ready(name: str) -> Answer:
    return text_answer(f"ready: ledger {name} answers\n")


def _reason(error: BaseException) -> str:
    if isinstance(error, K8sjobError):
        return str(error)
    raise error
