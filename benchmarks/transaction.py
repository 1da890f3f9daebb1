"""What a claim costs beside the row that people write by hand."""

from __future__ import annotations

from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

from benchmarks.pairs import block, take_turns, timed
from benchmarks.report import Line, at_most
from benchmarks.work import AsTheRunner, ByHand, Claimed, ClaimedInSql

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.pairs import Rounds
    from benchmarks.scale import Scale
    from benchmarks.server import Database, Server

LIMIT, AIM = 1.25, 1.1


def measure(server: Server, scale: Scale) -> Iterator[Line]:
    """Compare the transactions one by one, over one connection each."""
    for mode in ("on", "off"):
        database = server.database(f"transaction_{mode}")
        server.settle()
        with ExitStack() as stack:
            rounds = _compare(stack, database, mode, scale)
        yield from _lines(rounds, mode)


def _compare(stack: ExitStack, database: Database, mode: str, scale: Scale) -> Rounds:
    by_hand, claimed, in_sql = (
        stack.enter_context(database.connect(synchronous_commit=mode)) for _ in range(3)
    )
    runner = stack.enter_context(closing(AsTheRunner(database, "bench/runner", mode)))
    rivals: dict[str, Callable[[], object]] = {
        "by hand": ByHand(by_hand, "bench/by-hand"),
        "claimed": Claimed(claimed, "bench/claimed"),
        "in SQL": ClaimedInSql(in_sql, "bench/in-sql"),
        "runner": runner,
    }
    blocks = {name: block(timed(do), scale.block) for name, do in rivals.items()}
    return take_turns(blocks, scale.rounds)


def _lines(rounds: Rounds, mode: str) -> Iterator[Line]:
    sync = f"synchronous_commit {mode}"
    by_hand = rounds.of("by hand")
    yield Line(f"transaction by hand, {sync}", by_hand.text(".0f", " us", 1e6))
    ratio = rounds.ratio("claimed", "by hand")
    question = f"claimed / by hand, {sync}"
    if mode == "on":
        yield at_most(question, ratio.median, LIMIT, ratio.text())
    else:
        yield Line(question, ratio.text())
    added = rounds.difference("claimed", "by hand")
    yield Line(f"a claim adds, {sync}", added.text(".0f", " us", 1e6))
    for name, words in (("in SQL", "SELECT k8sjob.claim()"), ("runner", "all that run sends")):
        yield Line(f"{words} / by hand, {sync}", rounds.ratio(name, "by hand").text())
