"""Which clients a ledger lets in: the versions' numbers count, so 0.10.0 comes after 0.9.0."""

from __future__ import annotations

import re

from k8sjob.errors import ClientTooOld


def version_numbers(version: str) -> list[int]:
    """Return the numbers that ``version`` begins with; what follows (.dev1, rc2) does not count.

    ``k8sjob.version_numbers`` in SQL does the same.
    """
    found = re.match(r"[0-9]+(?:\.[0-9]+)*", version)
    return [int(number) for number in (found[0] if found else "0").split(".")]


def check_client(client: str, oldest: str) -> None:
    """Raise ClientTooOld where ``client`` is a version before ``oldest``."""
    if version_numbers(client) < version_numbers(oldest):
        raise ClientTooOld(
            f"this ledger takes clients from {oldest} on, this one is {client}\n"
            f"  Nothing was changed. Put k8sjob {oldest} or later into the image of this job."
        )
