"""Which ledgers a command looks after where it looks after several, and how to find each."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from k8sjob.ledger import settings
from k8sjob.ledger.secrets import Redactor

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from k8sjob.ledger.settings import Address

    #: Addresses by the names of their ledgers, read anew at each call: passwords change.
    Finds = Mapping[str, Callable[[], Address]]


def find_each(names: Sequence[str], env: Mapping[str, str]) -> Finds:
    """Return how to find the ledgers called ``names``; without names, all that there are.

    Those are the default one and each file of K8SJOB_LEDGERS_DIR. The default one is left out where
    nothing names it and there are others.
    """
    if names:
        return {name: partial(settings.find, env, ledger=name) for name in names}
    found: dict[str, Callable[[], Address]] = {}
    folder = env.get("K8SJOB_LEDGERS_DIR")
    if folder and Path(folder).is_dir():
        for file in sorted(Path(folder).iterdir()):
            # Kubernetes mounts a Secret with folders and links that begin with two dots.
            if file.is_file() and not file.name.startswith("."):
                found[file.name] = partial(settings.find, env, ledger=file.name)
    if not found or env.get("K8SJOB_DSN") or env.get("K8SJOB_DSN_FILE") or env.get("PGHOST"):
        found = {settings.DEFAULT: partial(settings.find, env), **found}
    return found


def redactor_of(finds: Finds) -> Redactor:
    """Return what keeps the secrets of these ledgers out of a log."""
    dsns = []
    for find in finds.values():
        try:
            dsns.append(find().dsn)
        except Exception:  # noqa: BLE001, S112  # whoever connects tells it
            continue
    return Redactor(*dsns, passwords=[os.environ.get("PGPASSWORD", "")])
