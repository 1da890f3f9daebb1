"""Which commands of k8sjob a container calls by itself. Pure.

Only what is started counts: a folder, a schema or a word in a text may be called k8sjob too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from k8sjob.manifest.tree import Spot

#: Commands that speak for a period.
RUN: Final = "run"
BESIDE: Final = frozenset({"resolve", "sidecar"})
#: All others, which work for k8sjob and its ledger and have no period.
HOUSEKEEPING: Final = frozenset({
    "get", "describe", "block", "skip", "await", "confirm", "release", "reopen", "backfill",
    "reconcile", "serve", "prune", "migrate", "doctor", "preview", "lint", "inject",
    "completion", "version",
})  # fmt: skip
COMMANDS: Final = HOUSEKEEPING | BESIDE | {RUN}

#: The entrypoint of these is k8sjob (Dockerfile). One that was made FROM them has any name.
_IMAGES: Final = frozenset({"k8sjob", "k8sjob-control"})
#: Options before a command that are followed by a word of theirs.
_WITH_VALUE: Final = frozenset({"--by", "-n", "--namespace"})
#: Programs that start the one behind them.
_STARTERS: Final = frozenset(
    {"tini", "dumb-init", "catatonit", "busybox", "env", "exec", "command"}
)
#: Programs that start one of the words behind them, after options and words of their own.
_LAUNCHERS: Final = frozenset({
    "timeout", "nice", "ionice", "nohup", "setsid", "stdbuf", "numactl", "taskset", "chrt", "time",
    "gosu", "su-exec", "setpriv", "chpst", "sudo", "doas", "runuser", "env", "xargs", "flock",
    "uv", "poetry", "pipenv", "pdm", "hatch", "ddtrace-run", "opentelemetry-instrument",
    "newrelic-admin", "chamber", "doppler", "vault-env", "aws-vault",
})  # fmt: skip
_SHELLS: Final = frozenset({"sh", "bash", "dash", "ash", "ksh", "zsh"})
#: What may stand before a command in a shell's text.
_KEYWORDS: Final = frozenset(
    {"if", "then", "elif", "else", "while", "until", "do", "!", "{", "time"}
)
#: What does no work by itself, and so is nothing that could be tracked.
_IDLE: Final = frozenset({
    "set", "cd", "export", "unset", "umask", "ulimit", "trap", "exit", "echo", "printf", "true",
    "false", ":", "test", "[", "[[", "sleep", ".", "source", "fi", "done", "}",
})  # fmt: skip
_ASSIGNED = re.compile(r"[A-Za-z_]\w*=")
_PYTHON = re.compile(r"python[\d.]*")
_WITH_TEXT = re.compile(r"-[a-zA-Z]*c[a-zA-Z]*")
_TOKEN = re.compile(
    r"""
      (?P<gap> [ \t\r]+ | \\\n | \#[^\n]* )
    | (?P<end> [;&|()\n]+ )
    | (?P<redirect> [<>]+ [&|]? )
    | (?P<word> (?: '[^']*' | "(?:\\.|[^"\\])*" | \\. | [^\s;&|()<>'"\\] )+ )
    | (?P<odd> . )
    """,
    re.VERBOSE | re.DOTALL,
)


class Calls(NamedTuple):
    """The commands of k8sjob, in order, and whether the container does other work too."""

    commands: tuple[str, ...] = ()
    others: bool = False

    @property
    def covers(self) -> bool:
        """Whether it speaks for a period by itself."""
        return any(name not in HOUSEKEEPING for name in self.commands)

    @property
    def keeps_house(self) -> bool:
        """Whether it works for k8sjob and does nothing else."""
        return bool(self.commands) and not self.covers and not self.others


def calls(container: Spot) -> Calls:
    """Return what a container calls, as far as its manifest tells."""
    command = [spot.text or "" for spot in container["command"].items()]
    args = [spot.text or "" for spot in container["args"].items()]
    if command:
        return _started([*command, *args])
    if args and (_is_ours(container["image"].text or "") or _writes_a_context(args)):
        return _direct(args)
    return Calls(others=True)


def _writes_a_context(args: list[str]) -> bool:
    """Whether arguments alone can be no other program's, whatever its image is called."""
    return args[0] == "resolve" and any(word.partition("=")[0] == "--write" for word in args)


def _is_ours(image: str) -> bool:
    name, _, _ = image.rpartition("/")[2].partition("@")
    return name.partition(":")[0] in _IMAGES


def _started(words: list[str]) -> Calls:
    """Return what the command line of a container calls."""
    program = _program(words)
    if (said := _said(words)) is not None:
        return _direct(said)
    if program and _base(program[0]) in _SHELLS:
        return _in_text(*_text_of(program[1:]))
    return Calls(others=True)


def _direct(said: list[str]) -> Calls:
    """Return what k8sjob is told; a command that is not known here is k8sjob's all the same."""
    return Calls((_command_in(said),))


def _in_text(text: str, positional: list[str]) -> Calls:
    found, others = [], False
    for line in _lines(text):
        whole = [w for word in line for w in (positional if word == "$@" else [word])]
        words, said = _program(whole), _said(whole)
        if said is not None and (name := _command_in(said)) in COMMANDS:
            found.append(name)
        elif words and words[0] not in _IDLE:
            others = True
    return Calls(tuple(found), others or not found)


def _said(words: list[str]) -> list[str] | None:
    """Return what a command line says to k8sjob; None where it does not start it."""
    program = _program(words)
    said = _behind_k8sjob(program)
    return _launched(words) or _launched(program) if said is None else said


def _behind_k8sjob(words: list[str]) -> list[str] | None:
    """Return the words behind k8sjob; None where another program is started."""
    if not words:
        return None
    if _base(words[0]) == "k8sjob":
        return words[1:]
    if _PYTHON.fullmatch(_base(words[0])):
        at = next((n for n, word in enumerate(words[1:], 1) if not word.startswith("-")), 0)
        is_module = at > 0 and (words[at - 1], words[at]) == ("-m", "k8sjob")
        if is_module or words[at].endswith("/k8sjob"):
            return words[at + 1 :]
    return None


def _launched(words: list[str]) -> list[str] | None:
    """Return the words behind a k8sjob that a launcher starts, whatever stands between them."""
    if words and _base(words[0]) in _LAUNCHERS:
        for at, word in enumerate(words[1:], 1):
            if _base(word) == "k8sjob" and _command_in(words[at + 1 :]) in COMMANDS:
                return words[at + 1 :]
    return None


def _command_in(said: list[str]) -> str:
    """Return the command among the words behind k8sjob; nothing where there is none."""
    rest = iter(said)
    for word in rest:
        if word in _WITH_VALUE:
            next(rest, None)
        elif not word.startswith("-"):
            return word
    return ""


def _program(words: list[str]) -> list[str]:
    """Return a command from its program on, without what only starts it."""
    is_started = False
    for at, word in enumerate(words):
        if _base(word) in _STARTERS or word in _KEYWORDS:
            is_started = True
        elif not _ASSIGNED.match(word) and not (is_started and word.startswith("-")):
            return words[at:]
    return []


def _base(word: str) -> str:
    return word.rpartition("/")[2]


def _text_of(words: list[str]) -> tuple[str, list[str]]:
    """Return the text that a shell gets behind -c, and its "$@"; no text where it gets a file."""
    rest = iter(words)
    for word in rest:
        if _WITH_TEXT.fullmatch(word):
            return next(rest, ""), list(rest)[1:]  # the first one is $0
        if not word.startswith(("-", "+")):
            break
        if word.endswith("o"):  # -o pipefail
            next(rest, None)
    return "", []


def _lines(text: str) -> Iterator[list[str]]:
    """Return the commands of a shell's text, each as its words."""
    words: list[str] = []
    for token in _TOKEN.finditer(text):
        if token.lastgroup == "end":
            yield words
            words = []
        elif token.lastgroup == "word":
            words.append(re.sub(r"['\"]|\\(.)", r"\1", token[0]))
    yield words
