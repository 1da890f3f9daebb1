"""``k8sjob backfill --local`` in this process, and what comes of it."""

from __future__ import annotations

import logging
import sys
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from k8sjob.cli.main import main

if TYPE_CHECKING:
    import k8sjob
    from tests.fix_stores import Store


class Told(NamedTuple):
    """How a command ended and what it said."""

    code: int
    out: str
    err: str


@dataclass
class Here:
    """Runs the command on one store, with a target that tells what it was called with."""

    store: Store
    patch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]
    ran: list[k8sjob.Run] = field(default_factory=list)
    fails: dict[str, BaseException] = field(default_factory=dict)
    job: str = "billing/credit"

    def credit(self, run: k8sjob.Run) -> None:
        """Credit 10, or fail where the test says so."""
        self.ran.append(run)
        run.conn.execute("UPDATE accounts SET balance = balance + 10 WHERE name = 'alice'")
        if error := self.fails.get(str(run.key.period)):
            raise error

    def call(self, *args: str, target: str | None = "business:credit") -> Told:
        """Call ``k8sjob backfill billing/credit`` with these arguments."""
        self.patch.setenv("K8SJOB_DSN", self.store.dsn)
        for variable in ("KUBECONFIG", "KUBERNETES_SERVICE_HOST"):
            self.patch.delenv(variable, raising=False)
        module = ModuleType("business")
        vars(module)["credit"] = self.credit
        self.patch.setitem(sys.modules, "business", module)
        self.capsys.readouterr()
        local = ["--local", target] if target else []
        with pytest.raises(SystemExit) as end:
            main(["backfill", self.job, *local, *args])
        assert isinstance(end.value.code, int)
        return Told(end.value.code, *self.capsys.readouterr())

    @property
    def periods(self) -> list[str]:
        """The periods that the target was called for."""
        return [str(run.key.period) for run in self.ran]

    @property
    def balance(self) -> int:
        """What alice has."""
        ((balance,),) = self.store.query("SELECT balance FROM accounts WHERE name = 'alice'")
        assert isinstance(balance, int)
        return balance

    def attempts(self) -> list[tuple[Any, ...]]:
        """Return period, source and outcome of each attempt."""
        table = self.store.table("attempts")
        return self.store.query(f"SELECT period, source, outcome FROM {table} ORDER BY started_at")


def leave_the_process_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what a command does to this process end with the test."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    logger = logging.getLogger("k8sjob")
    for attribute, before in (("handlers", []), ("level", logger.level), ("propagate", True)):
        monkeypatch.setattr(logger, attribute, before)
    monkeypatch.setattr(logging, "lastResort", logging.lastResort)
