"""What a part is not given, and what is kept then: the parts before it, each done once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from k8sjob.errors import ExitCode, ProtocolError
from k8sjob.states import NotApplied
from tests.acceptance.child import NAMES, ten_parts
from tests.acceptance.parts import add, done, effects, once
from tests.run.commandline import JOB, PERIOD

if TYPE_CHECKING:
    from tests.fix_stores import Store
    from tests.run.commandline import CommandLine


def test_a_name_that_cannot_stand_in_a_key_is_refused(cli: CommandLine) -> None:
    wrong = ["", "a/b", "-a", "a b", "a:b", "a..b", "ä", "x" * 201]
    left = list(wrong)

    def work(run: Any) -> None:
        with run.part("fine") as part:
            if part:
                add(part.conn, "fine")
        with run.part(left.pop()) as part:
            add(part.conn, "never")

    for _ in wrong:
        told = cli.run(work)
        assert told.code == ExitCode.USAGE
        assert "breaks the rules of a part" in told.err
        assert (effects(cli), cli.states()) == (once(["fine"]), done(["fine"]))


def test_a_name_of_the_allowed_letters_is_taken(cli: CommandLine) -> None:
    names = ["A", "2026-09-13", "eu-west.1_a@b=c+d~e", "x" * 200]

    def work(run: Any) -> None:
        for name in names:
            with run.part(name) as part:
                add(part.conn, name)

    assert cli.run(work).code == 0
    assert cli.states() == done(names) | {f"{JOB}:{PERIOD}": "done"}


# ------------------------------------------------------------------------------ the connection


def test_the_runs_connection_before_a_part_is_refused(cli: CommandLine) -> None:
    def work(run: Any) -> None:
        add(run.conn, "first")
        with run.part("a") as part:
            add(part.conn, "a")

    told = cli.run(work)
    assert told.code == ExitCode.PROTOCOL
    assert (effects(cli), cli.states()) == ({}, {})


def test_the_runs_connection_after_a_part_is_refused(cli: CommandLine) -> None:
    def work(run: Any) -> None:
        with run.part("a") as part:
            add(part.conn, "a")
        add(run.conn, "last")

    told = cli.run(work)
    assert told.code == ExitCode.PROTOCOL
    assert (effects(cli), cli.states()) == (once(["a"]), done(["a"]))


@pytest.mark.parametrize("swallow", [False, True])
def test_a_parts_connection_that_was_kept_is_of_no_use_between_parts(
    cli: CommandLine, *, swallow: bool
) -> None:
    def work(run: Any) -> None:
        with run.part("a") as part:
            conn = part.conn
            add(conn, "a")
        try:
            add(conn, "between")
        except Exception:
            if not swallow:
                raise

    told = cli.run(work)
    assert told.code == ExitCode.PROTOCOL
    assert (effects(cli), cli.states()) == (once(["a"]), done(["a"]))


def test_a_part_inside_of_a_part_is_refused(cli: CommandLine) -> None:
    def work(run: Any) -> None:
        with run.part("outer") as outer:
            add(outer.conn, "outer")
            with run.part("inner") as inner:
                add(inner.conn, "inner")
            add(outer.conn, "outer")

    told = cli.run(work)
    assert told.code == ExitCode.PROTOCOL
    assert (effects(cli), cli.states()) == ({}, {})


def test_a_part_outside_of_its_block_has_no_connection(cli: CommandLine) -> None:
    def before(run: Any) -> None:
        part = run.part("a")
        with pytest.raises(ProtocolError, match="outside of its block"):
            add(part.conn, "a")
        with part:
            add(part.conn, "a")
        assert not part
        with pytest.raises(ProtocolError, match="outside of its block"):
            add(part.conn, "a")

    assert cli.run(before).code == 0
    assert effects(cli) == once(["a"])


def test_a_part_that_ends_its_transaction_is_undone(cli: CommandLine) -> None:
    def work(run: Any) -> None:
        with run.part("a") as part:
            add(part.conn, "a")
        with run.part("b") as part:
            add(part.conn, "b")
            part.conn.commit()

    told = cli.run(work)
    assert told.code == ExitCode.PROTOCOL
    assert (effects(cli), cli.states()) == (once(["a"]), done(["a"]))


# -------------------------------------------------------------------------- holds and payloads


def hold(store: Store) -> None:
    store.query(
        "INSERT INTO k8sjob_holds (namespace, job, from_at, reason, set_by, set_at) VALUES "
        f"('billing', '{JOB}', '2020-01-01', 'the bank moves', 'me', '2020-01-01')"
        if store.kind == "sqlite"
        else f"SELECT k8sjob.set_hold('billing', '{JOB}', 'the bank moves', 'me')"
    )


@pytest.mark.parametrize("swallow", [False, True])
def test_a_hold_set_between_two_parts_stops_the_job_there(
    cli: CommandLine, *, swallow: bool
) -> None:
    def held_after_the_second(run: Any) -> None:
        for number, name in enumerate(NAMES):
            if number == 2:
                hold(cli.store)
            try:
                with run.part(name) as part:
                    add(part.conn, name)
            except NotApplied:
                if not swallow:
                    raise

    told = cli.run(held_after_the_second)
    assert told.code == 0
    assert "blocked: the bank moves" in told.out
    assert cli.last().outcome == "blocked"
    assert (effects(cli), cli.states()) == (once(NAMES[:2]), done(NAMES[:2]))

    cli.store.query(f"UPDATE {cli.store.table('holds')} SET lifted_at = set_at, lift_reason = 'x'")
    assert cli.run(ten_parts).code == 0
    assert effects(cli) == once(NAMES)


def test_a_payload_that_differs_in_a_part_is_a_conflict(cli: CommandLine) -> None:
    def first_only(run: Any) -> None:
        with run.part("a") as part:
            add(part.conn, "a")
        raise RuntimeError("later on")

    def both(run: Any) -> None:
        for name in ("a", "b"):
            with run.part(name) as part:
                if part:
                    add(part.conn, name)

    assert cli.run(first_only, "--payload", "rate=1.0").code == 1
    told = cli.run(both, "--payload", "rate=1.1")
    assert told.code == ExitCode.CONFLICT
    assert f"{JOB}/a:{PERIOD} conflict" in told.err
    assert (effects(cli), cli.states()) == (once(["a"]), done(["a"]))

    assert cli.run(both, "--payload", "rate=1.0").code == 0
    assert effects(cli) == once(["a", "b"])
