"""All facts as lines, and the lines as a table or JSON. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from k8sjob.doctor.access import check_access
from k8sjob.doctor.clocks import check_clock
from k8sjob.doctor.file import check_file
from k8sjob.doctor.limits import check_durability, check_keepalives, check_timeouts
from k8sjob.doctor.line import Line, Status, fail
from k8sjob.doctor.places import check_environment, check_settings, check_zones
from k8sjob.doctor.pooling import check_pooling
from k8sjob.doctor.purpose import NEEDS, Purpose
from k8sjob.doctor.reach import check_dsn, check_login, check_server, check_trouble
from k8sjob.doctor.schema import check_grants, check_schema
from k8sjob.ledger.survey import FileSurvey, Survey

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from k8sjob.doctor.gather import Facts, LedgerFacts

#: The check that tells what a step of a survey has met.
_CHECK_OF: Final[Mapping[str, str]] = {
    "login": "reached",
    "server": "version",
    "clock": "clock",
    "schema": "schema",
    "rights": "grants",
    "settings": "timeouts",
    "pooling": "pooler",
    "file": "file",
    "writing": "file",
    "damage": "file",
}


def examine(facts: Facts, purpose: Purpose, *, newest: int, client: str) -> list[Line]:
    """Return all lines. ``newest``: the newest version of a schema that this ``client`` knows."""
    lines: list[Line] = []
    for one in facts.ledgers:
        found = _ledger(one, facts, purpose, newest=newest, client=client)
        lines += [line.of(one.name) for line in found]
    lines += check_access(facts.api, purpose, NEEDS[purpose].access)
    lines.append(check_zones(facts.zones, facts.env))
    if purpose is Purpose.RUN:
        lines.append(check_environment(facts.env, context_is_there=facts.context_is_there))
    return [*lines, *check_settings(facts.env, purpose)]


def _ledger(
    one: LedgerFacts, facts: Facts, purpose: Purpose, *, newest: int, client: str
) -> Iterator[Line]:
    yield check_dsn(one.address)
    found = one.survey
    if isinstance(found, FileSurvey):
        if not one.late:
            yield from check_file(found, purpose, client)
    elif found is not None:
        yield from _postgres(found, facts, purpose, newest=newest, client=client)
    if found is not None and one.late:
        yield from _late(found, facts.within_s)


def _postgres(
    found: Survey, facts: Facts, purpose: Purpose, *, newest: int, client: str
) -> Iterator[Line]:
    need = NEEDS[purpose]
    if found.login is not None:
        yield check_login(found.login)
    elif found.trouble is not None:
        yield check_trouble(found.trouble)
    if found.server is not None:
        yield from check_server(found.server, need)
    if found.schema is not None:
        yield check_schema(found.schema, need, newest=newest, client=client)
        if found.rights is not None:
            yield from check_grants(found.rights, found.schema, need)
    if found.pooling is not None:
        yield from check_pooling(found.pooling)
    if found.settings is not None:
        user = found.login.user if found.login else "ROLE"
        yield from check_timeouts(found.settings, purpose, user)
        yield from check_keepalives(found.settings, purpose, found.login, found.pooling)
        yield from check_durability(found.settings)
    if found.clock is not None:
        yield check_clock(found.clock, facts.api.ahead_s)
    yield from _troubles(found)


def _troubles(found: Survey) -> Iterator[Line]:
    """Say what was not found out once somebody was in."""
    troubles = dict(found.troubles)
    if found.trouble is not None and found.login is not None:
        troubles[found.step] = str(found.trouble).partition("\n")[0]
    for step, said in troubles.items():
        if step != "pooling" or found.pooling is None:  # else it is known that there is one
            yield fail(_CHECK_OF[step], f"could not be asked: {said}", "look at the server's log")


def _late(found: Survey | FileSurvey, within_s: float) -> Iterator[Line]:
    if isinstance(found, Survey) and found.pooling is not None:
        return  # it is known that there is a pooler, and not more
    why = (
        "is its disk slow, or is there too much of it for that time? --timeout gives it more"
        if isinstance(found, FileSurvey)
        else "is there a firewall between, is the server overloaded, has a pooler no connection "
        "left?"
    )
    yield fail(
        _CHECK_OF[found.step],
        f"no answer within {within_s:g} s",
        f"what comes after it was not looked at: {why}",
    )


# --------------------------------------------------------------------------------------- as text


def hidden(lines: Iterable[Line], redact: Callable[[str], str]) -> list[Line]:
    """Return the lines without secrets."""
    return [
        Line(line.status, line.check, redact(line.seen), redact(line.do), line.ledger)
        for line in lines
    ]


def as_rows(lines: Iterable[Line], *, with_ledger: bool) -> list[tuple[str, ...]]:
    """Return a row a line."""
    return [
        (line.status, line.check, *((line.ledger or "-",) if with_ledger else ()), line.text)
        for line in lines
    ]


def as_json(lines: Sequence[Line], purpose: Purpose) -> dict[str, Any]:
    """Return what ``-o json`` prints."""
    return {
        "for": str(purpose),
        "ok": not any(line.status is Status.FAIL for line in lines),
        "checks": [
            {
                "status": str(line.status),
                "check": line.check,
                "ledger": line.ledger,
                "seen": line.seen,
                "do": line.do or None,
            }
            for line in lines
        ],
    }


def summary(lines: Sequence[Line]) -> str:
    """Return how many there are of each."""
    count = {status: sum(line.status is status for line in lines) for status in Status}
    warnings = f"{count[Status.WARN]} warning{'' if count[Status.WARN] == 1 else 's'}"
    return f"{count[Status.FAIL]} failed, {warnings}, {count[Status.OK]} ok"
