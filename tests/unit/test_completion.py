from __future__ import annotations

import os
import subprocess
import sys

import pytest

from k8sjob.cli.main import main


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_is_printed(capsys: pytest.CaptureFixture[str], shell: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["completion", shell])
    assert ended.value.code == 0
    assert f"_K8SJOB_COMPLETE={shell}_complete" in capsys.readouterr().out


def test_another_shell_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["completion", "csh"])
    assert ended.value.code == 64
    assert "'bash', 'zsh', 'fish'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "found"), [("k8sjob rec", {"reconcile"}), ("k8sjob get --all", {"--all-namespaces"})]
)
def test_what_it_asks_is_answered(words: str, found: set[str]) -> None:
    """As bash does it: the words so far, and which of them is being typed."""
    asked = {"_K8SJOB_COMPLETE": "bash_complete", "COMP_WORDS": words}
    done = subprocess.run(
        [sys.executable, "-c", "from k8sjob.cli.main import main; main()"],
        env={**os.environ, **asked, "COMP_CWORD": str(len(words.split()) - 1)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert {line.rpartition(",")[2] for line in done.stdout.split()} == found, done
