"""Measure what a claim costs, and print it beside what was wanted: ``python -m benchmarks``."""

from __future__ import annotations

import argparse
import os
import platform
from dataclasses import replace
from typing import TYPE_CHECKING

import psycopg

from benchmarks import (
    cold_start,
    history,
    reconcile,
    round_trips,
    serve,
    size,
    sqlite_file,
    throughput,
    transaction,
)
from benchmarks.report import said, table
from benchmarks.scale import FULL, NORMAL, QUICK, Scale
from benchmarks.server import Server, running

if TYPE_CHECKING:
    from benchmarks.report import Line

QUESTIONS = {
    "round-trips": round_trips.measure,
    "transaction": transaction.measure,
    "throughput": throughput.measure,
    "history": history.measure,
    "cold-start": cold_start.measure,
    "sqlite": sqlite_file.measure,
    "reconcile": reconcile.measure,
    "serve": serve.measure,
    "size": size.measure,
}


def main() -> None:
    """Measure, print the table; the exit code says nothing about the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("question", nargs="*", help=", ".join(QUESTIONS) + "; default: all")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_const", dest="scale", const=QUICK,
                      help="fewer rounds and 100,000 rows of history: under 3 minutes")  # fmt: skip
    size.add_argument("--full", action="store_const", dest="scale", const=FULL,
                      help="10,000,000 rows of history instead of 1,000,000")  # fmt: skip
    parser.add_argument("--rows", type=int, metavar="N",
                        help="rows of history; reconcile takes 8,760,000 at most")  # fmt: skip
    args = parser.parse_args()
    if wrong := [name for name in args.question if name not in QUESTIONS]:
        parser.error(f"not a question: {', '.join(wrong)}. Choose from {', '.join(QUESTIONS)}")
    scale: Scale = args.scale or NORMAL
    if args.rows:
        scale = replace(scale, history_rows=args.rows)
    with running() as server:
        lines = measure(server, args.question or list(QUESTIONS), scale)
    print(f"\n{table(lines)}")


def measure(server: Server, names: list[str], scale: Scale) -> list[Line]:
    """Ask each question in turn and print each answer as it comes."""
    print(f"{_machine(server)}; scale {scale.name}", flush=True)
    lines = []
    for name in names:
        print(f"\n{name}", flush=True)
        for line in QUESTIONS[name](server, scale):
            print(said(line), flush=True)
            lines.append(line)
    return lines


def _machine(server: Server) -> str:
    with psycopg.connect(f"postgresql://postgres@127.0.0.1:{server.port}/postgres") as conn:
        version = conn.info.server_version // 10_000
    return (
        f"Postgres {version}, fsync on, over TCP; Python {platform.python_version()}, "
        f"psycopg {psycopg.__version__} ({psycopg.pq.__impl__}); {os.cpu_count()} processors"
    )


if __name__ == "__main__":
    main()
