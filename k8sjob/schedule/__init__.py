"""Schedules: when a CronJob fires, by the controller's own rules and no others.

::

    schedule = k8sjob.schedule.parse("30 2 * * *", "Europe/Berlin")
    schedule.next(datetime.now(UTC))

The rules are those of robfig/cron v3.0.1, which the CronJob controller calls. They decide, and not
what a crontab would do: a time that clocks jump over is left out, one that they show twice fires
twice, and the two day fields are joined by OR unless one is a star.
"""

from __future__ import annotations

from k8sjob.schedule.schedule import Schedule, parse

__all__ = ["Schedule", "parse"]
