"""What a Prometheus says over its HTTP API (https://prometheus.io/docs/prometheus/2.42/querying/api)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode

from tests.seen.programs import get

if TYPE_CHECKING:
    from collections.abc import Mapping

_TROUBLES = (
    "prometheus_rule_evaluation_failures_total",
    "prometheus_target_scrapes_sample_",  # duplicates, out of order, out of bounds
    "prometheus_notifications_errors_total",
    "prometheus_notifications_dropped_total",
)


class Point(NamedTuple):
    """A sample as it was stored: unix seconds, and the value."""

    at: float
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """An alert as Prometheus has it now."""

    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    state: str
    active_at: str

    @property
    def job(self) -> str:
        """Whose alert it is."""
        return f"{self.labels.get('namespace')}/{self.labels.get('cronjob')}"


@dataclass(frozen=True, slots=True)
class Prometheus:
    """One that answers on a port."""

    port: int

    def value(self, query: str) -> float | None:
        """Return the value of a query that has one series or none."""
        found = self._result(query)
        assert len(found) < 2, found
        return float(found[0]["value"][1]) if found else None

    def points(self, selector: str) -> list[Point]:
        """Return the samples of one series or none, in order, as they were stored."""
        found = self._result(f"{selector}[10m]")
        assert len(found) < 2, found
        return [Point(at, float(value)) for one in found for at, value in one["values"]]

    def alerts(self, name: str) -> dict[str, Alert]:
        """Return the alerts of a name that are there now, by their jobs."""
        alerts = [
            Alert(
                labels=one["labels"],
                annotations=one["annotations"],
                state=one["state"],
                active_at=one["activeAt"],
            )
            for one in self._ask("/api/v1/alerts")["alerts"]
            if one["labels"]["alertname"] == name
        ]
        return {alert.job: alert for alert in alerts}

    def knows_alertmanager(self) -> bool:
        """Whether it has found whom to send alerts to."""
        return bool(self._ask("/api/v1/alertmanagers")["activeAlertmanagers"])

    def troubles(self) -> dict[str, float]:
        """Return its own counters of what went wrong with rules and samples, and is not 0."""
        _, body = get(self.port, "/metrics")
        lines = (line.rpartition(" ") for line in body.decode().splitlines() if line[0] != "#")
        return {name: float(n) for name, _, n in lines if float(n) and name.startswith(_TROUBLES)}

    def _result(self, query: str) -> list[Any]:
        found: list[Any] = self._ask(f"/api/v1/query?{urlencode({'query': query})}")["result"]
        return found

    def _ask(self, path: str) -> Any:
        status, body = get(self.port, path)
        assert status == 200, body
        return json.loads(body)["data"]
