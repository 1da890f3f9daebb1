"""Clients and ledgers of different versions, and a ledger that is gone: docs/upgrade.md."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from k8sjob.ledger import migrate

if TYPE_CHECKING:
    from tests.fix_stores import Connection
    from tests.migration.empty import Empty
    from tests.template import Role

ROOT = Path(__file__).parents[2]
PAGES = {name: (ROOT / "docs" / f"{name}.md").read_text("utf-8") for name in ("install", "upgrade")}
STEPS = migrate.migrations()
ROLES = ("operator", "runner", "reader")
GRANTS = [f"--grant-{role}=k8sjob_{role}" for role in ROLES]
RUN = ("run", "--job", "billing/daily-credit", "--period", "2026-09-13", "--", "true")

#: What a client calls and reads: each function with its arguments and answer, each column.
_OFFERED = """
SELECT r, format('%%s(%%s) %%s', p.proname, pg_get_function_arguments(p.oid),
                 pg_get_function_result(p.oid))
  FROM pg_proc p, unnest(%(roles)s::text[]) r
 WHERE p.pronamespace = 'k8sjob'::regnamespace
   AND has_function_privilege('k8sjob_' || r, p.oid, 'EXECUTE')
UNION ALL
SELECT r, c.relname || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid, unnest(%(roles)s::text[]) r
 WHERE c.relnamespace = 'k8sjob'::regnamespace AND c.relkind = 'r' AND a.attnum > 0
   AND NOT a.attisdropped AND has_column_privilege('k8sjob_' || r, c.oid, a.attnum, 'SELECT')"""


def bring_up(empty: Empty, patch: pytest.MonkeyPatch, steps: int) -> None:
    """Bring the ledger up to a step, as a client of that time would have."""
    with patch.context() as then:
        then.setattr(migrate, "migrations", lambda: STEPS[:steps])
        assert empty.migrate(*GRANTS).code == 0


def offered(conn: Connection) -> set[tuple[str, str]]:
    """Return what is offered to which role."""
    return set(conn.execute(_OFFERED, {"roles": list(ROLES)}).fetchall())


@pytest.mark.parametrize("steps", range(1, len(STEPS)))
def test_what_an_older_client_calls_and_reads_is_still_there(
    empty: Empty, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    bring_up(empty, monkeypatch, steps)
    before = offered(empty.admin)
    assert empty.migrate().code == 0
    assert len(before) > 100
    assert before - offered(empty.admin) == set()


@pytest.mark.parametrize("steps", range(len(STEPS)))
@pytest.mark.parametrize(
    ("role", "command"),
    [("runner", RUN), ("reader", ("get", "periods", "billing/daily-credit"))],
    ids=["run", "get"],
)
def test_a_client_newer_than_the_ledger_ends_with_75_and_says_what_to_do(
    empty: Empty,
    monkeypatch: pytest.MonkeyPatch,
    steps: int,
    role: Role,
    command: tuple[str, ...],
) -> None:
    if steps:
        bring_up(empty, monkeypatch, steps)
    told = empty.terminal.call(empty.db.dsn(role), *command)
    assert told.code == 75, told
    assert "Nothing was changed. As the ledger's owner: k8sjob migrate\n" in told.err
    if steps:
        assert empty.rows("SELECT count(*) FROM k8sjob.attempts") == [(0,)]


def test_the_same_try_goes_through_after_the_migration(
    empty: Empty, monkeypatch: pytest.MonkeyPatch
) -> None:
    bring_up(empty, monkeypatch, 1)
    command = (*RUN[:5], "--record-on-success", *RUN[5:])
    assert empty.terminal.call(empty.db.dsn("runner"), *command).code == 75
    assert empty.migrate().code == 0
    assert empty.terminal.call(empty.db.dsn("runner"), *command).code == 0


def sql_of(page: str, first: str) -> list[str]:
    """Return the statements of the block of SQL that begins so."""
    blocks = re.findall(r"```sql\n(.*?)```", PAGES[page], re.DOTALL)
    (block,) = [one for one in blocks if one.startswith(first)]
    return [text.strip() for text in re.sub(r"--.*", "", block).split(";") if text.strip()]


def test_the_lines_that_install_and_remove_a_ledger_leave_nothing(empty: Empty) -> None:
    """As the pages have them, with other names for roles and database."""
    suffix = empty.make_role("")
    names = {"shop": empty.db.name} | {f"k8sjob_{r}": f"{suffix}_{r}" for r in ("owner", *ROLES)}

    def ours(text: str) -> str:
        return re.sub(r"\w+", lambda word: names.get(word[0], word[0]), text)

    made = [names[f"k8sjob_{role}"] for role in ("owner", "operator", "reader")]
    empty.made += made
    for text in sql_of("install", "CREATE ROLE"):
        empty.run(ours(text))
    owner = made[0]
    empty.run(f"GRANT {owner} TO CURRENT_USER")
    empty.admin.execute(f"SET SESSION AUTHORIZATION {owner}")
    for step in STEPS:
        empty.admin.execute(step.script)
    for role in ("operator", "reader"):
        empty.admin.execute("SELECT k8sjob.grant_access(%s, %s)", (role, names[f"k8sjob_{role}"]))

    drop, *rest = sql_of("upgrade", "DROP SCHEMA")
    empty.run(ours(drop))
    empty.admin.execute("RESET SESSION AUTHORIZATION")
    for text in rest:
        empty.run(ours(text))
    left = "SELECT rolname FROM pg_roles WHERE rolname = ANY (%s)"
    assert empty.admin.execute(left, (made,)).fetchall() == []
    empty.made = [role for role in empty.made if role not in made]


def test_a_job_that_still_claims_when_the_ledger_is_gone_does_nothing(empty: Empty) -> None:
    assert empty.migrate(*GRANTS).code == 0
    drop, *_ = sql_of("upgrade", "DROP SCHEMA")
    empty.db.connect("owner", autocommit=True).execute(drop.encode())
    told = empty.terminal.call(empty.db.dsn("runner"), *RUN)
    assert told.code == 75
    assert "the ledger has no k8sjob schema" in told.err
