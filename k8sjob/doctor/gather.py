"""Gather the facts: each ledger and the API server in a thread of its own, all within a time.

A server that accepts and never answers keeps its thread, which ends with the process.
"""

from __future__ import annotations

import os
import threading
import time
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from k8sjob.doctor.access import Api
from k8sjob.doctor.places import EXAMPLE, Zones
from k8sjob.errors import ConfigError, K8sjobError, Unavailable
from k8sjob.kube.inside import Inside, Limits
from k8sjob.kube.inside_review import Right
from k8sjob.kube.inside_trouble import Kind, Trouble
from k8sjob.ledger.survey import empty_survey, look
from k8sjob.zones import zone

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from k8sjob.doctor.purpose import Need
    from k8sjob.ledger.settings import Address
    from k8sjob.ledger.survey import FileSurvey, Survey

#: All of it together takes no longer, unless something else is asked for (seconds).
WITHIN_S = 15.0
_LIMITS = Limits(connect_s=2.0, read_s=4.0, total_s=8.0, tries=2)


@dataclass(slots=True)
class LedgerFacts:
    """A ledger: its address, or why there is none; what was seen of it. ``late``: then no more."""

    name: str
    address: Address | K8sjobError
    survey: Survey | FileSurvey | None = None
    late: bool = False


@dataclass(frozen=True, slots=True)
class Facts:
    """All that was seen within ``within_s`` seconds."""

    ledgers: Sequence[LedgerFacts]
    api: Api
    zones: Zones
    env: Mapping[str, str]
    within_s: float
    context_is_there: bool = True


def gather(
    addresses: Mapping[str, Address | K8sjobError],
    need: Need,
    env: Mapping[str, str],
    *,
    namespaces: Sequence[str | None] = (),
    within_s: float = WITHIN_S,
) -> Facts:
    """Look at everything at once. ``namespaces``: None in it is all, nothing is the usual one."""
    until = time.monotonic() + within_s
    ledgers = [_ledger(name, address) for name, address in addresses.items()]
    inside = Inside.find(env, limits=_LIMITS)
    api = Api(inside is not None)
    work = [_start(partial(_look, one), f"ledger {one.name}") for one in ledgers]
    if inside is not None and need.access:
        where = namespaces or [_usual(inside, need, env)]
        work.append(_start(partial(_ask, inside, need, where, api), "the Kubernetes API"))
    zones = look_at_zones()
    for thread in work:
        thread.join(max(0.0, until - time.monotonic()))
    late = [thread.is_alive() for thread in work]
    return Facts(
        ledgers=[_as_it_is(one, late=is_late) for one, is_late in zip(ledgers, late, strict=False)],
        api=replace(api, late=any(late[len(ledgers) :]), reviews=tuple(api.reviews)),
        zones=zones,
        env=env,
        # Path.exists() raises where a folder above may not be entered.
        context_is_there=os.path.exists(env.get("K8SJOB_CONTEXT", "/")),  # noqa: PTH110
        within_s=within_s,
    )


def _start(work: Callable[[], None], name: str) -> threading.Thread:
    thread = threading.Thread(target=work, name=name, daemon=True)
    thread.start()
    return thread


# --------------------------------------------------------------------------------------- ledgers


def _ledger(name: str, address: Address | K8sjobError) -> LedgerFacts:
    found = None if isinstance(address, K8sjobError) else empty_survey(address)
    return LedgerFacts(name, address, found)


def _look(one: LedgerFacts) -> None:
    if one.survey is None or isinstance(one.address, K8sjobError):
        return
    try:
        look(one.address, one.survey)
    except K8sjobError as error:
        one.survey.trouble = error
    except Exception as error:  # noqa: BLE001  # one ledger hides no other, whatever is wrong
        one.survey.trouble = Unavailable(f"{type(error).__name__}: {error}")


def _as_it_is(one: LedgerFacts, *, late: bool) -> LedgerFacts:
    """Return a copy that a thread which is late does not change any more."""
    return replace(one, late=late, survey=deepcopy(one.survey))


# ---------------------------------------------------------------------------------- API and zones


def _usual(inside: Inside, need: Need, env: Mapping[str, str]) -> str | None:
    return None if need.everywhere else env.get("K8SJOB_NAMESPACE") or inside.namespace


def _ask(inside: Inside, need: Need, namespaces: Sequence[str | None], api: Api) -> None:
    try:
        for namespace in namespaces:
            for access in need.access:
                review = inside.may(Right(access.verb, access.resource, namespace))
                api.reviews = (*api.reviews, (access, review))
    except Trouble as trouble:
        api.trouble = trouble
    except Exception as error:  # noqa: BLE001  # rights that nobody has asked for are not there
        api.trouble = Trouble(Kind.GARBAGE, f"{type(error).__name__}: {error}")


def look_at_zones() -> Zones:
    """Return what k8sjob knows of time zones."""
    try:
        version = str(import_module("tzdata").IANA_VERSION)
    except ImportError:
        return Zones(None)
    try:
        zone(EXAMPLE)
    except (ConfigError, OSError, ValueError) as error:
        return Zones(version, str(error))
    return Zones(version)
