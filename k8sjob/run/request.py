"""What to run, for which period, on which terms: all of it decided before anything is touched."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from k8sjob.duration import parse_duration
from k8sjob.errors import ConfigError, NoPeriod, UsageError
from k8sjob.key import JobName, Key
from k8sjob.ledger.contract import digest
from k8sjob.period import Period, zone
from k8sjob.run.target import Target
from k8sjob.states import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

_OUTPUT_BYTES = 2048


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One run. Durations are seconds, sizes are bytes."""

    target: Target
    key: Key
    source: str
    payload: bytes | None = None
    zone: str | None = None
    lock_timeout_s: float = 30.0
    fail_on: frozenset[Outcome] = frozenset()
    output_bytes: int = _OUTPUT_BYTES
    place: Mapping[str, str | None] = field(default_factory=dict)
    redact: Callable[[str], str] = str

    @property
    def payload_sha256(self) -> bytes | None:
        """The digest that must be the same at each try."""
        return digest(self.payload)

    @property
    def scheduled_for(self) -> datetime | None:
        """The nominal instant; None for a natural period whose zone is not known."""
        return self.key.period.scheduled_for(self.zone)


@dataclass(frozen=True, slots=True, kw_only=True)
class Flags:
    """The flags of the command line that have something to say here; None where not given."""

    job: str | None = None
    period: str | None = None
    payload: str | None = None
    time_zone: str | None = None
    namespace: str | None = None
    lock_timeout: str | None = None
    fail_on: str | None = None


def make_request(
    target: str | Target, flags: Flags, env: Mapping[str, str] | None = None
) -> Request:
    """Put flags and environment together. Raises UsageError, InvalidKey, NoPeriod, ConfigError."""
    env = os.environ if env is None else env
    period, source = _period(flags, env)
    zone_name = flags.time_zone or env.get("K8SJOB_TIME_ZONE") or None
    if zone_name:
        zone(zone_name)  # says what is wrong with the name before anything is started
    return Request(
        target=target if isinstance(target, Target) else Target.parse(target),
        key=Key(_job(flags, env), period),
        source=source,
        payload=_payload(flags.payload, env.get("K8SJOB_PAYLOAD")),
        zone=zone_name,
        lock_timeout_s=parse_duration(
            flags.lock_timeout or env.get("K8SJOB_LOCK_TIMEOUT") or "30s"
        ),
        fail_on=_fail_on(flags.fail_on or env.get("K8SJOB_FAIL_ON") or ""),
        output_bytes=_size(env.get("K8SJOB_OUTPUT_BYTES")),
        place={
            "job_uid": env.get("K8SJOB_JOB_UID") or None,
            "job_name": env.get("K8SJOB_JOB_NAME") or None,
            "pod_uid": env.get("K8SJOB_POD_UID") or None,
            "pod_name": env.get("K8SJOB_POD_NAME") or None,
            "node": env.get("K8SJOB_NODE") or None,
        },
    )


def _job(flags: Flags, env: Mapping[str, str]) -> JobName:
    namespace = flags.namespace or env.get("K8SJOB_NAMESPACE")
    name = flags.job or env.get("K8SJOB_JOB") or env.get("K8SJOB_CRONJOB")
    if not name:
        raise UsageError(
            "no job is named. Nothing was done.\n"
            "  Pass --job NAMESPACE/NAME, or set K8SJOB_JOB, or K8SJOB_NAMESPACE and "
            "K8SJOB_CRONJOB."
        )
    if "/" not in name and namespace:
        name = f"{namespace}/{name}"
    return JobName.parse(name)


def _period(flags: Flags, env: Mapping[str, str]) -> tuple[Period, str]:
    if flags.period:
        return Period.parse(flags.period), "--period"
    if text := env.get("K8SJOB_PERIOD"):
        return Period.parse(text), "K8SJOB_PERIOD"
    raise NoPeriod(
        "no period is known for this run. Nothing was done.\n"
        "  Pass --period, e.g. --period 2026-09-13T00:00:00Z (UTC), 2026-09-13, 2026-W37, "
        "2026-09 or once."
    )


def _payload(flag: str | None, variable: str | None) -> bytes | None:
    if flag is None:
        return variable.encode() if variable else None
    if not flag.startswith("@"):
        return flag.encode()
    try:
        with open(flag[1:], "rb") as file:  # noqa: PTH123  # no pathlib at start
            return file.read()
    except OSError as error:
        raise UsageError(f"--payload {flag}: {error.strerror}. Nothing was done.") from None


def _fail_on(text: str) -> frozenset[Outcome]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    allowed = [o for o in Outcome if not o.exit_code and o is not Outcome.APPLIED]
    if wrong := [name for name in names if name not in allowed]:
        raise ConfigError(
            f"K8SJOB_FAIL_ON: not an outcome that ends with 0: {', '.join(wrong)}. Nothing was "
            "done.\n"
            f"  Choose from {', '.join(allowed)}."
        )
    return frozenset(map(Outcome, names))


def _size(text: str | None) -> int:
    if not text:
        return _OUTPUT_BYTES
    if not text.isascii() or not text.isdigit():
        raise ConfigError(
            f"K8SJOB_OUTPUT_BYTES={text!r} is not a number of bytes. Nothing was done.\n"
            "  Set it to 2048, say; 0 keeps no output."
        )
    return int(text)
