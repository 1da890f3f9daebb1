"""Where the ledger is: read from the environment, never from a command line."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from k8sjob.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

#: What the ledger is called that has no name.
DEFAULT = "default"
#: A name of a ledger is the name of a file in K8SJOB_LEDGERS_DIR: no way out of that folder.
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")
#: How a DSN of Postgres begins: a URL, or a keyword and its value.
_FORM = re.compile(r"postgres(?:ql)?://|\s*\w+\s*=")
_LIBPQ = ("PGHOST", "PGHOSTADDR", "PGDATABASE", "PGSERVICE")
_WHAT_TO_DO = (
    "Set K8SJOB_DSN to postgresql://user@host/database or sqlite:///file, K8SJOB_DSN_FILE to a "
    "file that holds it, or libpq's PGHOST, PGDATABASE and PGUSER."
)


class Kind(StrEnum):
    """What keeps the ledger."""

    POSTGRES = "postgres"
    SQLITE = "sqlite"


@dataclass(frozen=True, slots=True)
class Address:
    """How to reach a ledger. ``dsn`` may hold a password: never print it."""

    kind: Kind
    dsn: str
    origin: str

    def __repr__(self) -> str:
        return f"Address({self.kind}, from {self.origin})"

    @property
    def sqlite_file(self) -> str:
        """The file of ``sqlite:///file`` (relative) or ``sqlite:////file`` (absolute)."""
        return self.dsn.removeprefix("sqlite:///")


def find(env: Mapping[str, str] | None = None, *, ledger: str | None = None) -> Address:
    """Return the address of the ledger called ``ledger``, or of the default one.

    A name is looked up in K8SJOB_LEDGERS_DIR; without one, and for ``default`` where no file has
    that name, K8SJOB_DSN, K8SJOB_DSN_FILE and libpq's own variables answer in this order. Files are
    read at each call, so a changed password is taken at the next connect. Raises ConfigError.
    """
    env = os.environ if env is None else env
    name = ledger or env.get("K8SJOB_LEDGER")
    if name and not (name == DEFAULT and _is_no_file(env)):
        return _named(name, env)
    if dsn := env.get("K8SJOB_DSN", "").strip():
        return parse(dsn, "K8SJOB_DSN")
    if file := env.get("K8SJOB_DSN_FILE"):
        if _FORM.match(file):
            raise ConfigError(
                "K8SJOB_DSN_FILE holds an address instead of a file's name. Nothing was done.\n"
                "  Put the address into K8SJOB_DSN, or into a file whose name you give here."
            )
        return parse(_read(Path(file), "K8SJOB_DSN_FILE"), "K8SJOB_DSN_FILE")
    if any(env.get(name) for name in _LIBPQ):
        return Address(Kind.POSTGRES, "", "libpq's environment")
    raise ConfigError(f"no ledger is set. Nothing was done.\n  {_WHAT_TO_DO}")


def is_set(env: Mapping[str, str] | None = None, *, ledger: str | None = None) -> bool:
    """Whether a ledger is set at all, rightly or wrongly; `find` tells which."""
    env = os.environ if env is None else env
    names = ("K8SJOB_LEDGER", "K8SJOB_DSN", "K8SJOB_DSN_FILE", *_LIBPQ)
    return bool(ledger or any(env.get(name) for name in names))


def names_a_server(env: Mapping[str, str]) -> bool:
    """Whether the default ledger is meant beside others; PGDATABASE alone may be for all."""
    names = ("K8SJOB_DSN", "K8SJOB_DSN_FILE", "PGHOST", "PGHOSTADDR", "PGSERVICE")
    return any(env.get(name) for name in names)


def parse(dsn: str, origin: str) -> Address:
    """Tell Postgres from SQLite. Raises ConfigError, without a word of the text: it is secret."""
    if dsn.startswith("sqlite:"):
        # What is in memory is forgotten, and a period would be done again.
        if not dsn.startswith("sqlite:///") or dsn in {"sqlite:///", "sqlite:///:memory:"}:
            raise ConfigError(
                f"{origin} is not an address of a SQLite file. Nothing was done.\n"
                "  Write sqlite:///file (relative) or sqlite:////folder/file (absolute)."
            )
        return Address(Kind.SQLITE, dsn, origin)
    if _FORM.match(dsn):
        return Address(Kind.POSTGRES, dsn, origin)
    raise ConfigError(f"{origin} is not an address of a ledger. Nothing was done.\n  {_WHAT_TO_DO}")


def _is_no_file(env: Mapping[str, str]) -> bool:
    folder = env.get("K8SJOB_LEDGERS_DIR")
    try:
        return not folder or not (Path(folder) / DEFAULT).exists()
    except PermissionError:  # whoever reads it says so
        return False


def _named(name: str, env: Mapping[str, str]) -> Address:
    if not _NAME.fullmatch(name):
        # Not a word of the name: it may be a DSN that was put into the wrong variable.
        raise ConfigError(
            "the ledger asked for has no name that a file could have. Nothing was done.\n"
            "  Set K8SJOB_LEDGER, or --ledger, to letters, digits, '.', '_' and '-'."
        )
    folder = env.get("K8SJOB_LEDGERS_DIR")
    if not folder:
        raise ConfigError(
            f"the ledger {name} is asked for, but K8SJOB_LEDGERS_DIR is not set. Nothing was "
            "done.\n"
            "  Set it to a folder that holds a file of that name with the ledger's DSN."
        )
    return parse(_read(Path(folder) / name, f"ledger {name}"), f"ledger {name}")


def _read(path: Path, origin: str) -> str:
    try:
        text = path.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise ConfigError(
            f"{origin}: cannot read {path}: {reason}. Nothing was done.\n"
            f"  Put the DSN there, as one line that this user may read: ls -l {path}"
        ) from None
    if not text:
        raise ConfigError(f"{origin}: {path} is empty. Nothing was done.\n  {_WHAT_TO_DO}")
    return text
