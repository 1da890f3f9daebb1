"""Durations as people write them: ``30s``, ``5m``, ``2h``, ``7d``."""

from __future__ import annotations

import re

from k8sjob.errors import UsageError

_UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}
#: A hundred years, in seconds: what is added to an instant stays in the calendar.
LONGEST_S = 36_500 * 86400
_FORM = re.compile(r"([0-9]{1,9})(ms|s|m|h|d)")


def parse_duration(text: str) -> float:
    """Return the seconds of ``30s``, ``5m``, ``2h``, ``7d`` or ``500ms``, a hundred years at most.

    Raises UsageError.
    """
    match = _FORM.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"not a duration: {text!r}. Write 30s, 5m, 2h or 7d.")
    seconds = int(match[1]) * _UNITS[match[2]]
    if seconds > LONGEST_S:
        raise UsageError(f"{text.strip()} is more than a hundred years: write 36500d or less.")
    return seconds
