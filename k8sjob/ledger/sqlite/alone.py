"""Who is alive on a SQLite ledger: while a claim holds the file, nothing can be written to it."""

from __future__ import annotations

import fcntl
import hashlib
from pathlib import Path


class Alone:
    """A byte of a file beside the ledger for each key. The kernel takes it back from the dead."""

    def __init__(self, file: str) -> None:
        """Open the lock file, which stays: removing it would let two be alone."""
        self._file = Path(f"{file}-k8sjob.lock").open("ab")  # noqa: SIM115  # as long as this lives

    def take(self, key: str) -> bool:
        """Lock the key's byte; False where another process has it (fcntl(2), F_SETLK)."""
        byte = int.from_bytes(hashlib.sha256(key.encode()).digest()[:4], "big")
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, byte)
        except OSError:
            return False
        return True

    def close(self) -> None:
        """Give every byte back."""
        self._file.close()
