"""The folder in which ``k8sjob resolve`` leaves the period for the Pod's other containers.

``context.json`` is for k8sjob itself, ``env`` for a shell: ``. /k8sjob/env``. Both are written
whole or not at all, and everybody may read them: the main container may be any user.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from k8sjob.errors import ConfigError, InvalidKey, TryAgain
from k8sjob.key import Key, KeyRange

if TYPE_CHECKING:
    from k8sjob.key import JobName
    from k8sjob.run.origin.sources import Resolved

VERSION = 1
CONTEXT, ENV = "context.json", "env"

_TIMES = ("scheduled_for", "window_end")
_PLACE = ("zone", "job_uid", "job_name", "cronjob")
#: What goes into ``env``: K8SJOB_ and the name in capitals.
_FOR_THE_SHELL = ("key", "job", "period", *_TIMES, "attempt", "source")
#: Errors of the folder that stay as they are until somebody changes the Pod.
_LASTING = (FileNotFoundError, NotADirectoryError, IsADirectoryError, PermissionError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What a Pod's containers know of their period. Instants are aware UTC.

    ``attempt`` is the main container's: the sidecar keeps it, and `k8sjob run` makes its own.
    ``resolved_at`` is by the ledger's clock; None without one. The main container starts later.
    """

    key: Key
    source: str
    attempt: UUID
    scheduled_for: datetime | None = None
    window_end: datetime | None = None
    zone: str | None = None
    job_uid: str | None = None
    job_name: str | None = None
    cronjob: str | None = None
    supersedes: KeyRange | None = None
    resolved_at: datetime | None = None


def context_of(resolved: Resolved, attempt: UUID) -> Context:
    """Return what the other containers are told of a period that was found."""
    start, end = resolved.scheduled_for, resolved.window_end
    return Context(
        key=resolved.key,
        source=resolved.source,
        attempt=attempt,
        scheduled_for=start,
        window_end=end,
        **{name: getattr(resolved, name) for name in _PLACE},
        supersedes=resolved.supersedes,
        resolved_at=resolved.at,
    )


# -------------------------------------------------------------------------------------- writing


def as_dict(context: Context) -> dict[str, Any]:
    """Return it as ``context.json`` has it."""
    older = context.supersedes
    return {
        "version": VERSION,
        "key": str(context.key),
        "job": str(context.key.job),
        "period": str(context.key.period),
        **{name: _text(getattr(context, name)) for name in _TIMES},
        "source": context.source,
        "attempt": str(context.attempt),
        **{name: getattr(context, name) for name in _PLACE},
        "supersedes": f"{older.first}..{older.last}" if older else None,
        # Whole: it is compared with the ledger's own times.
        "resolved_at": context.resolved_at.isoformat() if context.resolved_at else None,
    }


def as_shell(context: Context) -> str:
    """Return it as lines that any POSIX shell takes in, whatever stands in the values."""
    told = as_dict(context)
    lines = (f"K8SJOB_{name.upper()}={_quoted(told[name] or '')}" for name in _FOR_THE_SHELL)
    return "".join(f"export {line}\n" for line in lines)


def write_context(folder: str, context: Context) -> None:
    """Write both files into ``folder``, which is there already.

    Raises ConfigError, or TryAgain where it may succeed later (a full disk).
    """
    texts = {
        ENV: as_shell(context),
        CONTEXT: json.dumps(as_dict(context), indent=2) + "\n",
    }
    mark = os.urandom(4).hex()
    made = {f"{folder}/.{name}-{mark}": f"{folder}/{name}" for name in texts}
    try:
        for half, text in zip(made, texts.values(), strict=True):
            _write(half, text)
        for half, whole in made.items():
            os.replace(half, whole)  # noqa: PTH105  # no pathlib at start
    except OSError as error:
        for half in made:
            _remove(half)
        failed = ConfigError if isinstance(error, _LASTING) else TryAgain
        raise failed(
            f"{context.key}: the context cannot be written into {folder}: {error.strerror}. "
            "Nothing was done.\n"
            "  Name a folder that is there and may be written, e.g. an emptyDir of the Pod."
        ) from None


def _write(path: str, text: str) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    with os.fdopen(handle, "w", encoding="utf-8", errors="surrogateescape") as file:
        os.fchmod(handle, 0o644)  # whatever the umask
        file.write(text)


def _remove(path: str) -> None:
    try:
        os.unlink(path)  # noqa: PTH108  # no pathlib at start
    except OSError:
        return  # it was not made, or is in its place


def _quoted(value: str) -> str:
    """Quote for sh: nothing is special between single quotes but the single quote (POSIX 2.2.2)."""
    return "'" + value.replace("'", "'\\''") + "'"


def _text(instant: datetime | None) -> str | None:
    return f"{instant:%Y-%m-%dT%H:%M:%SZ}" if instant else None


# -------------------------------------------------------------------------------------- reading


def read_context(path: str) -> Context:
    """Read the context in a folder, or in its file. Raises ConfigError."""
    file = f"{path}/{CONTEXT}" if os.path.isdir(path) else path  # noqa: PTH112  # as above
    try:
        with open(file, encoding="utf-8") as opened:  # noqa: PTH123  # as above
            text = opened.read()
    except OSError as error:
        raise _refused(file, f"it cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise _refused(file, "it is not UTF-8") from None
    return parse_context(text, file)


def parse_context(text: str, file: str = CONTEXT) -> Context:
    """Read what ``context.json`` holds; ``file`` is for the message. Raises ConfigError."""
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        raise _refused(file, "it is not JSON") from None
    if not isinstance(told, dict):
        raise _refused(file, "it holds no object")
    if told.get("version") != VERSION:
        raise _refused(file, f"its version is {told.get('version')!r}, and not {VERSION}")
    try:
        return _context(told)
    except (KeyError, TypeError, ValueError, AttributeError) as error:  # InvalidKey is a ValueError
        what = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise _refused(file, what) from None


def _context(told: dict[str, Any]) -> Context:
    key = Key.parse(told["key"])
    if (str(key.job), str(key.period)) != (told["job"], told["period"]):
        raise InvalidKey(f"key {key} is not job {told['job']} and period {told['period']}")
    if not isinstance(told["source"], str):
        raise TypeError(f"source is {told['source']!r}")
    return Context(
        key=key,
        source=told["source"],
        attempt=UUID(told["attempt"]),
        **{name: _instant(name, told[name]) for name in _TIMES},
        **{name: _optional(name, told[name]) for name in _PLACE},
        supersedes=_range(key.job, told["supersedes"]),
        resolved_at=_instant("resolved_at", told.get("resolved_at")),
    )


def _instant(name: str, text: str | None) -> Any:
    if text is None:
        return None
    instant = datetime.fromisoformat(text)
    if instant.tzinfo is None:
        raise ValueError(f"{name} is {text!r}, without a time zone")
    return instant.astimezone(UTC)


def _optional(name: str, value: object) -> Any:
    if value is None or isinstance(value, str):
        return value
    raise TypeError(f"{name} is {value!r}")


def _range(job: JobName, text: str | None) -> KeyRange | None:
    return None if text is None else KeyRange.parse(f"{job}:{text}")


def _refused(file: str, what: str) -> ConfigError:
    return ConfigError(
        f"the context in {file} is of no use: {what}. Nothing was done.\n"
        "  Let an init container write it: k8sjob resolve --write DIR; or take K8SJOB_CONTEXT away."
    )
