"""The process under test: it supervises what the order on its command line says, and reports.

It runs by itself, since a supervisor reaps every child of its process.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
import threading
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from k8sjob.run.child import supervise

if TYPE_CHECKING:
    from collections.abc import Callable

logging.basicConfig(level=logging.INFO, format="k8sjob: %(message)s")


def say(word: str) -> None:
    """Write a line that the test waits for."""
    os.write(int(os.environ["WORDS"]), f"{word}\n".encode())


def _tick_and_fail() -> None:
    say("tick")
    raise SystemExit("no heartbeat")


def _tick_and_hang() -> None:
    say("tick")
    threading.Event().wait()


TICKS: dict[str, Callable[[], None] | None] = {
    "": None,
    "says": lambda: say("tick"),
    "fails": _tick_and_fail,
    "hangs": _tick_and_hang,
}


def peak_kb() -> int:
    """Return the most memory that this process ever had resident (VmHWM), in kB."""
    with open("/proc/self/status", encoding="ascii") as status:  # noqa: PTH123  # as the product
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))


def main(order: dict[str, Any]) -> None:
    """Carry out ``order``: every command in turn, each with the same settings."""
    for name, seconds in order["waits"].items():
        setattr(supervise, name, seconds)
    signal.pthread_sigmask(signal.SIG_BLOCK, order["blocked"])
    for number in order["pending"]:
        os.kill(os.getpid(), number)
    before = peak_kb()
    ends = [
        supervise.supervise(
            [word if word != "HUGE" else "x" * 200_000 for word in argv],
            env=os.environ | order["env"],
            stop_grace_s=order["grace_s"],
            output_bytes=order["output_bytes"],
            tick=TICKS[order["tick"]],
        )
        for argv in order["commands"]
    ]
    report = {
        "pid": os.getpid(),
        "grown_kb": peak_kb() - before,
        "still_blocked": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, ())),
        "term_is_default": signal.getsignal(signal.SIGTERM) == signal.SIG_DFL,
        "ends": [asdict(end) for end in ends],
    }
    with os.fdopen(int(os.environ["REPORT"]), "w") as file:
        json.dump(report, file)


main(json.loads(sys.argv[1]))
