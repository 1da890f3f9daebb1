from __future__ import annotations

import pytest

from tests.run.commandline import CREDIT, CommandLine, assert_applied, params

FILES = {
    "savepoints": f"""
        SAVEPOINT a; {CREDIT}; ROLLBACK TO a; ROLLBACK TRANSACTION TO SAVEPOINT a; RELEASE a;
        {CREDIT};
    """,
    "case": "UPDATE accounts SET balance = CASE WHEN balance = 0 THEN 10 ELSE -1 END",
    "quotes": f"""
        -- COMMIT; in a comment, and a ' that opens nothing
        /* ROLLBACK; */ SELECT 'COMMIT; it''s', ';' AS "END;"; {CREDIT}
    """,
    "temporary table": """
        CREATE TEMP TABLE credits (amount integer);
        INSERT INTO credits VALUES (4), (6);
        UPDATE accounts SET balance = (SELECT sum(amount) FROM credits) WHERE name = 'alice';
    """,
}

POSTGRES_FILES = {
    "function with an atomic body": f"""
        CREATE FUNCTION pg_temp.credit() RETURNS void LANGUAGE sql
          BEGIN ATOMIC {CREDIT}; SELECT CASE WHEN true THEN 1 END; END;
        SELECT pg_temp.credit();
    """,
    "DO block": f"DO $$ BEGIN {CREDIT}; IF true THEN NULL; END IF; END $$",
    "a COMMIT that SQL has handled": f"""
        DO $$ BEGIN COMMIT; EXCEPTION WHEN OTHERS THEN NULL; END $$; {CREDIT}
    """,
    "dollar quotes": f"SELECT $a$ COMMIT; $b$ ; $a$; {CREDIT}",
    "notifications": f"LISTEN credits; NOTIFY credits, 'alice'; {CREDIT}; UNLISTEN *",
    "cursor": f"DECLARE c CURSOR FOR SELECT 1; FETCH c; CLOSE c; {CREDIT}",
    "prepared statement": f"PREPARE transaction AS {CREDIT}; EXECUTE transaction; DEALLOCATE ALL",
    "settings": f"SET LOCAL work_mem = '1MB'; SET CONSTRAINTS ALL DEFERRED; {CREDIT}; DISCARD TEMP",
}


@pytest.mark.parametrize("text", **params(FILES))
def test_a_file_may_hold_what_ends_no_transaction(cli: CommandLine, text: str) -> None:
    assert_applied(cli, cli.file(text))


@pytest.mark.parametrize("text", **params(POSTGRES_FILES))
def test_a_file_for_postgres_may_hold_what_ends_no_transaction(pg: CommandLine, text: str) -> None:
    assert_applied(pg, pg.file(text))


def test_a_file_for_sqlite_may_make_a_trigger(lite: CommandLine) -> None:
    text = f"""
        CREATE TABLE log (balance INTEGER);
        CREATE TRIGGER noted AFTER UPDATE ON accounts
        BEGIN INSERT INTO log VALUES (CASE WHEN 1 THEN NEW.balance END); END;
        {CREDIT};
    """
    assert_applied(lite, lite.file(text))
    assert lite.query("SELECT balance FROM log") == [(10,)]
