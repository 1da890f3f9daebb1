"""Turn what Postgres raises into k8sjob's errors, with what to do about it."""

from __future__ import annotations

import psycopg
from psycopg import errors as pg

from k8sjob.errors import Denied, K8sjobError, SchemaAbsent, TryAgain, Unavailable
from k8sjob.ledger.contract import indicator_is_taken
from k8sjob.ledger.sqlstates import ERRORS, OUTCOMES
from k8sjob.states import NotApplied

#: Another try of the whole transaction may go through.
RETRIED = ("40001", "40P01")

#: SQLSTATE class 53: disk full, out of memory, too many connections, a limit of its configuration.
_NO_ROOM = "53"

_GONE = (pg.InvalidSchemaName, pg.UndefinedFunction, pg.UndefinedTable, pg.UndefinedColumn)


def translate(error: psycopg.Error, *, doing: str) -> K8sjobError:
    """Return the k8sjob error for what our own statement met while ``doing`` something."""
    state, text = error.sqlstate or "", first_line(error)
    if state in OUTCOMES:
        return NotApplied(OUTCOMES[state], with_hint(error))
    if state in ERRORS:
        return ERRORS[state][0](with_hint(error))
    if isinstance(error, pg.InsufficientPrivilege):
        return Denied(
            f"the database refused to {doing}: {text}\n  Nothing was changed. As the ledger's "
            "owner: "
            "k8sjob migrate --grant-runner ROLE (or --grant-operator, --grant-reader)"
        )
    if isinstance(error, _GONE):
        return SchemaAbsent(
            f"the ledger has no k8sjob schema that can {doing}: {text}\n"
            "  Nothing was changed. As the ledger's owner: k8sjob migrate"
        )
    if isinstance(error, pg.ReadOnlySqlTransaction):
        return Unavailable(
            f"the ledger takes no writes: {text}\n"
            "  Nothing was changed. It may be a standby: point the DSN at the primary."
        )
    if isinstance(error, pg.LockNotAvailable):
        return TryAgain(
            f"could not {doing}: another transaction holds it\n"
            "  Nothing was changed. The other one decides; run the same command again."
        )
    if error.diag.constraint_name == "periods_one_awaiting":
        return indicator_is_taken(doing)
    if state in RETRIED:
        return TryAgain(f"could not {doing}: {text}\n  Nothing was changed. Try again.")
    return _of_the_server(error, state, text, doing)


def _of_the_server(error: psycopg.Error, state: str, text: str, doing: str) -> K8sjobError:
    if isinstance(error, pg.QueryCanceled):
        return TryAgain(
            f"could not {doing}: {text}\n  Nothing was changed. Try again; if its time is too "
            "short: ALTER ROLE ROLE SET statement_timeout = '60s'"
        )
    if state.startswith(_NO_ROOM):
        return Unavailable(
            f"the ledger's server has no room to {doing}: {text}\n  Nothing was changed. Look "
            "after its disk, its memory and max_connections; then another try succeeds."
        )
    if isinstance(error, psycopg.OperationalError):
        return Unavailable(f"the connection to the ledger failed while trying to {doing}: {text}")
    return K8sjobError(f"could not {doing}: {text}")


def translate_reading(error: psycopg.Error) -> K8sjobError:
    """Return the k8sjob error for what somebody met who only looks."""
    if isinstance(error, pg.InsufficientPrivilege):
        return Denied(
            f"the database refused to read the ledger: {first_line(error)}\n"
            "  Nothing was changed. As the ledger's owner: k8sjob migrate --grant-reader ROLE"
        )
    if isinstance(error, pg.QueryCanceled):  # the limit is the reader's own
        return Unavailable(
            f"the ledger did not answer in time: {first_line(error)}\n"
            "  Nothing was changed. It is slow, or somebody holds its tables; try again."
        )
    return translate(error, doing="read the ledger")


def first_line(error: psycopg.Error) -> str:
    """Return the error's message without its context lines."""
    return error.diag.message_primary or " ".join(str(error).split())


def with_hint(error: psycopg.Error) -> str:
    """Return message, detail and hint as our functions give them: three parts."""
    rest = " ".join(filter(None, (error.diag.message_detail, error.diag.message_hint)))
    return first_line(error) + (f"\n  {rest}" if rest else "")
