"""Files that are written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import NamedTemporaryFile

from k8sjob.errors import K8sjobError


def save(name: str, data: bytes) -> None:
    """Put ``data`` into the place of a file that is there; links to it and its mode stay.

    Raises K8sjobError.
    """
    try:
        path = Path(name).resolve()
        mode = path.stat().st_mode & 0o7777
        with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}-", delete=False) as half:
            try:
                half.write(data)
                half.flush()
                os.fchmod(half.fileno(), mode)
                os.fsync(half.fileno())
                os.replace(half.name, path)  # noqa: PTH105  # a name beside a path
            except BaseException:
                Path(half.name).unlink(missing_ok=True)
                raise
    except OSError as error:
        raise K8sjobError(
            f"{name} cannot be written, so it is as it was: {error.strerror}. Files that were "
            "named before it are written.\n  Let its folder be written to, and give the same "
            "command again: what is done stays as it is."
        ) from None
