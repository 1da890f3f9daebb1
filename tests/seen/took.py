"""What lies between a deadline and the message about it, from what Prometheus has stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.seen import files
from tests.seen.programs import until

if TYPE_CHECKING:
    from datetime import datetime

    from tests.seen.prometheus import Prometheus

#: The alert that plays are about.
ALERT = "K8sjobPeriodMissing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Took:
    """Seconds, one after the other; together they are the whole time.

    ``answer`` is what the scrape itself took, from asking to reading: it is in none of the others.
    """

    scrape: float
    exporter: float
    evaluation: float
    lasts: float
    group_wait: float
    delivery: float
    answer: float

    @property
    def whole(self) -> float:
        """From the deadline to the message."""
        seen = self.scrape + self.exporter + self.evaluation
        return seen + self.lasts + self.group_wait + self.delivery

    def line(self, what: str) -> str:
        """Return the line of a report."""
        return (
            f"{what}: {self.whole:.2f} s = next scrape {self.scrape:.2f} + exporter "
            f"{self.exporter:.2f} + evaluation {self.evaluation:.2f} + for {self.lasts:.2f} + "
            f"group wait {self.group_wait:.2f} + delivery {self.delivery:.2f}; "
            f"a scrape took {self.answer:.2f}"
        )


def take_apart(prometheus: Prometheus, job: str, deadline: datetime, came: float) -> Took:
    """Return what the time from a job's deadline to the message that ``came`` went to.

    ``exporter`` is what goes by between the first scrape after the deadline and the one that says
    so: 0, or a scrape interval where that scrape was given a snapshot from before. An evaluation
    may have the time of a scrape that is still being read, and so begin a little before its end.
    """
    namespace, _, cronjob = job.partition("/")
    of_job = f'namespace="{namespace}",cronjob="{cronjob}"'
    says = f'k8sjob_oldest_unfinished_deadline_timestamp_seconds{{{of_job},state="missing"}}'
    lasted = 'scrape_duration_seconds{job="k8sjob"}'
    due = deadline.timestamp()
    scraped = min(p.at for p in prometheus.points('up{job="k8sjob"}') if p.at >= due)
    said = min(p.at for p in prometheus.points(says) if p.value == due)
    alert = f'ALERTS{{{of_job},alertname="{ALERT}"'
    pending = prometheus.points(f'{alert},alertstate="pending"}}')[0].at
    # It is sent before it is stored.
    fires = f'{alert},alertstate="firing"}}'
    firing = until("it is stored that it fires", lambda: prometheus.points(fires))[0].at
    wait = files.group_wait_s()
    return Took(
        scrape=scraped - due,
        exporter=said - scraped,
        evaluation=pending - said,
        lasts=firing - pending,
        group_wait=wait,
        delivery=came - firing - wait,
        answer=next(p.value for p in prometheus.points(lasted) if p.at == said),
    )
