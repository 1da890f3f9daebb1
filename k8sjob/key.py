"""Names of jobs, and keys: which period of which job.

========= ============================================ ==================================
what      text                                         example
========= ============================================ ==================================
job       ``namespace/name``, ``namespace/name/part``  ``billing/credit``
key       ``job:period``                               ``billing/credit:2026-09-13``
range     ``job:first..last``, both ends in            ``billing/credit:2026-01..2026-03``
========= ============================================ ==================================

A namespace is a DNS label (RFC 1123), as Kubernetes demands. A name follows the letters of a DNS
subdomain. A part may have upper case and ``._@=+~-`` too. None has a colon, and no two dots in a
row, so a key can be read in one way only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from functools import total_ordering
from typing import NamedTuple

from k8sjob.errors import InvalidKey
from k8sjob.period import Cycle, Period, check_range

__all__ = ["JobName", "Key", "KeyRange"]


class _Rule(NamedTuple):
    """What one piece of a job's name looks like, for the code and for a person."""

    form: re.Pattern[str]
    longest: int
    words: str

    def holds(self, piece: str) -> bool:
        return len(piece) <= self.longest and self.form.fullmatch(piece) is not None


_RULES = {
    "namespace": _Rule(
        re.compile("[a-z0-9]([-a-z0-9]*[a-z0-9])?"),
        63,
        "lower-case letters, digits and '-', a letter or digit at both ends",
    ),
    "name": _Rule(
        re.compile(r"(?!.*\.\.)[a-z0-9]([-a-z0-9.]*[a-z0-9])?"),
        253,
        "lower-case letters, digits, '-' and '.', a letter or digit at both ends, no '..'",
    ),
    "part": _Rule(
        re.compile(r"(?!.*\.\.)[A-Za-z0-9][A-Za-z0-9._@=+~-]*"),
        200,
        "letters, digits and '._@=+~-', a letter or digit first, no '..'",
    ),
}


@total_ordering
@dataclass(frozen=True, slots=True)
class JobName:
    """The logical job: ``namespace/name``, or ``namespace/name/part`` for a step of it.

    Names sort by their text, as the ledger's ``COLLATE "C"`` does.

    Raises:
        InvalidKey: a piece breaks the rules; the message says which one and what they are.
    """

    namespace: str
    name: str
    part: str | None = None

    def __post_init__(self) -> None:
        """Check each piece."""
        _check_piece("namespace", self.namespace)
        _check_piece("name", self.name)
        if self.part is not None:
            _check_piece("part", self.part)

    def __str__(self) -> str:
        """Return the text that `parse` reads."""
        job = f"{self.namespace}/{self.name}"
        return job if self.part is None else f"{job}/{self.part}"

    def __lt__(self, other: object) -> bool:
        """Tell which name's text comes first."""
        return str(self) < str(other) if isinstance(other, JobName) else NotImplemented

    @property
    def job(self) -> JobName:
        """The job itself, without the part."""
        return self if self.part is None else JobName(self.namespace, self.name)

    @classmethod
    def parse(cls, text: str) -> JobName:
        """Read ``namespace/name`` or ``namespace/name/part``; `InvalidKey` for anything else."""
        namespace, *rest = _as_text("job name", text).split("/")
        match rest:
            case [name]:
                return cls(namespace, name)
            case [name, part]:
                return cls(namespace, name, part)
        advice = f"write NAMESPACE/{text}" if not rest else "a part has no '/'"
        raise InvalidKey(
            f"job name {text!r} is not NAMESPACE/NAME or NAMESPACE/NAME/PART, so nothing was done "
            f"for it: {advice}."
        )


