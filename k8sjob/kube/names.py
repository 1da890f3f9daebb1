"""Names of Jobs: those that the CronJob controller gives, and those that backfill gives.

=========== ============================================== ===================================
made by     name                                           example
=========== ============================================== ===================================
controller  ``<cronjob>-<minutes since 1970>``             ``daily-credit-29818080``
backfill    ``<cronjob>-bf-<period>-<generation>-<try>``   ``daily-credit-bf-20260911-0-1``
=========== ============================================== ===================================

The controller's form is measured (Kubernetes 1.34, pkg/controller/cronjob/utils.go ``getJobName``);
minutes have had eight digits since 1989 and will until 2160. A backfill's name is a function of
key, generation and try, so a second create of it meets the first. It never looks like the
controller's: a Job in the place of a slot's makes the CronJob lose that slot.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from k8sjob.cycle import Cycle
from k8sjob.errors import InvalidKey

if TYPE_CHECKING:
    from k8sjob.key import Key
    from k8sjob.period import Period

#: A Job's name has 63 characters at most (it becomes a label), an Indexed Job's Pods append an
#: index: five digits and a hyphen are kept free for that.
LONGEST = 57

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MINUTE = timedelta(minutes=1)
_SLOT = re.compile("[1-9][0-9]{7}")
#: Seven digits at most: a name that ends in eight is the controller's.
_LAST_TRY = 9_999_999
_END = re.compile(r"-(0|[1-9][0-9]{0,9})-([1-9][0-9]{0,6})\Z")


def slot_name(cronjob: str, instant: datetime) -> str:
    """Return the name that the controller gives to the Job of the slot at an aware ``instant``.

    Seconds, which only ``@every`` has, do not count. Raises InvalidKey for a naive instant.
    """
    if instant.utcoffset() is None:
        raise InvalidKey(
            f"{instant!r} is not an instant with a time zone, so it is no slot of {cronjob} and "
            "nothing was done: pass an aware datetime."
        )
    return f"{cronjob}-{(instant - _EPOCH) // _MINUTE}"


def is_slot_name(name: str, cronjob: str, instant: datetime) -> bool:
    """Whether a Job of this name is the one that the controller made for ``instant``."""
    return name == slot_name(cronjob, instant)


def slot_of(name: str, cronjob: str) -> datetime | None:
    """Return the slot of a Job by its name, in UTC and whole minutes; None: it is no slot's name.

    Of ten digits (seconds, which the controller wrote before Kubernetes 1.21) and of names of Pods
    nothing is believed.
    """
    minutes = name.removeprefix(f"{cronjob}-")
    if minutes == name or not _SLOT.fullmatch(minutes):
        return None
    return _EPOCH + int(minutes) * _MINUTE


def backfill_name(cronjob: str, key: Key, generation: int, try_: int) -> str:
    """Return the name of the Job that does ``key`` again, of at most `LONGEST` characters.

    The job is usually called as its CronJob is. Where it is not, and where the name would be too
    long, eight digits of the key's SHA-256 keep it apart from the names of other keys.
    Raises InvalidKey for a generation below 0, and a try below 1 or of more than seven digits.
    """
    if generation < 0 or not 1 <= try_ <= _LAST_TRY:
        raise InvalidKey(
            f"generation {generation}, try {try_} of {key} has no name, so no Job was made: "
            f"generations count from 0, tries from 1 to {_LAST_TRY}."
        )
    end = f"-{_stamp(key.period)}-{generation}-{try_}"
    name = f"{cronjob}-bf{end}"
    if len(name) <= LONGEST and (key.job.name, key.job.part) == (cronjob, None):
        return name
    end = f"-bf-{_digest(key)}{end}"
    return cronjob[: LONGEST - len(end)].rstrip("-.") + end


def is_backfill_name(name: str, cronjob: str, key: Key) -> bool:
    """Whether a Job of this name does ``key``, whichever its generation and try."""
    end = _END.search(name)
    return end is not None and name == backfill_name(cronjob, key, int(end[1]), int(end[2]))


def _stamp(period: Period) -> str:
    """Return the period's text in the letters of a DNS label, without what says nothing."""
    text = str(period).lower().replace("-", "").replace(":", "")
    if period.cycle is not Cycle.SCHEDULED:
        return text
    day, _, clock = text.removesuffix("z").partition("t")
    clock = clock.removesuffix("00")
    return day if clock == "0000" else f"{day}t{clock}"


def _digest(key: Key) -> str:
    from hashlib import sha256  # noqa: PLC0415  # loads OpenSSL; most names do without

    return sha256(str(key).encode()).hexdigest()[:8]
