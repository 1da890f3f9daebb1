"""``k8sjob inject``: what it prints where, what it writes, and how it ends."""

from __future__ import annotations

import io
import stat
import sys
from typing import TYPE_CHECKING, Any

import pytest

from k8sjob.cli.inject import _ANNOTATIONS
from k8sjob.cli.main import main
from k8sjob.errors import ExitCode, K8sjobError
from k8sjob.manifest.inject.options import NAMES
from k8sjob.manifest.inject.saving import save
from tests.inject.examples import BLOCKS, COMMENTED, FLOW, OTHERS
from tests.inject.injected import covered

if TYPE_CHECKING:
    from pathlib import Path

COVERED = covered(COMMENTED)
NOTHING = "nothing was changed\n"


@pytest.fixture
def inject(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run the command; the exit code, and what it printed to standard output and error."""

    def run(*args: str, stdin: str | bytes = b"") -> tuple[int, str, str]:
        data = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        with pytest.raises(SystemExit) as ended:
            main(["inject", *args])
        out, err = capfdbinary.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, out.decode(), err.decode()

    return run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, with a plain file and another kind in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.yaml").write_bytes(COMMENTED.encode())
    (tmp_path / "b.yaml").write_bytes(OTHERS.encode())
    return tmp_path


def test_the_result_is_printed_and_what_was_changed_is_told(inject: Any, folder: Path) -> None:
    code, out, err = inject("a.yaml", "--owner", "payments")
    assert (code, out) == (0, covered(COMMENTED, annotations={"owner": "payments"}))
    lines = err.splitlines()
    assert lines[0] == "a.yaml:3 billing/daily-credit: covered"
    assert lines[1] == "  + label k8sjob.io/enabled: the reconciler looks after it"
    assert lines[2] == "  + annotations k8sjob.io/owner: what was asked for"
    assert lines[-1] == "CronJobs of 1 file: 1 covered"
    assert (folder / "a.yaml").read_text("utf-8") == COMMENTED


def test_the_right_that_a_pod_needs_can_be_pasted(inject: Any) -> None:
    _, _, err = inject("-", stdin=COMMENTED)
    assert (
        "kubectl create role k8sjob-entrypoint -n billing --verb=get --resource=jobs.batch" in err
    )
    assert "--role=k8sjob-entrypoint --serviceaccount=billing:credit" in err
    _, _, err = inject("-", stdin=COVERED)
    assert "kubectl" not in err


def test_standard_input_is_passed_on_byte_for_byte_where_there_is_nothing_to_do(
    inject: Any,
) -> None:
    assert inject("-", stdin=OTHERS) == (0, OTHERS, "no CronJob in 1 file\n")
    assert inject("-", stdin=COVERED) == (
        0,
        COVERED,
        "-:3 billing/daily-credit: unchanged\nCronJobs of 1 file: 1 unchanged\n",
    )


@pytest.mark.parametrize("coding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_a_file_keeps_its_coding(inject: Any, folder: Path, coding: str) -> None:
    mark = "\ufeff" if coding.endswith("e") else ""
    (folder / "a.yaml").write_bytes((mark + BLOCKS.replace("\n", "\r\n")).encode(coding))
    before = (folder / "a.yaml").read_bytes()
    assert inject("-i", "a.yaml")[0] == 0
    after = (folder / "a.yaml").read_bytes()
    assert after.decode("utf-16" if "16" in coding else coding).lstrip("\ufeff") == covered(
        BLOCKS.replace("\n", "\r\n")
    )
    assert inject("-i", "--remove", "a.yaml")[0] == 0
    assert (folder / "a.yaml").read_bytes() == before


def test_in_place_writes_what_changes_and_nothing_else(inject: Any, folder: Path) -> None:
    (folder / "a.yaml").chmod(0o640)
    (folder / "link.yaml").symlink_to("a.yaml")
    other = (folder / "b.yaml").stat()
    code, out, _ = inject("-i", "link.yaml", "b.yaml")
    assert (code, out) == (0, "")
    assert (folder / "a.yaml").read_text("utf-8") == COVERED
    assert stat.S_IMODE((folder / "a.yaml").stat().st_mode) == 0o640
    assert (folder / "link.yaml").is_symlink()
    assert (folder / "b.yaml").stat().st_ino == other.st_ino
    assert sorted(path.name for path in folder.iterdir()) == ["a.yaml", "b.yaml", "link.yaml"]
    assert inject("-i", "--remove", "a.yaml")[0] == 0
    assert (folder / "a.yaml").read_text("utf-8") == COMMENTED


def test_a_file_that_cannot_be_written_is_told_and_leaves_nothing(folder: Path) -> None:
    (folder / "sub").mkdir()
    for name in ("gone/a.yaml", "sub"):
        with pytest.raises(K8sjobError, match=f"{name} cannot be written, so it is as it was"):
            save(name, b"a")
    assert sorted(path.name for path in folder.iterdir()) == ["a.yaml", "b.yaml", "sub"]


def test_several_files_become_one_stream_of_documents(inject: Any, folder: Path) -> None:
    (folder / "c.yaml").write_text(FLOW.rstrip("\n"), "utf-8")
    code, out, _ = inject("b.yaml", "c.yaml", "a.yaml", "b.yaml")
    assert code == 0
    flow = covered(FLOW.rstrip("\n"))
    assert out == f"{OTHERS}---\n{flow}\n---\n{COVERED}"


def test_check_writes_nothing_and_ends_with_1_where_something_would_differ(
    inject: Any, folder: Path
) -> None:
    assert inject("--check", "a.yaml", "b.yaml")[:2] == (ExitCode.FAILED, "")
    assert inject("--check", "-i", "a.yaml")[:2] == (ExitCode.FAILED, "")
    assert (folder / "a.yaml").read_text("utf-8") == COMMENTED
    assert inject("--check", "-", stdin=COVERED)[:2] == (0, "")
    assert inject("--check", "--remove", "-", stdin=COVERED)[0] == ExitCode.FAILED
    assert inject("--check", "--remove", "a.yaml")[0] == 0


def test_a_dry_run_prints_the_difference(inject: Any, folder: Path) -> None:
    code, out, err = inject("--dry-run", "-i", "a.yaml", "b.yaml")
    assert code == 0
    assert out.startswith("--- a.yaml (now)\n+++ a.yaml (then)\n@@ ")
    assert '+    k8sjob.io/enabled: "true"\n' in out
    assert {line[0] for line in out.splitlines() if line} == set("-+@ ")
    assert not [line for line in out.splitlines()[2:] if line.startswith("-")]
    assert "1 covered" in err
    assert (folder / "a.yaml").read_text("utf-8") == COMMENTED
    _, out, _ = inject("--dry-run", "-", stdin=FLOW.rstrip("\n"))
    assert out.count("\\ No newline at end of file\n") == 2


def test_where_one_thing_cannot_be_done_nothing_is(inject: Any, folder: Path) -> None:
    (folder / "c.yaml").write_text(FLOW.replace("command:", "args:"), "utf-8")
    for way in ([], ["-i"], ["--dry-run"], ["--check"]):
        code, out, err = inject(*way, "a.yaml", "c.yaml", "none.yaml")
        assert (code, out) == (ExitCode.USAGE, "")
        assert err.startswith("c.yaml:1: daily-credit: its container main has no command")
        assert "none.yaml: cannot be read, so nothing was changed: No such file" in err
        assert err.endswith(NOTHING)
    assert (folder / "a.yaml").read_text("utf-8") == COMMENTED


def test_a_cronjob_is_named_with_or_without_its_namespace(inject: Any) -> None:
    for name in ("daily-credit", "billing/daily-credit"):
        assert inject("-", "--only", name, stdin=COMMENTED)[:2] == (0, COVERED)
    code, out, err = inject("-", "--only", "daily-credit", "--only", "other", stdin=COMMENTED)
    assert (code, out) == (ExitCode.USAGE, "")
    assert "--only other: there is no such CronJob. Nothing was changed." in err


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["-i", "-"], "--in-place has no file to write for -"),
        (["--remove", "--owner", "me", "-"], "--remove takes everything out"),
        (["--remove", "--mode", "run", "-"], "--remove takes everything out"),
        (["--mode", "run", "--image", "k8sjob:1", "-"], "--image is for --mode sidecar"),
        (["--mode", "other", "-"], "'other' is not one of 'run', 'sidecar'"),
        (["--time-zone", "Mars/Olympus", "-"], "Mars/Olympus"),
        ([], "Missing argument"),
    ],
)
def test_flags_that_do_not_fit_are_refused(inject: Any, args: list[str], said: str) -> None:
    code, out, err = inject(*args, stdin=COMMENTED)
    assert code in {ExitCode.USAGE, ExitCode.CONFIG}
    assert out == ""
    assert said in err


def test_each_annotation_has_its_option() -> None:
    assert tuple(_ANNOTATIONS) == NAMES


def test_all_options_go_through(inject: Any) -> None:
    words = {
        "job": "billing/credit",
        "cycle": "week",
        "grace": "5m",
        "catch-up": "latest",
        "catch-up-max-count": "3",
        "catch-up-max-age": "2d",
        "manual-runs": "oldest-missing",
        "runbook": "https://example.com/a?b=c#d",
    }
    args = [word for name, text in words.items() for word in (f"--{name}", text)]
    more = ["--mode", "sidecar", "--image", "a/b:c", "--secret", "s", "--key", "k"]
    code, out, _ = inject("-", *args, *more, "--container", "main", stdin=COMMENTED)
    assert code == 0
    assert out == covered(
        COMMENTED,
        mode="sidecar",
        image="a/b:c",
        secret="s",
        key="k",
        container="main",
        annotations=words,
    )
    code, out, _ = inject("-", "--claims", stdin=COMMENTED)
    assert out == covered(COMMENTED, claims=True)
