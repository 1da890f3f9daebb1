"""``k8sjob inject``: one text of manifests into another, and what is to be said of it."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from k8sjob.manifest.case import cases
from k8sjob.manifest.files import Lines
from k8sjob.manifest.inject import sidecar
from k8sjob.manifest.inject.covering import want
from k8sjob.manifest.inject.earlier import options_of, record_of
from k8sjob.manifest.inject.options import together
from k8sjob.manifest.inject.pieces import put_in, take_out
from k8sjob.manifest.inject.put import Unwritable
from k8sjob.manifest.inject.raw import Raw
from k8sjob.manifest.inject.written import tables
from k8sjob.manifest.lint import Report, lint
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
    from k8sjob.manifest.inject.raw import Edit
    from k8sjob.manifest.inject.wanted import Wanted
    from k8sjob.manifest.inject.written import Table

_TEMPLATE = (
    "this is a template that was not rendered: inject into what it becomes, "
    "helm template CHART | k8sjob inject -"
)
_ODD = (
    "what would be put into this file could not be taken out again to the letter, so nothing was: "
    "write its empty values ({}, null) out, or take them away"
)


class Told(NamedTuple):
    """What came of one CronJob, which begins in ``line`` of what came in.

    ``notes`` say what was put in and why, ``warnings`` what was left and matters. ``account`` is
    the service account that has to be allowed to get Jobs, with its namespace if it is known.
    ``why`` says why nothing was done where something could have been expected.
    """

    line: int
    title: str
    verb: str
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    account: tuple[str | None, str] | None = None
    why: str = ""


class Refusal(NamedTuple):
    """Why nothing was done: a line of the text, None for all of it, and a sentence."""

    line: int | None
    what: str


@dataclass(slots=True)
class Result:
    """The text that came of a text, in the order of CronJobs; ``refusals``: it is of no use."""

    text: str
    told: list[Told] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)

    @property
    def changes(self) -> bool:
        """Whether something was changed."""
        return any(told.verb != UNCHANGED for told in self.told)


UNCHANGED, TAKEN_BACK = "unchanged", "taken back"
COVERED, COVERED_ANEW = "covered", "covered anew"


class _Seen(NamedTuple):
    """A CronJob, how it is written, and whether no other object is in its document."""

    case: Case
    root: Table
    alone: bool


class _Terms(NamedTuple):
    """What is asked, and when."""

    options: Options
    now: datetime


class _Way(NamedTuple):
    """A text and its CronJobs, and what has become of them."""

    raw: Raw
    seen: list[_Seen]
    done: Raw
    after: list[_Seen]


class _Refused(Exception):
    def __init__(self, refusals: list[Refusal]) -> None:
        super().__init__(refusals)
        self.refusals = refusals


def inject(text: str, options: Options, now: datetime, *, remove: bool = False) -> Result:
    """Put into the CronJobs of ``text`` what covers them, or take out what was put in before.

    ``text`` is a file's own, with the line ends that it has. Raises ConfigError where the parser
    is not installed.
    """
    raw = Raw(text)
    try:
        return _injected(raw, _Terms(options, now), remove=remove)
    except _Refused as refused:
        return Result(text, refusals=refused.refusals)


def _injected(raw: Raw, terms: _Terms, *, remove: bool) -> Result:
    seen = _look(raw.plain, terms)
    bare, earlier = _bare(raw, seen)
    there = seen if bare is raw else _look(bare.plain, terms)
    if remove:
        return _told(_Way(raw, seen, bare, there), [None] * len(seen), terms)
    wants: list[Wanted | None] = []
    refusals, edits, lines = [], [], Lines(raw.plain)
    for one, first, before in zip(there, seen, earlier, strict=True):
        try:
            wanted = want(one.case, together(terms.options, before))
            wanted.warnings += sidecar.lost(first.case, wanted)
            wants.append(wanted)
            if not wanted.is_nothing:
                edits += put_in(one.root, wanted, bare.plain, alone=one.alone)
        except Unwritable as error:
            refusals.append(_refusal(first.case, lines.line(first.case.root.at), error.what))
    if refusals:
        raise _Refused(refusals)
    done = bare.edited(edits)
    after = there if done is bare else _look(done.plain, terms)
    if _bare(done, after)[0].text != bare.text:
        raise _Refused([Refusal(None, _ODD)])
    return _told(_Way(raw, seen, done, after), wants, terms)


def _bare(raw: Raw, seen: list[_Seen]) -> tuple[Raw, list[Options]]:
    """Return the text without what was put in before, and what was asked then."""
    edits: list[Edit] = []
    earlier, refusals, lines = [], [], Lines(raw.plain)
    for one in seen:
        try:
            record = record_of(one.case)
            earlier.append(options_of(one.case, record))
            if record is not None:
                edits += take_out(one.root, record, raw.plain)
        except Unwritable as error:
            refusals.append(_refusal(one.case, lines.line(error.at), error.what))
    if refusals:
        raise _Refused(refusals)
    return raw.edited(edits), earlier


# --------------------------------------------------------------------------------------- reading


def _look(text: str, terms: _Terms) -> list[_Seen]:
    """Return the CronJobs that are meant. Raises _Refused where a document cannot be read."""
    lines, refusals, found = Lines(text), [], []
    for document in documents(text):
        if isinstance(document, Trouble):
            at = None if document.at is None else lines.line(document.at)
            refusals.append(Refusal(at, _unread(document.what)))
            continue
        for case in cases(document, terms.now):
            if case.is_cronjob and _is_meant(case, terms.options.only):
                if _is_template(case):
                    refusals.append(_refusal(case, lines.line(case.root.at), _TEMPLATE))
                found.append((case, case.root.node is document.root))
    if refusals:
        raise _Refused(refusals)
    roots = _roots(text, [case.root.node.at for case, _ in found if case.root.node])
    return [_Seen(case, roots[_place(case)], alone) for case, alone in found]


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


def _refusal(case: Case, line: int, what: str) -> Refusal:
    return Refusal(line, f"{one_line(case.title)}: {one_line(what)}")


# --------------------------------------------------------------------------------------- telling


def _told(way: _Way, wants: list[Wanted | None], terms: _Terms) -> Result:
    raw, seen, done, after = way
    result, lines, report = Result(done.text), Lines(raw.plain), Report()
    lines_then = Lines(done.plain)
    if done.text != raw.text:
        lint(report, "", done.plain, terms.now)
    for one, then, wanted in zip(seen, after, wants, strict=True):
        line, title = lines.line(one.case.root.at), one_line(one.case.title)
        if _text(raw, one) == _text(done, then):
            why = wanted.why if wanted else ""
            result.told.append(Told(line, title, UNCHANGED, why=why))
        elif wanted is None:
            result.told.append(Told(line, title, TAKEN_BACK))
        else:
            found = _findings(report, lines_then, then)
            result.told.append(_of_covered(one.case, line, wanted, found))
    return result


def _of_covered(case: Case, line: int, wanted: Wanted, found: list[str]) -> Told:
    return Told(
        line=line,
        title=one_line(case.title),
        verb=COVERED if record_of(case) is None else COVERED_ANEW,
        notes=tuple(wanted.notes),
        warnings=(*wanted.warnings, *found),
        account=(case.namespace, case.pod_spec["serviceAccountName"].text or "default"),
    )


def _findings(report: Report, lines: Lines, one: _Seen) -> list[str]:
    """Return what lint finds in a CronJob; that it has no time zone has been said."""
    first, last = lines.line(one.root.start), lines.line(one.root.end)
    return [
        f"{found.message} ({found.rule})"
        for found in report.findings
        if first <= found.line <= last and found.rule != "no-time-zone"
    ]


def _text(raw: Raw, one: _Seen) -> str:
    return raw.plain[one.root.start : one.root.end]
