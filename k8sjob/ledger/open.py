"""Choose the ledger by its address; the driver of the other one is not imported."""

from __future__ import annotations

from typing import TYPE_CHECKING

from k8sjob.ledger.settings import Kind

if TYPE_CHECKING:
    from k8sjob.ledger.contract import Ledger
    from k8sjob.ledger.settings import Address


def open_ledger(
    address: Address, *, application_name: str, lock_timeout_s: float, asynchronous: bool = False
) -> Ledger:
    """Return the ledger at ``address``, not yet connected. Timeouts are seconds."""
    if address.kind is Kind.SQLITE:
        from k8sjob.ledger.sqlite.store import SqliteLedger  # noqa: PLC0415  # see above

        return SqliteLedger(address.sqlite_file, lock_timeout_s=lock_timeout_s)
    from k8sjob.ledger.postgres.store import PostgresLedger  # noqa: PLC0415  # see above

    return PostgresLedger(
        address.dsn,
        application_name=application_name,
        lock_timeout_s=lock_timeout_s,
        asynchronous=asynchronous,
    )
