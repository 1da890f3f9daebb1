"""The doctor in this process, asked as on a command line; its answers by check."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from k8sjob.cli.main import main
from k8sjob.doctor.line import Line, Status

if TYPE_CHECKING:
    from collections.abc import Iterable


class Told(NamedTuple):
    """How the command ended and what it said."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[Line]:
        """What ``-o json`` said, as lines again."""
        return [
            Line(Status(c["status"]), c["check"], c["seen"], c["do"] or "", c["ledger"])
            for c in json.loads(self.out)["checks"]
        ]

    def of(self, check: str, ledger: str | None = None) -> list[Line]:
        """Return the lines of one check, of one ledger if it is named."""
        return [
            line for line in self.lines if line.check == check and ledger in {None, line.ledger}
        ]

    def one(self, check: str, ledger: str | None = None) -> Line:
        """Return the only line of a check."""
        (line,) = self.of(check, ledger)
        return line


@dataclass
class Doctor:
    """Asks with an environment of its own; ``env`` is added to what a test has set."""

    patch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]
    env: dict[str, str] = field(default_factory=dict)

    def call(self, *args: str, **env: str) -> Told:
        """Call ``k8sjob doctor`` without a terminal."""
        for name, value in (self.env | env).items():
            self.patch.setenv(name, value)
        self.capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main(["doctor", *args])
        code = end.value.code
        assert isinstance(code, int)
        return Told(code, *self.capsys.readouterr())

    def ask(self, *args: str, **env: str) -> Told:
        """Call it for JSON."""
        return self.call(*args, "-o", "json", **env)


@pytest.fixture
def doctor(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Doctor:
    """Be outside a cluster, with no ledger yet."""
    mine = [name for name in os.environ if name.startswith("K8SJOB_")]  # to the tests themselves
    for name in ("KUBERNETES_SERVICE_HOST", "PYTHONTZPATH", *mine):
        monkeypatch.delenv(name, raising=False)
    return Doctor(monkeypatch, capsys)


def only(lines: Iterable[Any]) -> Any:
    """Return the one thing that there is."""
    (one,) = lines
    return one
