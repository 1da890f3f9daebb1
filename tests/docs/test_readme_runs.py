"""The README's own commands, typed in an empty folder by somebody who has read nothing else."""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING

from tests.docs.test_reference import README, ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fix_stores import Store


def k8sjob(folder: Path, dsn: str, words: list[str]) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return subprocess.run(
        [sys.executable, "-m", "k8sjob", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path, "K8SJOB_DSN": dsn},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_function_of_the_readme_credits_once(store: Store, tmp_path: Path) -> None:
    function = re.findall(r"```python\n(.*?)```", README, re.DOTALL)[1]
    (tmp_path / "credit.py").write_text(function, "utf-8")
    typed = re.findall(r"^\$ k8sjob (run credit:credit .*)$", README, re.MULTILINE)[0].split()

    first, second = (k8sjob(tmp_path, store.dsn, typed) for _ in range(2))

    shape = (
        r"billing/daily-credit:2026-09-13T00:00:00Z applied in [\d,]+ ms "
        r"\(attempt [0-9a-f-]{13}, source --period\)\n"
    )
    assert re.fullmatch(shape, first.stdout), first
    assert "duplicate: done 20" in second.stdout
    assert (first.returncode, second.returncode) == (0, 0)
    assert store.query("SELECT balance FROM accounts") == [(10,)]


def test_the_quickstart_on_sqlite_works_in_an_empty_folder(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "shop.db")) as conn, conn:
        conn.execute("CREATE TABLE accounts (balance INTEGER)")
        conn.execute("INSERT INTO accounts VALUES (0)")
    (tmp_path / "credit.sql").write_text("UPDATE accounts SET balance = balance + 10;\n", "utf-8")
    dsn = re.search(r"export K8SJOB_DSN=(sqlite:\S+)", README)
    typed = re.search(r"^\$ k8sjob (run credit\.sql .*)$", README, re.MULTILINE)
    assert dsn
    assert typed

    done = k8sjob(tmp_path, dsn[1], typed[1].split())

    assert done.returncode == 0, done
    assert "billing/daily-credit:2026-09-13 applied in" in done.stdout
