"""The shipped files, as a play loads them: only durations and addresses are others.

A minute becomes a second: each duration that says how often something is looked at, or how long
it has to last, is divided by `FACTOR`. Durations inside of expressions (``[1d]``, ``86400``) stay:
they are the rules' logic. Files are changed as text, line by line, and nothing is written anew.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.alerts.rulebook import ROOT, RULES, load

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FACTOR = 60
PROMETHEUS = ROOT / "examples" / "alerting" / "prometheus.yaml"
ALERTMANAGER = ROOT / "examples" / "alerting" / "alertmanager.yaml"

#: The keys whose values are shortened.
SHORTENED = (
    *("interval", "for"),  # of a group, of an alert
    *("scrape_interval", "evaluation_interval"),
    *("group_wait", "group_interval", "repeat_interval"),
)
_LINE = re.compile(rf"^( *(?:{'|'.join(SHORTENED)}): )([0-9]+)([smh])$", re.MULTILINE)
_MS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000}


def milliseconds(duration: str) -> int:
    """Return what a duration of one unit is, e.g. ``2m``, ``500ms``."""
    match = re.fullmatch(r"([0-9]+)(ms|s|m|h)", duration)
    assert match, duration
    return int(match[1]) * _MS[match[2]]


def shortened(text: str) -> str:
    """Return a file with its durations divided by `FACTOR`, and all else as it was."""
    return _LINE.sub(lambda m: f"{m[1]}{milliseconds(m[2] + m[3]) // FACTOR}ms", text)


def addressed(text: str, addresses: Mapping[str, str]) -> str:
    """Return a file with other addresses; each one that is replaced has to be in it."""
    for shipped, ours in addresses.items():
        assert shipped in text, f"{shipped} is not in the example any more"
        text = text.replace(shipped, ours)
    return text


def group_wait_s() -> float:
    """Return how long Alertmanager waits for more of a group, in seconds."""
    shipped: str = load(ALERTMANAGER)["route"]["group_wait"]
    return milliseconds(shipped) / 1000 / FACTOR


def rules() -> str:
    """Return the rules."""
    return shortened(RULES.read_text("utf-8"))


def prometheus(exporter: str, alertmanager: str) -> str:
    """Return the example that scrapes, with the addresses of both."""
    addresses = {
        "k8sjob-exporter.k8sjob.svc:8080": exporter,
        "alertmanager.monitoring.svc:9093": alertmanager,
    }
    return addressed(shortened(PROMETHEUS.read_text("utf-8")), addresses)


def alertmanager(webhook: str) -> str:
    """Return the example that tells people, who are all at ``webhook``; the paths stay."""
    addresses = {"https://chat.example": webhook, "https://pager.example": f"{webhook}/pager"}
    return addressed(shortened(ALERTMANAGER.read_text("utf-8")), addresses)


def write(folder: Path, exporter: str, alertmanager_at: str, webhook: str) -> None:
    """Write all three beside each other."""
    (folder / "alerts.yaml").write_text(rules(), "utf-8")
    (folder / "prometheus.yaml").write_text(prometheus(exporter, alertmanager_at), "utf-8")
    (folder / "alertmanager.yaml").write_text(alertmanager(webhook), "utf-8")
