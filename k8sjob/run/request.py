"""What to run, for which period, on which terms: all of it decided before anything is touched."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from k8sjob.duration import parse_duration
from k8sjob.errors import ConfigError, UsageError
from k8sjob.ledger.contract import digest
from k8sjob.run.origin.sources import passed, read_asked
from k8sjob.run.target import Target
from k8sjob.states import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from k8sjob.key import Key, KeyRange
    from k8sjob.run.origin.sources import Asked, Resolved

_OUTPUT_BYTES = 2048


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One run. Durations are seconds, sizes are bytes.

    ``window_end`` (aware UTC) is that of a scheduled period, where the schedule is known.
    ``unchecked``: the period was passed, and nobody has looked yet whether it is on the schedule;
    ``off_schedule``: it need not be. ``late``: why it is skipped instead. ``supersedes``: the
    periods that this one makes needless.
    """

    target: Target
    key: Key
    source: str
    payload: bytes | None = None
    zone: str | None = None
    window_end: datetime | None = None
    unchecked: bool = False
    off_schedule: bool = False
    late: str | None = None
    supersedes: KeyRange | None = None
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
    off_schedule: bool = False
    reason: str | None = None
    payload: str | None = None
    time_zone: str | None = None
    namespace: str | None = None
    lock_timeout: str | None = None
    fail_on: str | None = None


def make_request(
    target: str | Target,
    flags: Flags,
    env: Mapping[str, str] | None = None,
    *,
    resolve: Callable[[Asked], Resolved] = passed,
) -> Request:
    """Put flags and environment together with the period, which ``resolve`` finds last.

    Raises UsageError, InvalidKey, NoPeriod, ConfigError, and what ``resolve`` does.
    """
    env = os.environ if env is None else env
    asked = read_asked(flags, env)
    what = target if isinstance(target, Target) else Target.parse(target)
    payload = _payload(flags.payload, env.get("K8SJOB_PAYLOAD"))
    timeout = parse_duration(flags.lock_timeout or env.get("K8SJOB_LOCK_TIMEOUT") or "30s")
    fail_on = _fail_on(flags.fail_on or env.get("K8SJOB_FAIL_ON") or "")
    size = _size(env.get("K8SJOB_OUTPUT_BYTES"))
    resolved = resolve(asked)
    return Request(
        target=what,
        key=resolved.key,
        source=resolved.source,
        payload=payload,
        zone=resolved.zone,
        window_end=resolved.window_end,
        unchecked=resolved.explicit,
        off_schedule=resolved.off_schedule,
        late=resolved.late,
        supersedes=resolved.supersedes,
        lock_timeout_s=timeout,
        fail_on=fail_on,
        output_bytes=size,
        place=_place(resolved, env),
    )


def _place(resolved: Resolved, env: Mapping[str, str]) -> dict[str, str | None]:
    return {
        "job_uid": resolved.job_uid,
        "job_name": resolved.job_name,
        "pod_uid": env.get("K8SJOB_POD_UID") or None,
        "pod_name": env.get("K8SJOB_POD_NAME") or None,
        "node": env.get("K8SJOB_NODE") or None,
    }


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