@dataclass(frozen=True, slots=True, order=True)
class Key:
    """One period of one job, ``job:period``. Keys sort by job, then by period."""

    job: JobName
    period: Period

    def __post_init__(self) -> None:
        """Take no texts here: they would not compare equal to what they stand for."""
        _check_type(JobName, self.job)
        _check_type(Period, self.period)

    def __str__(self) -> str:
        """Return the text that `parse` reads."""
        return f"{self.job}:{self.period}"

    @classmethod
    def parse(cls, text: str) -> Key:
        """Read ``job:period``.

        Raises:
            InvalidKey: the text has another form; the message says which piece of it.
        """
        job, period = _split("key", text)
        if ".." in period:
            raise InvalidKey(
                f"key {text!r} is a range of periods where one is wanted, so nothing was done for "
                f"it: write one of its periods, e.g. {job}:{period.partition('..')[0]}."
            )
        try:
            return cls.of(job, period)
        except InvalidKey as error:
            raise InvalidKey(f"key {text!r}: {error}") from None

    @classmethod
    def of(cls, job: str | JobName, period: str | Period | datetime) -> Key:
        """Make a key of its two halves, each an object or its text.

        An aware datetime stands for the scheduled period at that instant.

        Raises:
            InvalidKey: one of them has another form.
        """
        name = job if isinstance(job, JobName) else JobName.parse(job)
        if isinstance(period, datetime):
            return cls(name, Period.at(period))
        return cls(name, period if isinstance(period, Period) else Period.parse(period))


@dataclass(frozen=True, slots=True)
class KeyRange:
    """The periods of one job from ``first`` to ``last``, both included: ``job:first..last``.

    Which periods lie between the ends is the schedule's to say, or `periods_between`'s.

    Raises:
        InvalidKey: the ends are of different cycles, or in the wrong order.
    """

    job: JobName
    first: Period
    last: Period

    def __post_init__(self) -> None:
        """Check that the ends belong together."""
        _check_type(JobName, self.job)
        _check_type(Period, self.first)
        _check_type(Period, self.last)
        check_range(self.first, self.last)

    def __str__(self) -> str:
        """Return the text that `parse` reads."""
        return f"{self.job}:{self.first}..{self.last}"

    def __contains__(self, key: Key) -> bool:
        """Tell whether ``key`` is of this job and cycle, and between the ends."""
        same = key.job == self.job and key.period.cycle is self.cycle
        return same and self.first <= key.period <= self.last

    @property
    def cycle(self) -> Cycle:
        """The cycle of both ends."""
        return self.first.cycle

    @classmethod
    def parse(cls, text: str) -> KeyRange:
        """Read ``job:first..last``.

        Raises:
            InvalidKey: the text has another form; the message says which piece of it.
        """
        job, periods = _split("range", text)
        first, dots, last = periods.partition("..")
        if not dots:
            raise InvalidKey(
                f"range {text!r} has one end only, so nothing was done for it: write "
                f"{job}:FIRST..LAST, e.g. {text}..{periods}."
            )
        try:
            return cls(JobName.parse(job), Period.parse(first), Period.parse(last))
        except InvalidKey as error:
            raise InvalidKey(f"range {text!r}: {error}") from None


def _check_piece(what: str, piece: object) -> None:
    rule, text = _RULES[what], _as_text(what, piece)
    if rule.holds(text):
        return
    likely = text.strip().lower().replace("_", "-")
    advice = f"write {likely}" if rule.holds(likely) else "write another one"
    raise InvalidKey(
        f"{what} {text!r} in a job's name breaks the rules of a {what}, so nothing was done for "
        f"that job: {advice} ({rule.words}; at most {rule.longest} characters)."
    )


def _check_type(wanted: type, value: object) -> None:
    if not isinstance(value, wanted):
        raise InvalidKey(
            f"{value!r} is a {type(value).__name__} where a {wanted.__name__} is needed, so no key "
            "was made and nothing was done: use Key.of, Key.parse or KeyRange.parse."
        )


def _split(what: str, text: str) -> tuple[str, str]:
    """Split a key or a range at its colon, which no job's name has."""
    job, colon, period = _as_text(what, text).partition(":")
    if not colon:
        raise InvalidKey(
            f"{what} {text!r} names no period, so nothing was done for it: write {text}:PERIOD, "
            f"e.g. {text}:2026-09-13T00:00:00Z."
        )
    return job, period


def _as_text(what: str, value: object) -> str:
    if isinstance(value, str):
        return value
    raise InvalidKey(
        f"{what} {value!r} is a {type(value).__name__} and not a text, so nothing was done for it: "
        "give it as text, e.g. billing/daily-credit:2026-09-13T00:00:00Z for a key."
    )
