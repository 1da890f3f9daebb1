"""What is said where no source has a period, and what it means for another try."""

from __future__ import annotations

from typing import TYPE_CHECKING

from k8sjob.errors import Denied, ExitCode, NoPeriod, TryAgain, Unavailable
from k8sjob.run.origin.sources import ADVICE

if TYPE_CHECKING:
    from k8sjob.errors import K8sjobError
    from k8sjob.run.origin.case import Case

_ERRORS: dict[ExitCode, type[K8sjobError]] = {
    ExitCode.DENIED: Denied,
    ExitCode.NO_PERIOD: NoPeriod,
}


def unresolved(case: Case) -> K8sjobError:
    """Return the error for sources that have all been in vain."""
    trouble = case.trouble
    if trouble is None or case.facts.ledger_away is not None:
        return refused(case, "no period is known for this run", ADVICE)
    error = _ERRORS.get(trouble.exit_code, TryAgain)
    what = "no period is known for this run, and the Kubernetes API is of no help"
    default = "This Pod's Job is gone." if error is NoPeriod else "Another try may succeed."
    advice = getattr(trouble, "advice", None) or default
    return error(_text(case, what, f"{advice}\n  Without the API: {ADVICE}"))


def refused(case: Case, what: str, advice: str) -> K8sjobError:
    """Return the error that says ``what`` was refused, why each source is in vain, and advice.

    A ledger that is away may hold the answer: then another try may succeed.
    """
    if (away := case.facts.ledger_away) is None:
        return NoPeriod(_text(case, what, advice))
    first = str(away).partition("\n")[0]
    return Unavailable(_text(case, f"{what}, and {first}", "Try again when the ledger is there."))


def _text(case: Case, what: str, advice: str) -> str:
    said = "".join(f"\n  {line}" for line in case.said)
    return f"{what}. Nothing was done.{said}\n  {advice}"
