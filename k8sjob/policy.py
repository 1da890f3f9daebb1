"""How a job wants its periods kept: the annotations of its CronJob, read and checked. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from k8sjob.cycle import Cycle
from k8sjob.duration import parse_duration
from k8sjob.errors import ConfigError, K8sjobError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PREFIX: Final = "k8sjob.io/"

#: Without annotations of its own, a job's catch-up starts this many Jobs within this many seconds.
CATCH_UP_MAX_COUNT, CATCH_UP_MAX_AGE_S = 10, 7 * 86400.0

_COUNT = re.compile("0*([1-9][0-9]{0,3}|10000)")


class CatchUp(StrEnum):
    """What happens by itself to a period that was missed."""

    FLAG = "flag"
    SKIP = "skip"
    EVERY = "every"
    LATEST = "latest"


class ManualRuns(StrEnum):
    """Which period a Job stands for that a person has made from the CronJob."""

    REFUSE = "refuse"
    OLDEST_MISSING = "oldest-missing"
    LATEST_MISSING = "latest-missing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The annotations of one CronJob; None where it has none. Durations are seconds."""

    job: str | None = None
    ledger: str | None = None
    cycle: Cycle | None = None
    grace_s: float | None = None
    catch_up: CatchUp = CatchUp.FLAG
    catch_up_max_count: int = CATCH_UP_MAX_COUNT
    catch_up_max_age_s: float = CATCH_UP_MAX_AGE_S
    manual_runs: ManualRuns | None = None
    max_lateness_s: float | None = None
    max_duration_s: float | None = None
    retention_s: float | None = None
    owner: str | None = None
    severity: str | None = None
    runbook: str | None = None


def _word(kind: type[StrEnum]) -> Callable[[str], Any]:
    def read(text: str) -> StrEnum:
        if text not in list(kind):
            raise ConfigError(f"write {', '.join(kind)}")
        return kind(text)

    return read


def _duration(text: str) -> float:
    seconds = parse_duration(text)
    if seconds < 1:
        raise ConfigError("write a second or more, e.g. 5m")
    return seconds


def _count(text: str) -> int:
    match = _COUNT.fullmatch(text)  # int() itself refuses thousands of digits
    if match is None:
        raise ConfigError("write a whole number from 1 to 10000")
    return int(match[1])


def _text(text: str) -> str:
    if not text.strip():
        raise ConfigError("write something, or take the annotation away")
    return text.strip()


#: Field of `Policy` and how its text is read, by the annotation's name.
READERS: Final[Mapping[str, tuple[str, Callable[[str], Any]]]] = {
    PREFIX + name: (field, reader)
    for name, field, reader in (
        ("job", "job", _text),
        ("ledger", "ledger", _text),
        ("cycle", "cycle", _word(Cycle)),
        ("grace", "grace_s", _duration),
        ("catch-up", "catch_up", _word(CatchUp)),
        ("catch-up-max-count", "catch_up_max_count", _count),
        ("catch-up-max-age", "catch_up_max_age_s", _duration),
        ("manual-runs", "manual_runs", _word(ManualRuns)),
        ("max-lateness", "max_lateness_s", _duration),
        ("max-duration", "max_duration_s", _duration),
        ("retention", "retention_s", _duration),
        ("owner", "owner", _text),
        ("severity", "severity", _text),
        ("runbook", "runbook", _text),
    )
}


def read_policy(annotations: Mapping[str, str]) -> Policy:
    """Return what a CronJob's annotations say; those of others are passed over.

    Raises:
        ConfigError: a value does not parse; the message has the annotation and what to write.
    """
    found = {
        READERS[name][0]: read_value(name, text)
        for name, text in annotations.items()
        if name in READERS
    }
    return Policy(**found)


def read_value(name: str, text: str) -> Any:
    """Return the value of one annotation of `READERS`. Raises ConfigError."""
    try:
        return READERS[name][1](text)
    except K8sjobError as error:
        raise ConfigError(
            f"annotation {name}: {text!r} does not parse, so it was not taken: {error}"
        ) from None


def read_manual_runs(text: str) -> ManualRuns:
    """Return the policy of that name. Raises ConfigError."""
    found: ManualRuns = read_value(PREFIX + "manual-runs", text)
    return found
