"""What a person asks for, and what of it can be checked before anything is looked up. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from k8sjob.errors import UsageError

if TYPE_CHECKING:
    from k8sjob.key import JobName

#: More periods than this in one command are a slip.
MOST_PERIODS = 10_000

_WINDOW = "--from 2026-09-10 --to 2026-09-14"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One command. ``start`` and ``end`` are the texts of --from and --to, both ends in.

    ``most`` is how many Jobs may be created. ``reason`` goes with ``off_schedule``. ``local``: the
    periods run in this process, and no Jobs are made. ``ledger`` is the name that was given.
    """

    job: JobName
    start: str | None = None
    end: str | None = None
    missing: bool = False
    off_schedule: bool = False
    reason: str | None = None
    most: int = 100
    local: bool = False
    ledger: str | None = None

    @property
    def again(self) -> str:
        """The command that asks for the same."""
        which = "--missing" if self.missing else f"--from {self.start} --to {self.end}"
        reason = f' --off-schedule --reason "{self.reason}"' if self.off_schedule else ""
        ledger = f" --ledger {self.ledger}" if self.ledger else ""
        return f"k8sjob backfill {self.job} {which}{reason}{ledger}"


def check(asked: Asked) -> None:
    """Refuse, with UsageError, what does not fit together."""
    if asked.job.part is not None:
        raise UsageError(
            f"{asked.job} is a part, and parts are done by their job. Nothing was done.\n"
            f"  Write {asked.job.job}."
        )
    if asked.missing and (asked.start or asked.end):
        raise UsageError(
            "--missing says which periods, and --from or --to says it too. Nothing was done.\n"
            "  Take one of the two."
        )
    if not asked.missing and not (asked.start and asked.end):
        one = asked.start or asked.end
        raise UsageError(
            "it is not said which periods. Nothing was done.\n"
            f"  Add {f'--from {one} --to {one}' if one else _WINDOW}, both ends in, or --missing."
        )
    _check_off_schedule(asked)


def _check_off_schedule(asked: Asked) -> None:
    if not asked.off_schedule:
        return
    if asked.start != asked.end or asked.missing:
        raise UsageError(
            "--off-schedule is for a single period that is named. Nothing was done.\n"
            "  Give it to --from and to --to, e.g. --from 2026-09-10T02:00:00Z "
            "--to 2026-09-10T02:00:00Z"
        )
    if not (asked.reason and asked.reason.strip()):
        raise UsageError(
            "a period off the schedule needs a reason. Nothing was done.\n"
            '  Add --reason "…": in one line, why; whoever finds it later has only this.'
        )
