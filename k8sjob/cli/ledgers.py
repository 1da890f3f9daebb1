"""Which ledgers a command looks after where it looks after several, and how to find each."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from k8sjob.errors import ConfigError, K8sjobError
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
    nothing names it and there are others. Raises ConfigError for a folder that is not there.
    """
    if names:
        return {name: partial(settings.find, env, ledger=name) for name in names}
    found: dict[str, Callable[[], Address]] = {}
    if folder := env.get("K8SJOB_LEDGERS_DIR"):
        found = {name: partial(settings.find, env, ledger=name) for name in _files(Path(folder))}
        # It names one of these, which is not to be taken for the default one.
        env = {name: text for name, text in env.items() if name != "K8SJOB_LEDGER"}
    if not found or settings.names_a_server(env):
        found = {settings.DEFAULT: partial(settings.find, env), **found}
    return found


def _files(folder: Path) -> list[str]:
    try:
        # Kubernetes mounts a Secret with folders and links that begin with two dots.
        return sorted(f.name for f in folder.iterdir() if f.is_file() and f.name[:1] != ".")
    except OSError as error:
        raise ConfigError(
            f"K8SJOB_LEDGERS_DIR={folder} is no folder that this user may list "
            f"({error.strerror}). Nothing was done.\n"
            "  Mount the ledgers' Secrets there, or take the variable away."
        ) from None


def refuse_twins(finds: Finds) -> None:
    """Raise ConfigError where two names lead to one ledger: its jobs would be looked after twice.

    An address that cannot be read is passed over: whoever connects tells it.
    """
    seen: dict[str, str] = {}
    for name, find in finds.items():
        try:
            dsn = find().dsn
        except K8sjobError:
            continue
        if dsn and (other := seen.setdefault(dsn, name)) != name:
            raise ConfigError(
                f"the ledgers {other} and {name} have one and the same address. Nothing was "
                "done.\n  Leave one of them out: a ledger has one name."
            )


def redactor_of(finds: Finds) -> Redactor:
    """Return what keeps the secrets of these ledgers out of a log."""
    dsns = []
    for find in finds.values():
        try:
            dsns.append(find().dsn)
        except Exception:  # noqa: BLE001, S112  # whoever connects tells it
            continue
    return Redactor(*dsns, passwords=[os.environ.get("PGPASSWORD", "")])
