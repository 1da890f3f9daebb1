"""``k8sjob lint``: what it prints where, and how it ends."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from k8sjob.cli.main import main
from k8sjob.errors import ExitCode
from tests.manifest.manifests import CRONJOB, JOB

if TYPE_CHECKING:
    from pathlib import Path

BAD = CRONJOB.replace("3600", "0")
FOUND = (
    "deadline-zero billing/credit: with activeDeadlineSeconds: 0 each Job fails at once, before it "
    "has a Pod: write a few times as long as it usually takes"
)
BROKEN = "broken YAML, so nothing of this document was checked"


@pytest.fixture
def lint(capsys: pytest.CaptureFixture[str]) -> Any:
    """Run the command; the exit code, and what it printed to standard output and error."""

    def run(*args: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(["lint", *args])
        out, err = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, out, err

    return run


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Write a file into the current folder; its name."""
    monkeypatch.chdir(tmp_path)

    def write(name: str, text: str) -> str:
        (tmp_path / name).write_text(text, "utf-8")
        return name

    return write


def test_a_finding_is_a_line_and_ends_with_1(lint: Any, file: Any) -> None:
    code, out, err = lint(file("a.yaml", BAD))
    assert out == f"a.yaml:11 {FOUND}\n"
    assert (code, err) == (ExitCode.FAILED, "1 finding in 1 CronJob of 1 file\n")


def test_nothing_found_ends_with_0(lint: Any, file: Any) -> None:
    assert lint(file("a.yaml", f"{CRONJOB}---\n{JOB}---\n{CRONJOB}")) == (
        0,
        "",
        "0 findings in 2 CronJobs and 1 Job of 1 file\n",
    )


def test_nothing_to_look_at_is_said(lint: Any, file: Any) -> None:
    code, out, err = lint(file("a.yaml", ""), file("b.yaml", "kind: Service\n"))
    assert (code, out, err) == (0, "", "no CronJob and no Job in 2 files\n")


def test_findings_are_sorted_by_file_and_line_whatever_the_order(lint: Any, file: Any) -> None:
    two = BAD.replace("      template:", "      backoffLimit: 0\n      template:") + f"---\n{BAD}"
    _, out, err = lint(file("b.yaml", two), file("a.yaml", BAD), "b.yaml")
    places = [line.split()[0:2] for line in out.splitlines()]
    assert places == [
        ["a.yaml:11", "deadline-zero"],
        ["b.yaml:11", "deadline-zero"],
        ["b.yaml:12", "backoff-limit-zero"],
        ["b.yaml:31", "deadline-zero"],
    ]
    assert err == "4 findings in 3 CronJobs of 2 files\n"


def test_what_cannot_be_read_ends_with_64_and_hides_nothing(
    lint: Any, file: Any, tmp_path: Path
) -> None:
    (tmp_path / "folder").mkdir()
    code, out, err = lint("no.yaml", file("a.yaml", f"a: [\n---\n{BAD}"), "folder")
    assert code == ExitCode.USAGE
    assert out == f"a.yaml:13 {FOUND}\n"
    fault = "while parsing a flow node, expected the node content, but found '<stream end>'"
    assert err.splitlines() == [
        f"a.yaml:2: {BROKEN}: {fault}",
        "folder: is a folder, so nothing in it was checked: write folder/*.yaml",
        "no.yaml: cannot be read, so nothing was checked: No such file or directory",
        "1 finding in 1 CronJob of 3 files; 3 could not be read",
    ]


def test_standard_input_is_a_file_called_hyphen(lint: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    data = f"---\n# Source: shop/templates/a.yaml\n{BAD}".replace("\n", "\r\n").encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), "ascii"))
    code, out, _ = lint("-")
    assert (code, out) == (1, f"-:13 {FOUND} (from shop/templates/a.yaml)\n")


def test_json_has_it_in_fields(lint: Any, file: Any) -> None:
    code, out, err = lint(file("a.yaml", f"{BAD}---\na: *b\n"), "-o", "json")
    assert json.loads(out) == {
        "findings": [
            {
                "file": "a.yaml",
                "line": 11,
                "rule": "deadline-zero",
                "kind": "CronJob",
                "object": "billing/credit",
                "message": FOUND.partition(": ")[2],
                "source": None,
            }
        ],
        "unread": [
            {
                "file": "a.yaml",
                "line": 20,
                "message": f"{BROKEN}: *b names nothing: there is no &b above it",
            }
        ],
        "files": 1,
        "cronJobs": 1,
        "jobs": 0,
    }
    assert code == ExitCode.USAGE
    assert err.endswith("1 could not be read\n")


def test_no_file_is_a_usage_error(lint: Any) -> None:
    code, out, err = lint()
    assert (code, out) == (ExitCode.USAGE, "")
    assert "FILE" in err


def test_without_the_extra_it_says_what_to_install(
    lint: Any, file: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ruamel.yaml", None)  # as Python marks what is not there
    code, out, err = lint(file("a.yaml", BAD))
    assert (code, out) == (ExitCode.CONFIG, "")
    assert err == (
        "k8sjob: reading manifests needs the package ruamel.yaml, which is not installed. Nothing "
        "was checked.\n  pip install 'k8sjob[manifest]'\n"
    )


def test_names_that_are_no_text_do_not_disturb_the_terminal(tmp_path: Path) -> None:
    name = tmp_path / "a\x1b[31m\udcff\n.yaml"
    name.write_text(BAD.replace("name: credit", 'name: "\\ud83d\\e[31m"'), "utf-8")
    ended = subprocess.run(
        [sys.executable, "-m", "k8sjob", "lint", str(name)], capture_output=True, check=False
    )
    assert ended.returncode == 1, ended
    assert b"\x1b" not in ended.stdout
    assert ended.stdout.count(b"\n") == 1


def test_it_asks_neither_a_cluster_nor_a_ledger() -> None:
    code = (
        "import sys\nfrom k8sjob.cli.main import main\n"
        "try:\n    main(['lint', '-'])\nexcept SystemExit as ended:\n    code = ended.code\n"
        "print(code, [m for m in ('psycopg', 'kubernetes', 'k8sjob.ledger') if m in sys.modules])"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], input=CRONJOB, capture_output=True, text=True, check=False
    )
    assert ended.stdout == "0 []\n", ended
