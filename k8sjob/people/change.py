"""Carry an order out: look, plan, ask, change; and again where something moved in between."""

from __future__ import annotations

from typing import TYPE_CHECKING

from k8sjob.errors import K8sjobError, TryAgain
from k8sjob.ledger.operate import ChangedMeanwhile
from k8sjob.ledger.retry import is_retryable
from k8sjob.people.plan import plan, wanted
from k8sjob.people.words import range_note, refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from k8sjob.ledger.operate import Operator
    from k8sjob.people.order import Order
    from k8sjob.people.plan import Plan

_TRIES = 5


def carry_out(
    operator: Operator, order: Order, *, dry_run: bool, agree: Callable[[Plan], None]
) -> Plan:
    """Return the plan that was made true, in one transaction; or that was refused, or dry.

    ``agree`` sees the plan before anything is changed, and raises where it must not be.
    Raises TryAgain, and what `Operator` raises.
    """
    for _ in range(_TRIES):
        made = plan(order, operator.look(wanted(order)))
        _check_found(made)
        if dry_run or made.refused or made.changes_nothing:
            return made
        agree(made)
        try:
            operator.change(made.changes())
        except ChangedMeanwhile:
            continue
        except TryAgain as error:
            if is_retryable(error):
                continue
            raise
        return made
    raise TryAgain(
        f"could not {order.verb}: what it is about changes faster than it can be decided on\n"
        "  Nothing was changed. Stop what begins anew (k8sjob block NAMESPACE/NAME), or try again."
    )


def check_not_refused(made: Plan) -> None:
    """Raise K8sjobError (1) where one period keeps all of the plan from being done."""
    if made.refused:
        raise K8sjobError(refusal(made))


def _check_found(made: Plan) -> None:
    if made.steps or made.holds:
        return
    found = "; ".join(range_note(span, 0) for span in made.order.ranges)
    raise K8sjobError(f"{found}\n  Nothing was changed. Name each period, one by one.")
