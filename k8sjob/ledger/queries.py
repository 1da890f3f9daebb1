"""The named queries of ``sql/*.sql``: SQL stands in SQL files, under a name each."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, LiteralString, cast

if TYPE_CHECKING:
    from collections.abc import Mapping

_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


@cache
def queries(store: str) -> Mapping[str, LiteralString]:
    """Return the queries of ``sql/<store>.sql`` by their names."""
    text = (resources.files("k8sjob.ledger") / "sql" / f"{store}.sql").read_text("utf-8")
    parts = _NAME.split(text)[1:]
    # The files are ours and part of the package, so their text is as literal as this module's.
    pairs = zip(parts[::2], parts[1::2], strict=True)
    return {name: cast("LiteralString", sql.strip()) for name, sql in pairs}
