"""What is wrong with a schedule, and what would be right."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from k8sjob.schedule.fields import Bounds

_COUNT = 5
_FIVE = "minute, hour, day of month, month, day of week, e.g. '30 2 * * *'"

#: What other programs have beyond the controller's: the sign, what it means there, what to do here.
_FOREIGN = (
    ("#", "has no #", "write a week's days of month (8-14 is the second) and let the job check"),
    ("L", "has no L", "run on day 1 for the day before, or on 28-31 and let the job check"),
    ("W", "has no W", "write the days of week 1-5 and let the job check the date"),
    ("H", "has no H", "choose the number yourself"),
)


class Misread(ValueError):
    """A text is no schedule: what is wrong, and what would be right."""

    def __init__(self, what: str, instead: str) -> None:
        """Take two clauses, without the full stop."""
        super().__init__(what)
        self.what = what
        self.instead = instead


def another_count(words: list[str]) -> Misread:
    """Tell what is wrong with a text of more or fewer than five fields."""
    if not words:
        return Misread("there is nothing in it", f"write five fields: {_FIVE}")
    more = " (there is none for seconds or years)" if len(words) > _COUNT else ""
    count = f"{len(words)} field{'s' * (len(words) > 1)}"
    return Misread(f"it has {count} and not {_COUNT}{more}", f"write {_FIVE}")


def unknown(word: str, item: str, bounds: Bounds) -> Misread:
    """Tell what is wrong with a word that is neither a number nor a name of the field."""
    for sign, what, instead in _FOREIGN:
        if sign in word and word.upper() == word:
            return Misread(f"{bounds.name} {item!r}: Kubernetes {what}", instead)
    if not word:
        return Misread(f"{bounds.name} {item!r} lacks a value", f"write {_choice(bounds)}")
    where = "" if word == item else f" has {word!r}, which"
    what = f"{bounds.name} {item!r}{where} is no number{' and no name' if bounds.names else ''}"
    short = word.lower()[:3]
    if short in bounds.names and word.isalpha():
        return Misread(f"{what} of three letters", f"write {short}")
    return Misread(what, f"write {_choice(bounds)}")


def out_of_bounds(value: int, item: str, bounds: Bounds) -> Misread:
    """Tell what is wrong with a value that the field does not have."""
    if bounds.name == "day of week" and value == bounds.last + 1:
        return Misread(f"{bounds.name} {item!r}: 7 is no day", "write 0 or sun for Sunday")
    side, limit = ("under", bounds.first) if value < bounds.first else ("over", bounds.last)
    where = "" if item == str(value) else f" has {value}, which"
    return Misread(f"{bounds.name} {item!r}{where} is {side} {limit}", f"write {_choice(bounds)}")


def wraps(first: int, last: int, step: int, item: str, bounds: Bounds) -> Misread:
    """Tell what is wrong with a range that ends before it starts."""
    what = f"{bounds.name} {item!r} ends before it starts"
    if step == 1:
        parts = [(first, bounds.last), (bounds.first, last)]
        return Misread(what, "write " + ",".join(_range(*part, bounds) for part in parts))
    size = bounds.last - bounds.first + 1
    around = [(value - bounds.first) % size for value in range(first, last + size + 1, step)]
    return Misread(what, "write " + ",".join(_value(index, bounds) for index in around))


def _range(first: int, last: int, bounds: Bounds) -> str:
    ends = [_value(value - bounds.first, bounds) for value in (first, last)]
    return ends[0] if first == last else "-".join(ends)


def _value(index: int, bounds: Bounds) -> str:
    return bounds.names[index] if bounds.names else str(bounds.first + index)


def _choice(bounds: Bounds) -> str:
    names = f", or {bounds.names[0]} to {bounds.names[-1]}" if bounds.names else ""
    return f"{bounds.first} to {bounds.last}{names}"
