"""How much is measured: for CI, by default, and in full."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Scale:
    """Sizes of one run. ``seconds`` is how long pgbench runs at a time."""

    name: str
    rounds: int
    block: int
    seconds: int
    pgbench_rounds: int
    history_rows: int
    starts: int


QUICK = Scale("quick", 30, 10, 1, 4, 100_000, 9)
NORMAL = Scale("normal", 100, 20, 2, 7, 1_000_000, 25)
FULL = Scale("full", 100, 20, 2, 7, 10_000_000, 25)
