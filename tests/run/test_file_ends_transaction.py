from __future__ import annotations

import pytest

from tests.run.commandline import CREDIT, CommandLine, assert_nothing_was_committed

IN_A_FILE = [
    "COMMIT", "commit", "CoMmIt WoRk", "COMMIT TRANSACTION", "COMMIT AND CHAIN",
    "COMMIT AND NO CHAIN", "END", "end work", "END TRANSACTION", "ROLLBACK", "ROLLBACK WORK",
    "Rollback And Chain", "ABORT", "ABORT TRANSACTION", "BEGIN", "BEGIN READ WRITE",
    "START TRANSACTION", "PREPARE TRANSACTION 'mine'", "COMMIT PREPARED 'mine'",
    "ROLLBACK PREPARED 'mine'", "/* done /* now */ */ COMMIT", "-- done\n\tCOMMIT", "END -- done",
]  # fmt: skip


@pytest.mark.parametrize("end", IN_A_FILE)
def test_a_file_that_ends_the_transaction_is_not_begun(pg: CommandLine, end: str) -> None:
    told = pg.run(pg.file(f"{CREDIT};\n{end};\n{CREDIT};"))
    assert "work-1.sql:2: " in told.err or "work-1.sql:3: " in told.err
    assert "Nothing was run." in told.err
    assert_nothing_was_committed(pg, told)


@pytest.mark.parametrize(
    "text",
    [
        f"COMMIT; {CREDIT}",
        f"{CREDIT}; COMMIT",
        f"{CREDIT};;; COMMIT ;;",
        f"{CREDIT};COMMIT;{CREDIT}",
        f"SELECT 'it''s; fine', E'it\\'s', $a$ ; COMMIT $a$; {CREDIT}; COMMIT",
        f"\ufeffCOMMIT; {CREDIT}",
    ],
)
def test_a_commit_is_found_wherever_it_stands(pg: CommandLine, text: str) -> None:
    assert_nothing_was_committed(pg, pg.run(pg.file(text)))


PROCEDURES = """
CREATE PROCEDURE app.commits() LANGUAGE plpgsql AS $$ BEGIN COMMIT; END $$;
CREATE PROCEDURE app.rolls_back() LANGUAGE plpgsql AS $$ BEGIN ROLLBACK; END $$;
CREATE PROCEDURE app.calls() LANGUAGE plpgsql AS $$ BEGIN CALL app.commits(); END $$;
"""

THE_SERVER_REFUSES = [
    "DO $$ BEGIN COMMIT; END $$",
    "DO $$ BEGIN ROLLBACK; END $$",
    "DO $$ BEGIN COMMIT AND CHAIN; END $$",
    "DO $$ BEGIN CALL app.commits(); END $$",
    "CALL app.commits()",
    "CALL app.rolls_back()",
    "CALL app.calls()",
    "SET CONSTRAINTS ALL IMMEDIATE",
    "SET CONSTRAINTS k8sjob.guard_commit IMMEDIATE",
    "RESET ALL",
]


@pytest.mark.parametrize("end", THE_SERVER_REFUSES)
def test_what_only_the_server_sees_does_not_end_a_file_s_transaction(
    pg: CommandLine, end: str
) -> None:
    pg.query(PROCEDURES)
    assert_nothing_was_committed(pg, pg.run(pg.file(f"{CREDIT}; {end}; {CREDIT}")))


@pytest.mark.parametrize(
    "end", ["DISCARD ALL", "DO $$ BEGIN EXECUTE 'COMMIT'; END $$", "VACUUM app.accounts"]
)
def test_what_no_transaction_allows_is_a_failure_like_any_other(pg: CommandLine, end: str) -> None:
    assert_nothing_was_committed(pg, pg.run(pg.file(f"{CREDIT}; {end}")), code=1)
