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


def test_what_is_to_be_tried_by_hand_works_in_an_empty_folder(tmp_path: Path) -> None:
    part = README.partition("## Try it")[2].partition("On Postgres")[0]
    (script,) = re.findall(r"```sql\n(.*?)```", part, re.DOTALL)
    (tmp_path / "credit.sql").write_text(script, "utf-8")
    dsn = re.search(r"export K8SJOB_DSN=(sqlite:\S+)", part)
    assert dsn

    typed = re.findall(r"^\$ k8sjob (.*?)(?: +# .*)?$", part, re.MULTILINE)
    first, second, listed = (k8sjob(tmp_path, dsn[1], line.split()) for line in typed)

    assert " applied in " in first.stdout, first
    assert " duplicate: done " in second.stdout
    assert re.search(r"^2026-09-13T00:00:00Z .* done ", listed.stdout, re.MULTILINE)
    with closing(sqlite3.connect(tmp_path / "shop.db")) as conn:
        assert conn.execute("SELECT name, balance FROM accounts").fetchall() == [("alice", 10)]


def test_the_test_of_the_readme_passes_in_an_empty_folder(tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    (tmp_path / "credit.py").write_text(blocks[1], "utf-8")
    (tmp_path / "test_credit.py").write_text(blocks[-1], "utf-8")
    with closing(sqlite3.connect(tmp_path / "test.db")) as conn, conn:
        conn.execute("CREATE TABLE accounts (balance INTEGER)")
        conn.execute("INSERT INTO accounts VALUES (0)")

    path = os.pathsep.join([str(ROOT), str(tmp_path)])
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_credit.py"]
    ran = subprocess.run(
        words,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 0, ran.stdout
    with closing(sqlite3.connect(tmp_path / "test.db")) as conn:
        assert conn.execute("SELECT balance FROM accounts").fetchall() == [(10,)]
