"""What k8sjob adds to a process that starts every minute.

Measured in an environment as an image has it: the built package, compiled, and what it needs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import tempfile
import venv
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from benchmarks.pairs import take_turns, timed
from benchmarks.report import Line, at_most
from benchmarks.work import CREDIT, periods

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from benchmarks.scale import Scale
    from benchmarks.server import Database, Server

RUN_LIMIT, MEMORY_LIMIT_MB, VERSION_LIMIT_MS = 1.6, 45, 60
_ROOT = Path(__file__).parents[1]
_RIVAL = f"""
import os, psycopg
with psycopg.connect(os.environ["K8SJOB_DSN"]) as conn:
    conn.execute("{CREDIT}")
    conn.commit()
"""
# A process's peak starts with that of the one that started it, so a small one starts it here.
_WEIGH = """
import os, sys
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(pid, 0)
print(usage.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
"""
_MEMORY_RUNS = 5


def measure(server: Server, scale: Scale) -> Iterator[Line]:
    """Compare whole processes, from their start to their end."""
    database = server.database("cold_start")
    server.settle()
    with tempfile.TemporaryDirectory(prefix="k8sjob-bench-") as folder:
        image = _Image.build(Path(folder), database)
        commands = {
            "run": image.run,
            "psycopg": lambda: image.call(image.python, "-c", _RIVAL),
            "version": lambda: image.call(image.k8sjob, "version"),
            "python": lambda: image.call(image.python, "-c", "pass"),
        }
        rivals = {name: timed(command) for name, command in commands.items()}
        rounds = take_turns(rivals, scale.starts)
        weights = [image.weight_of_a_run() for _ in range(_MEMORY_RUNS)]
    ratio = rounds.ratio("run", "psycopg")
    times = " / ".join(f"{rounds.of(name).median * 1e3:.0f}" for name in ("run", "psycopg"))
    question = "cold k8sjob run file.sql / python -c with psycopg"
    yield at_most(question, ratio.median, RUN_LIMIT, f"{ratio.text()}: {times} ms")
    weight = median(weights)
    text = f"{weight:.1f} MB ({min(weights):.1f} to {max(weights):.1f})"
    yield at_most("k8sjob run file.sql, peak resident", weight, MEMORY_LIMIT_MB, text, " MB")
    more = rounds.difference("version", "python")
    text = more.text(".0f", " ms", 1e3)
    question = "k8sjob version - python -c pass"
    yield at_most(question, more.median * 1e3, VERSION_LIMIT_MS, text, " ms")
    bare = rounds.of("python").text(".0f", " ms", 1e3)
    yield Line("python -c pass", bare)


@dataclass(frozen=True)
class _Image:
    """An environment that holds k8sjob, and what to call in it."""

    folder: Path
    env: Mapping[str, str]
    texts: Iterator[str]

    @classmethod
    def build(cls, folder: Path, database: Database) -> _Image:
        venv.create(folder / "venv", with_pip=False)
        (folder / "credit.sql").write_text(f"{CREDIT};\n")
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("K8SJOB_", "PYTHON"))}
        image = cls(folder, kept | {"K8SJOB_DSN": database.dsn()}, periods())
        image.install()
        return image

    @property
    def python(self) -> str:
        return str(self.folder / "venv" / "bin" / "python")

    @property
    def k8sjob(self) -> str:
        return str(self.folder / "venv" / "bin" / "k8sjob")

    def install(self) -> None:
        """Build the package and install it; psycopg and click come from where we have them."""
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
        build = ["wheel", "--no-deps", "--no-build-isolation", "--no-index", "-w", str(self.folder)]
        subprocess.run([*pip, *build, str(_ROOT)], check=True)
        (wheel,) = self.folder.glob("*.whl")
        install = ["install", "--no-deps", "--no-index", "--compile", str(wheel)]
        subprocess.run([*pip, "--python", self.python, *install], check=True)
        paths = json.loads(
            self.output("-c", "import json, sysconfig; print(json.dumps(sysconfig.get_paths()))")
        )
        # The path alone: what such files in that folder would add is left out.
        here = sysconfig.get_paths()["purelib"]
        (Path(paths["purelib"]) / "dependencies.pth").write_text(here + "\n")
        found = self.output("-c", "import k8sjob; print(k8sjob.__file__)")
        if not Path(found).is_relative_to(self.folder):
            raise RuntimeError(f"{found} would be measured, and not what was installed")

    def output(self, *words: str) -> str:
        done = subprocess.run(
            [self.python, *words], cwd=self.folder, env=dict(self.env), check=True, text=True,
            stdout=subprocess.PIPE,
        )  # fmt: skip
        return done.stdout.strip()

    def call(self, *words: str) -> None:
        """Run a program to its end; CalledProcessError where it fails."""
        subprocess.run(
            words, cwd=self.folder, env=dict(self.env), check=True, stdout=subprocess.DEVNULL
        )

    def run(self) -> None:
        """Credit the next period."""
        self.call(*self._run_words())

    def weight_of_a_run(self) -> float:
        """Credit the next period; return the peak of its resident memory, in MB."""
        *_, peak = self.output("-S", "-c", _WEIGH, *self._run_words()).split()
        return int(peak) * (1 if sys.platform == "darwin" else 1024) / 1e6

    def _run_words(self) -> list[str]:
        key = ["--job", "bench/cold-start", "--period", next(self.texts)]
        return [self.k8sjob, "run", "credit.sql", *key]
