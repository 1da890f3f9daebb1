"""The CronJobs of a text that are meant, and how each of them is written."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from k8sjob.manifest.case import cases
from k8sjob.manifest.files import Lines
from k8sjob.manifest.inject.written import tables
from k8sjob.manifest.read import (
    TEMPLATE,
    Trouble,
    documents,
    load_parser,
    pieces,
    without_directives,
)
from k8sjob.manifest.shown import one_line

if TYPE_CHECKING:
    from datetime import datetime

    from k8sjob.manifest.case import Case
    from k8sjob.manifest.inject.options import Options
    from k8sjob.manifest.inject.written import Table

_TEMPLATE = (
    "this is a template that was not rendered: inject into what it becomes, "
    "helm template CHART | k8sjob inject -"
)


class Refusal(NamedTuple):
    """Why nothing was done: a line of the text, None for all of it, and a sentence."""

    line: int | None
    what: str


class Seen(NamedTuple):
    """A CronJob, how it is written, and whether no other object is in its document."""

    case: Case
    root: Table
    alone: bool


class Terms(NamedTuple):
    """What is asked, and when."""

    options: Options
    now: datetime


class Refused(Exception):
    """Nothing can be done, for these reasons."""

    def __init__(self, refusals: list[Refusal]) -> None:
        """Take them all."""
        super().__init__(refusals)
        self.refusals = refusals


def look(text: str, terms: Terms) -> list[Seen]:
    """Return the CronJobs that are meant. Raises Refused where a document cannot be read."""
    lines, refusals, found = Lines(text), [], []
    for document in documents(text):
        if isinstance(document, Trouble):
            at = None if document.at is None else lines.line(document.at)
            refusals.append(Refusal(at, _unread(document.what)))
            continue
        for case in cases(document, terms.now):
            if case.is_cronjob and _is_meant(case, terms.options.only):
                if _is_template(case):
                    refusals.append(refusal(case, lines.line(case.root.at), _TEMPLATE))
                found.append((case, case.root.node is document.root))
    if refusals:
        raise Refused(refusals)
    roots = _roots(text, [case.root.node.at for case, _ in found if case.root.node])
    return [Seen(case, roots[_place(case)], alone) for case, alone in found]


def _place(case: Case) -> int:
    assert case.root.node  # noqa: S101  # for the type checker
    return case.root.node.at


def _roots(text: str, places: list[int]) -> dict[int, Table]:
    """Return the maps that begin in ``places``."""
    parse, found = load_parser(), {}
    wanted = sorted(places)
    for start, piece in pieces(text):
        here = wanted[bisect_left(wanted, start) : bisect_left(wanted, start + len(piece))]
        for table in tables(parse(without_directives(piece)), text, start) if here else ():
            if table.start in here:
                found[table.start] = table
    return found


def _unread(what: str) -> str:
    return _TEMPLATE if what == TEMPLATE else what.replace("was checked", "was changed")


def _is_meant(case: Case, only: tuple[str, ...]) -> bool:
    return not only or case.name in only or case.title in only


def _is_template(case: Case) -> bool:
    """Whether it is text for helm that was in quotes, and so is YAML by accident."""
    spots = [case.metadata["name"], case.metadata["namespace"], case.spec["schedule"]]
    spots += [container[key] for container in case.containers() for key in ("name", "image")]
    return any("{{" in (spot.text or "") for spot in [*spots, case.spec["timeZone"]])


def refusal(case: Case, line: int, what: str) -> Refusal:
    """Return why nothing can be done to a CronJob."""
    return Refusal(line, f"{one_line(case.title)}: {one_line(what)}")
