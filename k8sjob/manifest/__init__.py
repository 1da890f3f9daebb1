"""Manifests: CronJobs and Jobs as people write them, and what will bite in them.

Each rule has a name and is described in ``docs/lint.md``.
"""
