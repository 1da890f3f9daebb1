"""What ``get`` and ``describe`` have in common."""

from __future__ import annotations

import os
import sys
from contextlib import closing
from typing import TYPE_CHECKING

from k8sjob.ledger import settings
from k8sjob.ledger.read import open_reader

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from datetime import datetime

    from k8sjob.ledger.read import Reader


def reader_of(ledger: str | None) -> AbstractContextManager[Reader]:
    """Connect to the ledger of this name, to look only; closed at the end of the block."""
    return closing(open_reader(settings.find(ledger=ledger)))


def now(reader: Reader) -> datetime:
    """Return the moment that states and ages are told for: the ledger's own."""
    return reader.now()


def namespace() -> str | None:
    """Return the namespace of names without one: K8SJOB_NAMESPACE."""
    return os.environ.get("K8SJOB_NAMESPACE") or None


def colour() -> bool:
    """Whether to use colour: on a terminal that has it, unless NO_COLOR says otherwise.

    An empty NO_COLOR does not count (https://no-color.org).
    """
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return sys.stdout.isatty() and not plain
