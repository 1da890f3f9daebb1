"""A ``kubectl`` of the tests: it notes how it was called, and answers for a cluster.

The first line of the copy on PATH names the interpreter. ``STANDIN`` names a folder with the
``answers.json`` of :class:`tests.plugin.conftest.Answers`; calls are added to its ``calls.jsonl``.
"""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, NoReturn

_HERE = Path(os.environ.pop("STANDIN"))
_ANSWERS: dict[str, Any] = json.loads((_HERE / "answers.json").read_text("utf-8"))


def main() -> NoReturn:
    """Answer one call."""
    args = sys.argv[1:]
    own = args[: len(args) - len(_command(args))]
    verb = next((word for word in own if word in _VERBS), "")
    mode = os.fstat(0).st_mode
    kind = "tty" if os.isatty(0) else "pipe" if stat.S_ISFIFO(mode) else "file"
    noted = {"verb": verb, "args": args, "stdin": kind, "pid": os.getpid()}
    with (_HERE / "calls.jsonl").open("a", encoding="utf-8") as calls:
        calls.write(json.dumps(noted) + "\n")
    if not verb:
        _end(f"error: the stand-in knows no {args}", 1)
    _VERBS[verb](args)
    sys.exit(1)


def _command(args: list[str]) -> list[str]:
    """Return what follows the two dashes that end kubectl's own words."""
    for at, word in enumerate(args):
        if word == "--" and args[at - 1].startswith("deployment/"):
            return args[at + 1 :]
    return []


def _get(args: list[str]) -> NoReturn:
    if _ANSWERS["login"]:
        sys.stderr.write("To sign in, open a page\n")
    if _ANSWERS["away"]:
        _end("Unable to connect to the server: dial tcp: lookup api: no such host", 1)
    if "deployments" in _ANSWERS["forbidden"]:
        _end(
            'Error from server (Forbidden): deployments.apps is forbidden: User "alice" cannot '
            'list resource "deployments" in API group "apps"',
            1,
        )
    spaces = [arg.partition("=")[2] for arg in args if arg.startswith("--namespace=")]
    selector = next(arg for arg in args if arg.startswith("--selector="))
    instance = selector.partition("instance=")[2]
    for space, name, ready in _ANSWERS["deployments"]:
        if (not spaces or space in spaces) and name.startswith(instance):
            sys.stdout.write(f"{space} {name} {ready}\n")
    _end("", 0)


def _auth(args: list[str]) -> NoReturn:
    if "whoami" in args:
        if _ANSWERS["whoami"] is None:
            _end('error: the server doesn\'t have a resource type "selfsubjectreviews"', 1)
        sys.stdout.write(_ANSWERS["whoami"])
        _end("", 0)
    if _ANSWERS["away"]:
        _end("Unable to connect to the server", 1)
    what = "exec" if "--subresource=exec" in args else "deployments"
    refused = what in _ANSWERS["forbidden"]
    sys.stdout.write("no\n" if refused else "yes\n")
    _end("", int(refused))


def _config(_args: list[str]) -> NoReturn:
    sys.stdout.write(_ANSWERS["namespace"])
    _end("", 0)


def _exec(args: list[str]) -> NoReturn:
    if "exec" in _ANSWERS["forbidden"]:
        _end('Error from server (Forbidden): pods "control-1" is forbidden', 1)
    command = _command(args)
    if _ANSWERS["runs"]:
        code = _run(command, tty="--tty" in args)
    else:
        sys.stdout.write(_ANSWERS["out"])
        sys.stdout.flush()
        (sys.stdout if "--tty" in args else sys.stderr).write(_ANSWERS["err"])
        code = _ANSWERS["code"]
    if _ANSWERS["ends"] is not None:
        _end("error: connection reset by peer", _ANSWERS["ends"])
    if _ANSWERS["lost"]:
        _end("", code)
    word = next((word for word in command if word.startswith("--tell-end=")), None)
    if not _ANSWERS["runs"] and not code and word:
        sys.stderr.write(f"k8sjob: ended with exit code 0 ({word.partition('=')[2]})\n")
        sys.stderr.write(_ANSWERS["after"])
    _end(f"command terminated with exit code {code}" if code else "", code)


def _run(command: list[str], *, tty: bool) -> int:
    """Run k8sjob itself: all that it gets is its arguments and what comes through the pipe."""
    assert command[0] == "k8sjob"
    words = [sys.executable, "-m", "k8sjob", *command[1:]]
    env = {"PATH": os.environ["PATH"], **_ANSWERS["env"]}
    if tty:
        return subprocess.run(words, env=env, stderr=sys.stdout, check=False).returncode
    with subprocess.Popen(words, env=env, stdin=subprocess.PIPE, start_new_session=True) as child:
        (_HERE / "child").write_text(str(child.pid), "utf-8")
        threading.Thread(target=_feed, args=[child], daemon=True).start()
        return child.wait()


def _feed(child: subprocess.Popen[bytes]) -> None:
    assert child.stdin is not None
    with child.stdin as pipe:
        while data := os.read(0, 65536):
            pipe.write(data)
            pipe.flush()


def _end(text: str, code: int) -> NoReturn:
    sys.stdout.flush()
    if text:
        sys.stderr.write(f"{text}\n")
    sys.stderr.flush()
    os._exit(code)  # as kubectl, without waiting for its own standard input


_VERBS = {"exec": _exec, "get": _get, "auth": _auth, "config": _config}

if __name__ == "__main__":
    main()
