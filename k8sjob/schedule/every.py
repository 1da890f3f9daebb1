"""``@every D``: a delay from one run to the next, in the form of Go's ``time.ParseDuration``."""

from __future__ import annotations

import re

from k8sjob.schedule.advice import Misread

_NANOSECONDS = {
    "ns": 1,
    "us": 10**3,
    "\u00b5s": 10**3,  # the micro sign
    "\u03bcs": 10**3,  # the Greek letter
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
}
_HOUR = 60
_DAY = 24 * _HOUR
_PART = r"([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)"
_WHOLE = re.compile(rf"[+-]?(0|({_PART})+)")


def read_every(text: str) -> int:
    """Return the whole seconds of a delay such as ``90m`` or ``1h30m``, and at least 1.

    Raises:
        Misread: it is no such delay, or one of over 292 years.
    """
    if not _WHOLE.fullmatch(text):
        raise Misread(f"{text!r} after @every is no delay", "write e.g. @every 90m or @every 36h")
    total = sum(_nanoseconds(n, _NANOSECONDS[unit]) for n, unit in re.findall(_PART, text))
    if total >= 2**63:
        raise Misread(f"{text!r} after @every is over 292 years", "write a shorter delay")
    return max(1, total // 10**9 * (-1 if text.startswith("-") else 1))


def fields_like(seconds: int) -> str:
    """Return five fields that fire about as often as every so many ``seconds``."""
    minutes = max(1, seconds // 60)
    if minutes < _HOUR:
        return f"*/{minutes} * * * *"
    if minutes < 2 * _HOUR:
        return "0 * * * *"
    return f"0 */{minutes // _HOUR} * * *" if minutes < _DAY else "0 0 * * *"


def _nanoseconds(number: str, unit: int) -> int:
    """Return ``number`` times ``unit``; its fraction is rounded as Go rounds it, in a float."""
    whole, _, fraction = number.partition(".")
    fraction = fraction[:18]  # more does not fit into Go's 64 bits
    return int(whole or 0) * unit + int(int(fraction or 0) * (unit / 10 ** len(fraction)))
