"""How many bytes the ledger keeps for a period: written as ``k8sjob run`` writes, then weighed."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from benchmarks.report import Line
from benchmarks.work import AsTheRunner

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.scale import Scale
    from benchmarks.server import Server

PERIODS = {"quick": 2_000}
#: Of a usual length: a namespace, a CronJob's name.
JOB = "billing/daily-credit"
#: What grows but once: a table's first pages.
SMALL = 20
A_YEAR = {"a daily job": 365, "an hourly job": 8_760, "a minute job": 525_600}
_WEIGH = """
SELECT c.relname, pg_table_size(c.oid), pg_indexes_size(c.oid)
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = 'k8sjob' AND c.relkind = 'r' ORDER BY 2 DESC"""


def measure(server: Server, scale: Scale) -> Iterator[Line]:
    """Do periods, each at its first try, and see what the tables have grown by."""
    periods = PERIODS.get(scale.name, 20_000)
    database = server.database("size")
    with database.as_owner() as owner:
        before = _weights(owner.execute(_WEIGH).fetchall())
        with closing(AsTheRunner(database, JOB, "off", in_a_job=True)) as work:
            for _ in range(periods):
                work()
        owner.execute("VACUUM (ANALYZE)")
        after = _weights(owner.execute(_WEIGH).fetchall())
    grown = {name: (after[name] - before[name]) / periods for name in after}
    whole = sum(grown.values())
    for name, size in sorted(grown.items(), key=lambda one: -one[1]):
        if size >= SMALL:
            yield Line(f"bytes a period in {name}, indexes too", f"{size:.0f}")
    yield Line("bytes a period done at its first try", f"{whole:.0f}")
    years = (f"{what} {whole * count / 1e6:,.1f} MB" for what, count in A_YEAR.items())
    yield Line("in a year", ", ".join(years))


def _weights(rows: list[tuple[str, int, int]]) -> dict[str, int]:
    return {name: table + indexes for name, table, indexes in rows}
