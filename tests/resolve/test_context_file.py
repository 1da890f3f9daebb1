"""The folder in which one container leaves the period for the others."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from k8sjob.errors import ConfigError, TryAgain
from k8sjob.key import Key, KeyRange
from k8sjob.run.origin.context_file import (
    Context,
    as_dict,
    as_shell,
    parse_context,
    read_context,
    write_context,
)
from tests.resolve.world import UID

if TYPE_CHECKING:
    from pathlib import Path

WHOLE = Context(
    key=Key.parse("billing/daily-credit:2026-09-11T00:00:00Z"),
    source="backfill-annotation",
    attempt=UUID("0199a1c4-0000-7000-8000-000000000001"),
    scheduled_for=datetime(2026, 9, 11, tzinfo=UTC),
    window_end=datetime(2026, 9, 12, tzinfo=UTC),
    zone="Europe/Rome",
    job_uid=UID,
    job_name="daily-credit-bf-20260911-0-1",
    cronjob="daily-credit",
    supersedes=KeyRange.parse("billing/daily-credit:2026-09-08T00:00:00Z..2026-09-10T00:00:00Z"),
    resolved_at=datetime(2026, 9, 11, 0, 0, 5, 120_000, tzinfo=UTC),
)
BARE = Context(key=Key.parse("billing/credit:once"), source="--period", attempt=UUID(int=1))
HOSTILE = "it's; $(touch pwned) `id` \\ \" \n export K8SJOB_KEY=other # 'x'' ü"


@pytest.mark.parametrize("context", [WHOLE, BARE], ids=["whole", "bare"])
def test_what_is_written_is_read_back(context: Context, tmp_path: Path) -> None:
    write_context(str(tmp_path), context)

    assert read_context(str(tmp_path)) == context
    assert read_context(str(tmp_path / "context.json")) == context


def test_the_file_has_these_names() -> None:
    assert as_dict(WHOLE) == {
        "version": 1,
        "key": "billing/daily-credit:2026-09-11T00:00:00Z",
        "job": "billing/daily-credit",
        "period": "2026-09-11T00:00:00Z",
        "scheduled_for": "2026-09-11T00:00:00Z",
        "window_end": "2026-09-12T00:00:00Z",
        "zone": "Europe/Rome",
        "source": "backfill-annotation",
        "attempt": "0199a1c4-0000-7000-8000-000000000001",
        "job_uid": UID,
        "job_name": "daily-credit-bf-20260911-0-1",
        "cronjob": "daily-credit",
        "supersedes": "2026-09-08T00:00:00Z..2026-09-10T00:00:00Z",
        "resolved_at": "2026-09-11T00:00:05.120000+00:00",
    }
    assert {k for k, v in as_dict(BARE).items() if v is None} == {
        *("scheduled_for", "window_end", "zone"),
        *("job_uid", "job_name", "cronjob", "supersedes", "resolved_at"),
    }


def test_one_of_an_older_client_does_not_say_when_it_was_resolved() -> None:
    older = {name: told for name, told in as_dict(WHOLE).items() if name != "resolved_at"}
    assert parse_context(json.dumps(older)) == replace(WHOLE, resolved_at=None)


def test_any_user_may_read_both_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        write_context(str(tmp_path), WHOLE)
    finally:
        os.umask(before)

    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert modes == {"context.json": 0o644, "env": 0o644}


def test_it_is_written_again_over_what_is_there(tmp_path: Path) -> None:
    write_context(str(tmp_path), WHOLE)
    write_context(str(tmp_path), BARE)

    assert read_context(str(tmp_path)) == BARE
    assert sorted(path.name for path in tmp_path.iterdir()) == ["context.json", "env"]


def test_a_write_that_fails_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_context(str(tmp_path), WHOLE)
    whole = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def full(*_args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fchmod", full)
    with pytest.raises(TryAgain, match="No space left on device"):
        write_context(str(tmp_path), BARE)

    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == whole


def test_a_folder_that_is_not_there_is_a_setting(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No such file or directory") as refused:
        write_context(str(tmp_path / "nowhere"), WHOLE)

    assert "an emptyDir" in str(refused.value)


# ------------------------------------------------------------------------------------ the shell


def sourced(folder: Path) -> dict[str, str]:
    """Return what a shell knows after ``. env``, and only that."""
    told = subprocess.run(
        ["/bin/sh", "-euc", '. "$1/env"; env -0', "sh", str(folder)],
        env={"PATH": os.environ["PATH"]},
        cwd=folder,
        capture_output=True,
        check=True,
    ).stdout.decode("utf-8", "surrogateescape")
    pairs = dict(line.split("=", 1) for line in told.split("\0") if line)
    return {name: value for name, value in pairs.items() if name.startswith("K8SJOB_")}


def test_a_shell_takes_it_in(tmp_path: Path) -> None:
    write_context(str(tmp_path), WHOLE)

    assert sourced(tmp_path) == {
        "K8SJOB_KEY": "billing/daily-credit:2026-09-11T00:00:00Z",
        "K8SJOB_JOB": "billing/daily-credit",
        "K8SJOB_PERIOD": "2026-09-11T00:00:00Z",
        "K8SJOB_SCHEDULED_FOR": "2026-09-11T00:00:00Z",
        "K8SJOB_WINDOW_END": "2026-09-12T00:00:00Z",
        "K8SJOB_ATTEMPT": "0199a1c4-0000-7000-8000-000000000001",
        "K8SJOB_SOURCE": "backfill-annotation",
    }


def test_a_hostile_value_is_a_value_and_nothing_more(tmp_path: Path) -> None:
    write_context(str(tmp_path), replace(BARE, source=HOSTILE))

    told = sourced(tmp_path)

    assert told["K8SJOB_SOURCE"] == HOSTILE
    assert told["K8SJOB_KEY"] == "billing/credit:once"
    assert told["K8SJOB_WINDOW_END"] == ""
    assert not (tmp_path / "pwned").exists()


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
def test_every_line_is_one_export_whatever_stands_in_it(source: str) -> None:
    text = as_shell(replace(BARE, source=source))

    quoted = r"'[^']*'(\\''[^']*')*"
    assert re.fullmatch(rf"(export K8SJOB_[A-Z_]+={quoted}\n)+", text)


def test_bytes_that_are_no_text_come_through(tmp_path: Path) -> None:
    source = b"--period, off schedule: \xff".decode("utf-8", "surrogateescape")

    write_context(str(tmp_path), replace(BARE, source=source))

    assert sourced(tmp_path)["K8SJOB_SOURCE"] == source
    assert read_context(str(tmp_path)).source == source


# ------------------------------------------------------------------------------------- garbage


def told(**changes: Any) -> str:
    return json.dumps(as_dict(WHOLE) | changes)


#: What stands in the file, and what is said of it.
GARBAGE = {
    "empty": ("", "it is not JSON"),
    "cut": ('{"version": 1', "it is not JSON"),
    "deep": ("[" * 100_000, "it is not JSON"),
    "a list": ("[]", "it holds no object"),
    "no version": ("{}", "its version is None, and not 1"),
    "a later version": (told(version=2), "its version is 2, and not 1"),
    "a version as text": (told(version="1"), "its version is '1', and not 1"),
    "no key": (json.dumps({"version": 1}), "'key' is missing"),
    "no job": (json.dumps({"version": 1, "key": "a/b:once"}), "'job' is missing"),
    "half a key": (told(key="billing/daily-credit"), "names no period"),
    "a key that is null": (told(key=None), "is a NoneType"),
    "another period": (told(period="2026-09-12T00:00:00Z"), "is not job billing/daily-credit and"),
    "another job": (told(job="billing/other"), "is not job billing/other"),
    "half an attempt": (told(attempt="0199"), "badly formed"),
    "a number as attempt": (told(attempt=7), "is of no use"),
    "no source": (told(source=None), "source is None"),
    "a time in words": (told(window_end="tomorrow"), "Invalid isoformat"),
    "a naive time": (told(window_end="2026-09-12T00:00:00"), "without a time zone"),
    "a number as time": (told(window_end=5), "is of no use"),
    "a number as zone": (told(zone=1), "zone is 1"),
    "one end of a range": (told(supersedes="2026-09-10"), "one end only"),
    "a number as range": (told(supersedes=1), "is of no use"),
}


@pytest.mark.parametrize(("text", "why"), list(GARBAGE.values()), ids=list(GARBAGE))
def test_garbage_is_refused_with_what_to_do(text: str, why: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(why)) as refused:
        parse_context(text, "/k8sjob/context.json")

    assert "/k8sjob/context.json is of no use" in str(refused.value)
    assert "Nothing was done" in str(refused.value)
    assert "k8sjob resolve --write DIR" in str(refused.value)


def test_a_file_that_is_not_there_or_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "context.json").write_bytes(b"\xff\xfe")

    with pytest.raises(ConfigError, match="it is not UTF-8"):
        read_context(str(tmp_path))
    with pytest.raises(ConfigError, match="No such file or directory"):
        read_context(str(tmp_path / "nothing.json"))
