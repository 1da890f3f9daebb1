"""The plugin under each shell, with a ``kubectl`` on PATH that plays a cluster."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "plugin" / "kubectl-k8sjob"
SHELLS = {"sh": ["dash" if shutil.which("dash") else "sh"], "bash": ["bash", "--posix"]}


class Told(NamedTuple):
    """How a command ended and what it said."""

    code: int
    out: str
    err: str


@dataclass
class Answers:
    """What the cluster says; ``runs`` runs k8sjob itself, with ``env``.

    ``after`` is what kubectl says once the command has ended well; ``ends`` is what kubectl ends
    with whatever the command did, and ``lost`` that it does not know.
    """

    deployments: list[tuple[str, str, str]] = field(
        default_factory=lambda: [("k8sjob", "k8sjob-control", "1")]
    )
    forbidden: list[str] = field(default_factory=list)
    away: bool = False
    whoami: str | None = "alice@example.com"
    namespace: str = "billing"
    login: bool = False
    runs: bool = False
    env: dict[str, str] = field(default_factory=dict)
    out: str = ""
    err: str = ""
    code: int = 0
    lost: bool = False
    after: str = ""
    ends: int | None = None


@dataclass
class Laptop:
    """A machine with the plugin and kubectl."""

    shell: Sequence[str]
    folder: Path
    cluster: Answers = field(default_factory=Answers)
    env: dict[str, str] = field(default_factory=dict)

    @property
    def command(self) -> list[str]:
        """The plugin, as its first words."""
        return [*self.shell, str(PLUGIN)]

    def environment(self) -> dict[str, str]:
        """Write down what the cluster says, and return what the plugin sees."""
        answers = json.dumps(asdict(self.cluster))
        (self.folder / "answers.json").write_text(answers, "utf-8")
        here = {
            "TERM": "xterm",
            "PATH": f"{self.folder / 'bin'}:/usr/bin:/bin",
            "TMPDIR": str(self.folder / "tmp"),
        }
        return here | {"STANDIN": str(self.folder), "HOME": str(self.folder)} | self.env

    def call(self, *args: str, stdin: bytes = b"") -> Told:
        """Run the plugin to its end, its three streams being pipes."""
        done = subprocess.run(
            [*self.command, *args],
            env=self.environment(),
            cwd=self.folder,
            input=stdin,
            capture_output=True,
            timeout=60,
            check=False,
        )
        assert not list((self.folder / "tmp").iterdir()), "something is left behind"
        return Told(done.returncode, done.stdout.decode(), done.stderr.decode())

    @property
    def calls(self) -> list[dict[str, Any]]:
        """All calls of kubectl, oldest first."""
        path = self.folder / "calls.jsonl"
        lines = path.read_text("utf-8").splitlines() if path.exists() else []
        return [json.loads(line) for line in lines]

    def called(self, verb: str) -> list[str]:
        """Return the arguments of the one call with this verb."""
        (found,) = [call["args"] for call in self.calls if call["verb"] == verb]
        args: list[str] = found
        return args

    @property
    def remote(self) -> list[str]:
        """The words that ran in the control Pod."""
        args = self.called("exec")
        found = args[args.index("k8sjob") :]
        return [word for word in found if not word.startswith("--tell-end=")]

    def install(self, name: str, text: str) -> None:
        """Put a program on PATH."""
        path = self.folder / "bin" / name
        path.write_text(text, "utf-8")
        path.chmod(0o755)


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest) -> list[str]:
    """Return the words that start a shell, or skip the test where it is not installed."""
    words = SHELLS[request.param]
    if not shutil.which(words[0]):
        pytest.skip(f"no {words[0]} on this machine")
    return words


@pytest.fixture
def laptop(shell: list[str], tmp_path: Path) -> Laptop:
    """Return a machine without k8sjob of its own, in a cluster that has one control Pod."""
    for name in ("bin", "tmp"):
        (tmp_path / name).mkdir()
    made = Laptop(shell, tmp_path)
    text = (Path(__file__).parent / "standin.py").read_text("utf-8")
    made.install("kubectl", f"#!{sys.executable}\n{text}")
    made.cluster.env["PYTHONPATH"] = str(ROOT)
    return made
