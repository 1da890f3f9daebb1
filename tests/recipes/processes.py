"""The recipes that are processes of their own: psql, Node.js, Go, and programs in Python."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from psycopg.conninfo import conninfo_to_dict

from k8sjob.ledger.sqlstates import OUTCOMES
from k8sjob.states import Outcome
from tests.recipes.clients import Client, state_in

if TYPE_CHECKING:
    import k8sjob

Done = subprocess.CompletedProcess[str]
ROOT = Path(__file__).parents[2]
RECIPES = ROOT / "examples" / "recipes"


def psql(binary: str, script: str) -> Client:
    """Return psql with one of the scripts; without BEGIN and COMMIT the claim stands alone."""

    def credit(url: str, key: k8sjob.Key, amount: int) -> str:
        lines = run_psql(binary, url, key, amount, RECIPES / script).stdout.splitlines()
        return next(line for line in lines if line in list(Outcome))

    def alone(url: str, key: k8sjob.Key) -> None:
        bare = without_transaction(RECIPES / script)
        run_psql(binary, url, key, 10, Path("-"), stdin=bare)

    return Client(credit, alone)


def without_transaction(script: Path) -> str:
    """Return the text of ``script`` less its BEGIN and COMMIT."""
    text, count = re.subn(r"^(BEGIN|COMMIT);\n", "", script.read_text(), flags=re.MULTILINE)
    assert count == 2
    return text


def run_psql(  # noqa: PLR0913  # each is a word of psql's command line
    binary: str,
    url: str,
    key: k8sjob.Key,
    amount: int,
    script: Path,
    *options: str,
    stdin: str = "",
) -> Done:
    """Run ``script`` as the page says, with SQLSTATEs in its talk."""
    given = {"job": key.job, "period": key.period, "amount": amount, "VERBOSITY": "verbose"}
    words = [word for name, value in given.items() for word in ("-v", f"{name}={value}")]
    command = [binary, "-X", "-A", "-t", *words, "-f", str(script), *options]
    return run(command, env=libpq_env(url), stdin=stdin)


def libpq_env(url: str) -> dict[str, str]:
    """Return ``url`` as libpq's variables, since a command line is no place for a password."""
    names = {"host": "HOST", "port": "PORT", "user": "USER", "password": "PASSWORD"}
    names["dbname"] = "DATABASE"
    parts = conninfo_to_dict(url)
    return {f"PG{env}": str(parts[name]) for name, env in names.items() if name in parts}


#: What pools tempt to: each query may go over another connection, and commits at once.
NODE_ALONE = """\
import pg from "pg";
const { DATABASE_URL, K8SJOB_JOB, K8SJOB_PERIOD } = process.env;
const pool = new pg.Pool({ connectionString: DATABASE_URL });
try {
  await pool.query("SELECT k8sjob.claim($1, $2)", [K8SJOB_JOB, K8SJOB_PERIOD]);
} finally {
  await pool.end();
}
"""


def node(folder: Path) -> Client:
    """Return Node.js, from the copy of its recipe that has its packages."""

    def credit(url: str, key: k8sjob.Key, amount: int) -> str:
        done = run_node(folder, url, key, "credit.mjs", str(amount))
        return done.stdout.strip() or OUTCOMES[state_in(done.stderr)]

    def alone(url: str, key: k8sjob.Key) -> None:
        run_node(folder, url, key, "--input-type=module", "--eval", NODE_ALONE)

    return Client(credit, alone)


def run_node(folder: Path, url: str, key: k8sjob.Key, *words: str) -> Done:
    """Run node in ``folder`` as a child that knows its period."""
    env = {"DATABASE_URL": url, "K8SJOB_JOB": str(key.job), "K8SJOB_PERIOD": str(key.period)}
    return run(["node", *words], env=env, cwd=folder)


#: A claim that no transaction of the program's own surrounds.
GO_ALONE = """\
package main

import (
	"context"
	"os"

	"github.com/jackc/pgx/v5"
)

func main() {
	conn, err := pgx.Connect(context.Background(), os.Getenv("DATABASE_URL"))
	if err != nil {
		panic(err)
	}
	job, period := os.Getenv("K8SJOB_JOB"), os.Getenv("K8SJOB_PERIOD")
	claim := "SELECT k8sjob.claim($1, $2)"
	if _, err := conn.Exec(context.Background(), claim, job, period); err != nil {
		panic(err)
	}
}
"""


def go(folder: Path) -> Client:
    """Return Go, from the folder that has its programs ``credit`` and ``alone``."""

    def credit(url: str, key: k8sjob.Key, amount: int) -> str:
        done = run_go(folder, url, key, "credit", str(amount))
        return done.stdout.strip() or OUTCOMES[state_in(done.stderr)]

    def alone(url: str, key: k8sjob.Key) -> None:
        run_go(folder, url, key, "alone")

    return Client(credit, alone)


def run_go(folder: Path, url: str, key: k8sjob.Key, program: str, *words: str) -> Done:
    """Run a program of ``folder`` as a child that knows its period."""
    env = {"DATABASE_URL": url, "K8SJOB_JOB": str(key.job), "K8SJOB_PERIOD": str(key.period)}
    return run([str(folder / program), *words], env=env)


def run_program(module: str, url: str, key: k8sjob.Key | str, amount: int) -> Done:
    """Run a recipe in Python as a program."""
    env = {"DATABASE_URL": url, "K8SJOB_KEY": str(key)}
    return run([sys.executable, "-m", f"examples.recipes.{module}", str(amount)], env=env, cwd=ROOT)


def run(command: list[str], *, env: dict[str, str], stdin: str = "", cwd: Path = ROOT) -> Done:
    """Run ``command``; raise ``CalledProcessError`` with what it said unless it exits with 0."""
    return subprocess.run(
        command,
        env=os.environ | env,
        cwd=cwd,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
