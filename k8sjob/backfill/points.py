"""Named moments of a launch, for tests that kill it at one of them. Nothing else uses them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

Point = Literal["noted", "created"]

#: Called with the point's name; set by a test, in its own process.
hook: Callable[[Point], None] | None = None


def reached(point: Point) -> None:
    """Say that a launch has come to ``point``."""
    if hook is not None:
        hook(point)
