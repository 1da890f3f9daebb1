"""A job's containers, on a ledger of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.fix_docker import LOCKED_DOWN
from tests.image.recipes import JOB, PERIOD

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fix_docker import Docker, Ended
    from tests.fix_stores import Database

NAMED = [f"--env=K8SJOB_JOB={JOB}", f"--env=K8SJOB_PERIOD={PERIOD}"]


class Job:
    """Runs containers of one job on one ledger."""

    def __init__(self, docker: Docker, db: Database, folder: Path) -> None:
        """Take the daemon, the ledger and an empty folder."""
        self.docker, self.db, self.folder = docker, db, folder
        # The server is on this machine: its address is the same in a container of its network.
        self.flags = ["--network=host", f"--env=K8SJOB_DSN={db.dsn()}", *LOCKED_DOWN]

    def run(self, image: str, *words: str) -> Ended:
        """Run a container for the period."""
        return self.docker.run(*self.flags, *NAMED, image, *words)

    def query(self, text: str) -> list[tuple[Any, ...]]:
        """Ask the ledger."""
        return self.db.connect("admin").execute(text.encode()).fetchall()

    def balance(self) -> int:
        """Return what alice has."""
        ((balance,),) = self.query("SELECT balance FROM app.accounts WHERE name = 'alice'")
        assert isinstance(balance, int)
        return balance
