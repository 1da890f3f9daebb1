"""What can be seen of a SQLite ledger. See :mod:`k8sjob.ledger.survey`."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from k8sjob.errors import Unavailable
from k8sjob.ledger.sqlite.claim import is_busy

if TYPE_CHECKING:
    from k8sjob.ledger.survey import FileSurvey

#: Long enough for a commit that is being written.
_WAIT_S = 2.0


def look_at_file(found: FileSurvey) -> None:
    """Fill ``found``; no file is made. Raises Unavailable where the file cannot be read."""
    found.library = sqlite3.sqlite_version
    path = Path(found.file)
    found.folder_writable = os.access(path.parent, os.W_OK | os.X_OK)
    try:
        found.size = path.stat().st_size
    except FileNotFoundError:
        return
    except OSError as error:
        raise _unreadable(found.file, error.strerror or str(error)) from None
    try:
        with closing(_open(path)) as conn:
            _read(conn, found)
            found.step = "writing"
            _try_to_write(conn, found)
    except sqlite3.Error as error:
        raise _unreadable(found.file, str(error)) from None


def _open(path: Path) -> sqlite3.Connection:
    # mode=rw makes no file (SQLite documentation, "URI Filenames").
    uri = f"{path.absolute().as_uri()}?mode=rw"
    return sqlite3.connect(uri, uri=True, timeout=_WAIT_S, isolation_level=None)


def _read(conn: sqlite3.Connection, found: FileSurvey) -> None:
    exists = "SELECT 1 FROM sqlite_schema WHERE name = 'k8sjob_migrations'"
    if conn.execute(exists).fetchone():
        newest = "SELECT version, oldest_client FROM k8sjob_migrations ORDER BY version DESC"
        found.version, found.oldest_client = conn.execute(newest).fetchone() or (None, None)
    found.step = "damage"
    (said,) = conn.execute("PRAGMA quick_check(1)").fetchone()
    found.damage = None if said == "ok" else " ".join(str(said).split())


def _try_to_write(conn: sqlite3.Connection, found: FileSurvey) -> None:
    """Take the lock that a writer takes, and write nothing."""
    try:
        conn.execute("BEGIN IMMEDIATE")
        conn.execute("ROLLBACK")
    except sqlite3.OperationalError as error:
        found.busy = is_busy(error)
        found.writable = found.busy
    else:
        found.writable = True


def _unreadable(file: str, reason: str) -> Unavailable:
    return Unavailable(f"the ledger's file {file} cannot be read: {reason}")
