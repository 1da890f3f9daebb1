"""Whether the clocks agree that decide what is due, and which one to trust. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from k8sjob.doctor.line import fail, ok, seconds, warn

if TYPE_CHECKING:
    from k8sjob.doctor.line import Line
    from k8sjob.ledger.survey import Clock

#: Seconds. A start is refused that is 5 minutes before its period, so half a minute is bad enough.
WARN_S, FAIL_S = 5.0, 30.0

_MEND: Final = "chronyc tracking"


def check_clock(clock: Clock, api_ahead_s: float | None) -> Line:
    """Compare this clock with the ledger's, and with the API server's where that is known."""
    off_s = max(0.0, abs(clock.ahead_s) - clock.within_s)
    which = "ahead of" if clock.ahead_s > 0 else "behind"
    seen = (
        f"the ledger's clock is {seconds(abs(clock.ahead_s))} {which} this one "
        f"(± {seconds(clock.within_s)})"
    )
    if off_s < WARN_S:
        return ok("clock", seen)
    make = fail if off_s >= FAIL_S else warn
    return make("clock", seen, _advice(clock, api_ahead_s))


def _advice(clock: Clock, api_ahead_s: float | None) -> str:
    told = "k8sjob goes by the ledger's for what is due, late or in the future"
    if api_ahead_s is not None:
        if abs(api_ahead_s - clock.ahead_s) < WARN_S:
            return (
                f"trust the ledger's, with which the API server's agrees; {told}. Mend the clock "
                f"of this Pod's node: {_MEND}"
            )
        if abs(api_ahead_s) < WARN_S:
            return (
                f"trust this one, with which the API server's agrees; but {told}. Mend the clock "
                f"of the database's machine: {_MEND}"
            )
    return f"trust neither before you have compared both with a third one; {told}: {_MEND}"
