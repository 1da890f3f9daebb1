"""A ledger whose free texts are as bad as they can be, and a job with the longest name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.serve.scene import HOUR, NOW, Painter, at

if TYPE_CHECKING:
    from tests.fix_stores import Connection

#: What people, programs and attackers may put where text is free.
SCRIPT = "<script>window.hacked = 1</script>"
QUOTES = "\"' onmouseover='window.hacked=1' x=\""
IMAGE = '"><img src=x onerror=window.hacked=1>'
#: Would turn the rest of the line around: U+202E, and marks that nothing strips.
TURNED = "gpj.\u202etxe\u2067 \u200f\u05e9\u05dc\u05d5\u05dd"
FOR_PRE = "</pre><script>window.hacked = 1</script><!--"

LONG_NAMESPACE, LONG_NAME = "n" * 63, "j" * 253
LONG = f"{LONG_NAMESPACE}/{LONG_NAME}"
HOSTILE = "hostile/job"


def paint(conn: Connection) -> None:
    """Make the jobs."""
    p = Painter(conn)
    p.job(HOSTILE, "0 2 * * *", owner=SCRIPT, severity=IMAGE, runbook="javascript:window.hacked=1")
    for number, text in enumerate((SCRIPT, QUOTES, IMAGE, TURNED), 1):
        period = f"2026-09-{number:02}T00:00:00Z"
        p.period(HOSTILE, period, "blocked", reason=text, indicator=QUOTES)
        p.tried(HOSTILE, period, at(f"2026-09-{number:02} 00:00"), outcome="failed", exit_code=1,
                message=text, tail=f"{FOR_PRE}\n{text}", pod_name=IMAGE)  # fmt: skip
        values = {"kind": "block", "from_state": "open", "to_state": "blocked", "by": SCRIPT}
        p.add("events", job=HOSTILE, period=period, at=NOW, reason=text, **values)
    p.period(f"{HOSTILE}/p@art=+~1", "2026-09-05T00:00:00Z", "open", reason=TURNED)
    p.add("holds", namespace="hostile", from_at=NOW - HOUR, set_at=NOW - HOUR, reason=IMAGE,
          set_by=SCRIPT)  # fmt: skip
    p.job("hostile/schedule", SCRIPT, zone=IMAGE)
    p.job(LONG, "0 2 * * *", owner="o" * 300)
    p.period(LONG, at("2026-09-10 00:00"), "open", reason="r" * 2000, deadline_at=at("2026-09-11"))
    p.passes()
    p.write()
