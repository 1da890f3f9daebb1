"""Labels and annotations, by the names that Kubernetes and k8sjob give them."""

from __future__ import annotations

from typing import Final

PREFIX: Final = "k8sjob.io/"

# On the CronJob: how its periods are kept.
ENABLED: Final = PREFIX + "enabled"  # a label: the reconciler lists by it
JOB: Final = PREFIX + "job"
LEDGER: Final = PREFIX + "ledger"
CYCLE: Final = PREFIX + "cycle"
GRACE: Final = PREFIX + "grace"
CATCH_UP: Final = PREFIX + "catch-up"
CATCH_UP_MAX_COUNT: Final = PREFIX + "catch-up-max-count"
CATCH_UP_MAX_AGE: Final = PREFIX + "catch-up-max-age"
MANUAL_RUNS: Final = PREFIX + "manual-runs"
MAX_LATENESS: Final = PREFIX + "max-lateness"
MAX_DURATION: Final = PREFIX + "max-duration"
RETENTION: Final = PREFIX + "retention"
OWNER: Final = PREFIX + "owner"
SEVERITY: Final = PREFIX + "severity"
RUNBOOK: Final = PREFIX + "runbook"
INJECTED: Final = PREFIX + "injected"  # what `k8sjob inject` has put into it

# On a Job that backfill or catch-up has made.
PERIOD: Final = PREFIX + "period"
SUPERSEDES: Final = PREFIX + "supersedes"
BACKFILL: Final = PREFIX + "backfill"  # a label, "true"
CRONJOB: Final = PREFIX + "cronjob"  # a label: no other one tells whose template it was

# Kubernetes' own (https://kubernetes.io/docs/reference/labels-annotations-taints/).
TIMESTAMP: Final = "batch.kubernetes.io/cronjob-scheduled-timestamp"
JOB_NAME_LABEL: Final = "batch.kubernetes.io/job-name"
CONTROLLER_UID_LABEL: Final = "batch.kubernetes.io/controller-uid"
