"""``k8sjob inject``: one text of manifests into another, and what is to be said of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from k8sjob.manifest.files import Lines
from k8sjob.manifest.inject import sidecar
from k8sjob.manifest.inject.covering import want
from k8sjob.manifest.inject.earlier import options_of, record_of
from k8sjob.manifest.inject.looking import Refusal, Refused, Seen, Terms, look, refusal
from k8sjob.manifest.inject.options import together
from k8sjob.manifest.inject.pieces import put_in
from k8sjob.manifest.inject.put import Unwritable
from k8sjob.manifest.inject.raw import Raw
from k8sjob.manifest.inject.taking import Taken, take_out
from k8sjob.manifest.lint import Report, lint
from k8sjob.manifest.shown import one_line

if TYPE_CHECKING:
    from datetime import datetime

    from k8sjob.manifest.case import Case
    from k8sjob.manifest.inject.options import Options
    from k8sjob.manifest.inject.raw import Edit
    from k8sjob.manifest.inject.wanted import Wanted

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


class _Earlier(NamedTuple):
    """What an earlier injection was asked, and what became of it."""

    options: Options
    taken: Taken


class _Way(NamedTuple):
    """A text and its CronJobs, and what has become of them."""

    raw: Raw
    seen: list[Seen]
    done: Raw
    after: list[Seen]


def inject(text: str, options: Options, now: datetime, *, remove: bool = False) -> Result:
    """Put into the CronJobs of ``text`` what covers them, or take out what was put in before.

    ``text`` is a file's own, with the line ends that it has. Raises ConfigError where the parser
    is not installed.
    """
    raw = Raw(text)
    try:
        return _injected(raw, Terms(options, now), remove=remove)
    except Refused as refused:
        return Result(text, refusals=refused.refusals)


def _injected(raw: Raw, terms: Terms, *, remove: bool) -> Result:
    seen = look(raw.plain, terms)
    bare, earlier = _bare(raw, seen)
    there = seen if bare is raw else look(bare.plain, terms)
    taken = [before.taken for before in earlier]
    if remove:
        return _told(_Way(raw, seen, bare, there), [None] * len(seen), taken, terms)
    wants: list[Wanted | None] = []
    refusals, edits, lines = [], [], Lines(raw.plain)
    for one, first, before in zip(there, seen, earlier, strict=True):
        try:
            wanted = want(one.case, together(terms.options, before.options))
            wants.append(wanted)
            if not wanted.is_nothing:
                edits += put_in(one.root, wanted, bare.plain, alone=one.alone)
        except Unwritable as error:
            refusals.append(refusal(first.case, lines.line(first.case.root.at), error.what))
    if refusals:
        raise Refused(refusals)
    done = bare.edited(edits)
    after = there if done is bare else look(done.plain, terms)
    if _bare(done, after)[0].text != bare.text:
        raise Refused([Refusal(None, _ODD)])
    return _told(_Way(raw, seen, done, after), wants, taken, terms)


def _bare(raw: Raw, seen: list[Seen]) -> tuple[Raw, list[_Earlier]]:
    """Return the text without what was put in before, and what there was of it."""
    edits: list[Edit] = []
    earlier, refusals, lines = [], [], Lines(raw.plain)
    for one in seen:
        try:
            record = record_of(one.case)
            taken = take_out(one.root, record, raw.plain) if record else Taken()
            earlier.append(_Earlier(options_of(one.case, record), taken))
            edits += taken.edits
        except Unwritable as error:
            refusals.append(refusal(one.case, lines.line(error.at), error.what))
    if refusals:
        raise Refused(refusals)
    return raw.edited(edits), earlier


# --------------------------------------------------------------------------------------- telling


def _told(way: _Way, wants: list[Wanted | None], taken: list[Taken], terms: Terms) -> Result:
    raw, seen, done, after = way
    result, lines, report, before = Result(done.text), Lines(raw.plain), Report(), Report()
    lines_then = Lines(done.plain)
    if done.text != raw.text:
        lint(report, "", done.plain, terms.now)
    if any(out.kept for out in taken):
        lint(before, "", raw.plain, terms.now)
    for one, then, wanted, out in zip(seen, after, wants, taken, strict=True):
        line, title = lines.line(one.case.root.at), one_line(one.case.title)
        why = wanted.why if wanted else ""
        if _text(raw, one) == _text(done, then):
            result.told.append(Told(line, title, UNCHANGED, why=why))
            continue
        by_hand = (*out.warnings, *sidecar.lost(out.gone, wanted))
        found = _findings(report, lines_then, then)
        if wanted is None or why:
            # What stays may be no good without what went.
            new = [what for what in found if out.kept and what not in _findings(before, lines, one)]
            result.told.append(Told(line, title, TAKEN_BACK, warnings=(*by_hand, *new), why=why))
        else:
            result.told.append(_of_covered(one.case, line, wanted, (*by_hand, *found)))
    return result


def _of_covered(case: Case, line: int, wanted: Wanted, more: tuple[str, ...]) -> Told:
    return Told(
        line=line,
        title=one_line(case.title),
        verb=COVERED if record_of(case) is None else COVERED_ANEW,
        notes=tuple(wanted.notes),
        warnings=(*wanted.warnings, *more),
        account=(case.namespace, case.pod_spec["serviceAccountName"].text or "default"),
    )


def _findings(report: Report, lines: Lines, one: Seen) -> list[str]:
    """Return what lint finds in a CronJob; that it has no time zone has been said."""
    first, last = lines.line(one.root.start), lines.line(one.root.end)
    return [
        f"{found.message} ({found.rule})"
        for found in report.findings
        if first <= found.line <= last and found.rule != "no-time-zone"
    ]


def _text(raw: Raw, one: Seen) -> str:
    return raw.plain[one.root.start : one.root.end]
