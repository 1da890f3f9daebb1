from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any

from tests.run.commandline import CREDIT, CommandLine

if TYPE_CHECKING:
    import pytest


def payload_digest(cli: CommandLine) -> bytes | None:
    ((digest,),) = cli.query(f"SELECT payload_sha256 FROM {cli.store.table('periods')}")
    assert digest is None or isinstance(digest, bytes)
    return digest


def run_and_see(cli: CommandLine, *flags: str) -> bytes | None:
    """Return the payload that the target sees."""
    seen: list[bytes | None] = []

    def work(run: Any) -> None:
        seen.append(run.payload)
        run.conn.execute(CREDIT)

    told = cli.run(work, *flags)
    assert told.code == 0, told.text
    (payload,) = seen
    return payload


def test_a_payload_is_text_as_it_is(cli: CommandLine) -> None:
    assert run_and_see(cli, "--payload", "€ 10\n") == "€ 10\n".encode()
    assert payload_digest(cli) == sha256("€ 10\n".encode()).digest()


def test_a_payload_may_come_out_of_a_file(cli: CommandLine) -> None:
    file = cli.folder / "payload"
    file.write_bytes(b"\x00\xff bytes\r\n")
    assert run_and_see(cli, "--payload", f"@{file}") == b"\x00\xff bytes\r\n"
    assert payload_digest(cli) == sha256(b"\x00\xff bytes\r\n").digest()


def test_a_payload_may_come_from_the_environment(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("K8SJOB_PAYLOAD", "10")
    assert run_and_see(cli) == b"10"
    assert cli.run(cli.file(CREDIT), "--payload", "10").out.partition(" ")[2][:9] == "duplicate"
    assert cli.run(cli.file(CREDIT), "--payload", "20").code == 65  # the flag wins


def test_an_empty_payload_is_a_payload(cli: CommandLine) -> None:
    assert run_and_see(cli, "--payload", "") == b""
    assert payload_digest(cli) == sha256(b"").digest()
    assert cli.run(cli.file(CREDIT)).code == 65


def test_no_payload_is_none(cli: CommandLine) -> None:
    assert run_and_see(cli) is None
    assert payload_digest(cli) is None
    assert cli.run(cli.file(CREDIT), "--payload", "").code == 65
