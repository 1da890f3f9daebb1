"""The rules: pure functions from a CronJob or Job to what will bite in it."""

from __future__ import annotations
