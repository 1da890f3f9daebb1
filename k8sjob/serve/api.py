"""``/api/v1``: what ``k8sjob get jobs|periods -o json`` says, selected by parameters.

Where several ledgers are read at once, each entry has its ``ledger``, and ``away`` has those that
did not answer.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from k8sjob.errors import K8sjobError
from k8sjob.serve.web import Answer, NotThere
from k8sjob.view import jobs, periods
from k8sjob.view.asked import Asked, check_known, read_asked
from k8sjob.view.gaps import notes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime
    from http import HTTPStatus

    from k8sjob.ledger.read import Reader, Snapshot, Where
    from k8sjob.serve.site import Site
    from k8sjob.serve.web import Request

#: Entries of one answer, if nothing is said, and at most.
LIMIT, MOST = 200, 10_000

_OF_JOBS = ("namespace", "name", "state", "limit", "ledger")
_OF_PERIODS = (*_OF_JOBS, "since", "from", "to")


class _Told(NamedTuple):
    entries: Sequence[dict[str, Any]]
    cut: bool
    notes: Sequence[str]


class Api:
    """Answers with JSON."""

    def __init__(self, site: Site) -> None:
        """Take whose ledgers are read."""
        self._site = site

    def jobs(self, request: Request) -> Answer:
        """Return jobs. Raises UsageError, InvalidKey, NotThere, and what readers raise."""
        request.check(*_OF_JOBS)
        return self._answer(request, _asked(request, "jobs"), _jobs)

    def periods(self, request: Request) -> Answer:
        """Return periods. Raises as `jobs` does."""
        request.check(*_OF_PERIODS)
        return self._answer(request, _asked(request, "periods"), _periods)

    def _answer(
        self, request: Request, asked: Asked, tell: Callable[[Reader, Asked, datetime], _Told]
    ) -> Answer:
        ledger = request.one("ledger")
        answers = self._site.read(
            ledger, lambda reader: tell(reader, asked, self._site.now(reader))
        )
        if not answers:
            raise answers.refusal()
        if ledger is None and self._site.several:
            return _as_json(_merged(asked, answers, answers.away))
        ((told),) = answers.values()
        return _as_json({asked.what: told.entries, "cut": told.cut, "notes": told.notes})


def _merged(asked: Asked, answers: Mapping[str, _Told], away: Mapping[str, str]) -> dict[str, Any]:
    found = [{"ledger": name, **entry} for name, told in answers.items() for entry in told.entries]
    return {
        asked.what: found[: asked.limit],
        "cut": len(found) > asked.limit or any(told.cut for told in answers.values()),
        "notes": [note for told in answers.values() for note in told.notes],
        "away": [{"ledger": name, "error": error} for name, error in away.items()],
    }


def _asked(request: Request, what: str) -> Asked:
    states = request.each("state")
    return Asked(
        what=what,
        words=request.each("name"),
        namespace=request.one("namespace"),
        states=",".join(states) if states else None,
        since=request.one("since"),
        start=request.one("from"),
        end=request.one("to"),
        limit=request.number("limit", LIMIT, MOST),
    )


def _jobs(reader: Reader, asked: Asked, now: datetime) -> _Told:
    where, states = read_asked(asked, now)
    seen = _known(where, replace(reader.jobs(where), now=now))
    found = jobs.lines(seen, states if asked.states else None)
    return _Told(
        entries=[jobs.as_json(line) for line in found[: asked.limit]],
        cut=len(found) > asked.limit,
        notes=notes(seen),
    )


def _periods(reader: Reader, asked: Asked, now: datetime) -> _Told:
    where, states = read_asked(asked, now)
    seen = _known(where, replace(reader.periods(where), now=now))
    found = periods.lines(seen, states)
    kept = periods.cut(seen, found, asked.limit)
    return _Told(
        entries=[periods.as_json(seen, line) for line in kept],
        cut=len(found) > len(kept),
        notes=notes(seen),
    )


def _known(where: Where, seen: Snapshot) -> Snapshot:
    try:
        check_known(where, seen)
    except K8sjobError as error:
        raise NotThere(str(error)) from None
    return seen


def _as_json(told: dict[str, Any], status: HTTPStatus | None = None) -> Answer:
    body = json.dumps(told, ensure_ascii=False).encode() + b"\n"
    answer = Answer(body=body, kind="application/json")
    return replace(answer, status=status) if status else answer


def error(_request: Request, status: HTTPStatus, text: str) -> Answer:
    """Return an error as JSON, in its own words."""
    return _as_json({"error": text, "status": int(status)}, status)
