"""What the server does to a session by itself: cut it, or keep what a dead client holds. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from k8sjob.doctor.line import ok, seconds, warn
from k8sjob.doctor.purpose import Purpose

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from k8sjob.doctor.line import Line
    from k8sjob.ledger.survey import Login, Pooling

#: A key that a dead node holds for longer than that is a missed period to whoever waits (seconds).
_NOTICED_S: Final = 600.0
#: A pass, or a plan of a backfill, takes its time; a query that is cut sooner may be one of theirs.
_ENOUGH_S: Final = 60.0

#: What a setting does to a run, and to a migration. Each is a timeout in milliseconds; 0 is none.
CUTS: Final[Mapping[str, Mapping[Purpose, str]]] = {
    "statement_timeout": {
        Purpose.RUN: "ends each statement of the work that takes longer: the period is rolled back",
        Purpose.MIGRATE: "ends each step that takes longer: it is rolled back",
    },
    "idle_in_transaction_session_timeout": {
        Purpose.RUN: "ends a claim that computes for longer between two statements: the period is "
        "rolled back",
    },
    "transaction_timeout": {
        Purpose.RUN: "ends a claim that takes longer, with all its work: the period is rolled back",
        Purpose.MIGRATE: "ends a step that takes longer: it is rolled back",
    },
    "lock_timeout": {
        Purpose.MIGRATE: "ends a migration that waits longer for another one: nothing is changed",
    },
}
#: Which of them end statements of the other commands.
_OTHERS: Final = ("statement_timeout", "transaction_timeout")


def check_timeouts(settings: Mapping[str, str], purpose: Purpose, user: str) -> Iterator[Line]:
    """Say what of the purpose's work is cut short, a line each."""
    lines = list(_cuts(settings, purpose, user))
    yield from lines or [ok("timeouts", _none_of(settings, purpose))]


def _cuts(settings: Mapping[str, str], purpose: Purpose, user: str) -> Iterator[Line]:
    for name, effects in CUTS.items():
        limit_s = _ms(settings, name)
        effect = effects.get(purpose)
        if effect is None and purpose is not Purpose.SERVE and limit_s < _ENOUGH_S:
            effect = "may end a query of it" if name in _OTHERS else None
        if limit_s and effect:
            do = f'ALTER ROLE "{user}" SET {name} = 0, or more than the longest takes'
            yield warn("timeouts", f"{name} is {seconds(limit_s)} and {effect}", do)


def _none_of(settings: Mapping[str, str], purpose: Purpose) -> str:
    if purpose is Purpose.SERVE:
        return "k8sjob serve bounds its queries itself"
    given = [f"{name} {seconds(_ms(settings, name))}" for name in CUTS if _ms(settings, name)]
    return f"nothing is cut: {', '.join(given) if given else 'the server sets no limits'}"


def check_keepalives(
    settings: Mapping[str, str], purpose: Purpose, login: Login | None, pooling: Pooling | None
) -> Iterator[Line]:
    """Say how long a client that is gone without a word keeps its key. Only runs hold keys."""
    if purpose is not Purpose.RUN:
        return
    if pooling is not None and pooling.between:
        yield ok(
            "keepalives",
            "it is the pooler that notices a dead client (PgBouncer: tcp_keepalive, tcp_keepidle, "
            "tcp_user_timeout)",
        )
    elif login is not None and (not login.host or login.host.startswith("/")):
        yield ok("keepalives", "a socket of this machine: the server notices at once")
    else:
        yield _noticed(settings)


def _noticed(settings: Mapping[str, str]) -> Line:
    idle, every, count = (
        float(settings.get(f"tcp_keepalives_{name}") or 0) for name in ("idle", "interval", "count")
    )
    after_s = idle + every * count
    bounded_s = _ms(settings, "idle_in_transaction_session_timeout")
    seen = f"a node that dies is noticed after {seconds(after_s)} (tcp_keepalives_*)"
    if not bounded_s and (not after_s or after_s > _NOTICED_S):
        if not after_s:
            seen = "the server does not say when a node that dies is noticed (tcp_keepalives_*)"
        return warn(
            "keepalives",
            f"{seen}: until then its claim keeps the key, and others are busy (75)",
            "on the server, or with ALTER SYSTEM: tcp_keepalives_idle = 30, "
            "tcp_keepalives_interval = 10, tcp_keepalives_count = 3",
        )
    return ok("keepalives", f"{seen}{_statements(settings)}")


def _statements(settings: Mapping[str, str]) -> str:
    interval_s = _ms(settings, "client_connection_check_interval")
    if interval_s:
        return f", a killed one in mid-statement after {seconds(interval_s)}"
    return (
        "; k8sjob run has statements of a killed client ended within 5 s, a program that claims by "
        "itself sets client_connection_check_interval"
    )


def check_durability(settings: Mapping[str, str]) -> Iterator[Line]:
    """Say whether what was committed is there after a crash."""
    off = [name for name in ("fsync", "full_page_writes") if settings.get(name) == "off"]
    if off:
        yield warn(
            "durability",
            f"{' and '.join(off)} off: a crash of the server's machine may destroy the database, "
            "and what it says of periods",
            f"switch it on wherever the data matters: ALTER SYSTEM SET {off[0]} = on",
        )
    if settings.get("synchronous_commit") == "off":
        yield warn(
            "durability",
            "synchronous_commit is off: a crash may forget periods that were told done, together "
            "with their effect",
            "ALTER ROLE … SET synchronous_commit = on for those that run jobs",
        )
    elif not off:
        level = settings.get("synchronous_commit", "on")
        yield ok("durability", f"fsync on, synchronous_commit {level}")


def _ms(settings: Mapping[str, str], name: str) -> float:
    return float(settings.get(name) or 0) / 1000
