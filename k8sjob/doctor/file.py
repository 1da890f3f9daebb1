"""Whether the file of a SQLite ledger can be used. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from k8sjob.doctor.line import fail, ok, warn
from k8sjob.doctor.purpose import Purpose
from k8sjob.ledger.versions import version_numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from k8sjob.doctor.line import Line
    from k8sjob.ledger.survey import FileSurvey

_POSTGRES: Final = "set K8SJOB_DSN=postgresql://…"
_NOT_FOR: Final = (Purpose.RECONCILE, Purpose.SERVE)


def check_file(found: FileSurvey, purpose: Purpose, client: str) -> Iterator[Line]:
    """Say whether it can be read and written, and holds a ledger."""
    yield from _of_the_file(found)
    if found.damage is None and found.version is not None:
        yield _schema(found, client)
    if purpose in _NOT_FOR:
        seen = f"k8sjob {purpose} is for ledgers on Postgres, and this is a SQLite file"
        yield fail("grants", seen, _POSTGRES)
    if purpose is Purpose.BACKFILL:
        seen = "on a SQLite file only k8sjob backfill --local works"
        yield warn("grants", seen, f"pass --local, or {_POSTGRES}")


def _of_the_file(found: FileSurvey) -> Iterator[Line]:
    if found.trouble is not None:
        yield fail(
            "file",
            str(found.trouble).partition("\n")[0],
            f"look whether it is a SQLite file that this user may read: ls -l {found.file}",
        )
    elif found.size is None:
        yield _absent(found)
    elif found.damage:
        yield fail(
            "file", f"{found.file} is damaged: {found.damage}", "bring back a backup of the file"
        )
    else:
        yield _present(found)


def _absent(found: FileSurvey) -> Line:
    if found.folder_writable:
        return ok("file", f"{found.file} is not there yet: the first k8sjob run makes it")
    return fail(
        "file",
        f"{found.file} is not there, and its folder is missing or takes no files",
        "make the folder, and let this user write there",
    )


def _present(found: FileSurvey) -> Line:
    seen = f"{found.file}, {found.size or 0:,} bytes, SQLite {found.library}"
    if found.writable is False:
        do = f"let this user write to the file and its folder: ls -ld {found.file}"
        return fail("file", f"{seen}: it takes no writes", do)
    if found.busy:
        return ok("file", f"{seen}; another process is writing just now")
    if found.version is None:
        return ok("file", f"{seen}; no ledger yet: the first k8sjob run makes its tables")
    return ok("file", seen)


def _schema(found: FileSurvey, client: str) -> Line:
    oldest = found.oldest_client or "0"
    if version_numbers(client) < version_numbers(oldest):
        seen = f"version {found.version} takes clients from {oldest} on, and refuses {client}"
        return fail("schema", seen, f"install k8sjob {oldest} or later")
    return ok("schema", f"version {found.version}, which takes this client")
