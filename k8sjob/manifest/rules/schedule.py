"""Rules about the schedule and its time zone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from k8sjob.kube import words
from k8sjob.manifest.rule import Found
from k8sjob.manifest.rules import times
from k8sjob.manifest.shown import bare, clip
from k8sjob.schedule.explain import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from k8sjob.manifest.case import Case

_MINUTE = 60
#: https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/#starting-deadline
_SHORT = 10


def bad_schedule(case: Case) -> Iterator[Found]:
    """Find a schedule that is none."""
    spot = case.spec["schedule"]
    if not spot.present:
        yield Found(
            spot.at,
            "it has no spec.schedule, which Kubernetes refuses: write one; if this is a patch, "
            "lint what comes of it (kustomize build . | k8sjob lint -)",
        )
    elif spot.text is None:
        yield Found(
            spot.at,
            f"the schedule is {spot.kind} and no text, which Kubernetes refuses: write five "
            'fields in quotes, e.g. "30 2 * * *"',
        )
    elif error := times.reading(case).error:
        yield Found(spot.at, f"Kubernetes refuses this: {error}")


def zone_in_schedule(case: Case) -> Iterator[Found]:
    """Find TZ= and CRON_TZ=, which the API server refuses since Kubernetes 1.29."""
    spot = case.spec["schedule"]
    found = times.written(spot.text) if spot.text is not None else None
    if found is None or found.zone is None:
        return
    wanted = case.spec["timeZone"].text or found.zone or times.DEFAULT_ZONE
    fault = times.zone_error(wanted) if wanted == found.zone else None
    note = f" ({fault})" if fault else ""
    if wanted != found.zone and found.zone:
        note = f" (the schedule says {clip(found.zone)}: keep the one that is meant)"
    yield Found(
        spot.at,
        "the time zone stands in the schedule, where Kubernetes refuses it: write "
        f'schedule: "{bare(found.schedule or "30 2 * * *")}" and below it '
        f"timeZone: {bare(wanted)}{note}",
    )


def every(case: Case) -> Iterator[Found]:
    """Find ``@every``."""
    reading = times.reading(case)
    for remark in reading.about(Kind.EVERY):
        tracked = case.metadata.under("labels", words.ENABLED).text == "true"
        seconds = reading.schedule.every if reading.schedule else None
        lost = " Of two starts within one minute the second is lost."
        yield Found(
            case.spec["schedule"].at,
            f"{remark.text}{' The reconciler refuses it.' if tracked else ''}"
            f"{lost if seconds and seconds < _MINUTE else ''} {remark.advice}",
        )


def never_fires(case: Case) -> Iterator[Found]:
    """Find a schedule that no day fits."""
    return _remarked(case, Kind.NEVER)


def fires_twice(case: Case) -> Iterator[Found]:
    """Find a time that clocks show twice; harmless where the period is the day."""
    return iter(()) if times.has_natural_cycle(case) else _remarked(case, Kind.TWICE)


def left_out(case: Case) -> Iterator[Found]:
    """Find a time that clocks leave out, or that the controller steps over."""
    return _remarked(case, Kind.LEFT_OUT, Kind.PASSED_OVER)


def astray(case: Case) -> Iterator[Found]:
    """Find a fire at a time that the schedule does not name."""
    return _remarked(case, Kind.ASTRAY)


def either_day(case: Case) -> Iterator[Found]:
    """Find day fields that are joined by OR."""
    return _remarked(case, Kind.EITHER_DAY)


def _remarked(case: Case, *kinds: Kind) -> Iterator[Found]:
    """Say in one finding what the preview of the schedule says of these kinds."""
    found = times.reading(case).about(*kinds)
    sentences = dict.fromkeys([r.text for r in found] + [r.advice for r in found])
    if sentences:
        yield Found(case.spec["schedule"].at, " ".join(sentences))


def no_time_zone(case: Case) -> Iterator[Found]:
    """Find a CronJob that leaves its zone to the controller."""
    reading = times.reading(case)
    if case.spec["timeZone"].present or reading.schedule is None or reading.schedule.every:
        return
    if times.zone_name(case) is None:
        yield Found(
            case.spec.at,
            "without timeZone the schedule is read in the zone of the cluster's controller, "
            "whichever that is: write timeZone: Etc/UTC, or the zone that is meant",
        )


def unknown_time_zone(case: Case) -> Iterator[Found]:
    """Find a zone that is not in the IANA database, letter by letter."""
    spot = case.spec["timeZone"]
    if not spot.present:
        return
    if not spot.text:
        what = "is empty" if spot.text == "" else f"is {spot.kind} and no text"
        yield Found(
            spot.at, f"timeZone {what}, which Kubernetes refuses: write e.g. timeZone: Etc/UTC"
        )
    elif error := times.zone_error(spot.text):
        yield Found(spot.at, f"Kubernetes refuses this: {error}")


def starting_deadline_zero(case: Case) -> Iterator[Found]:
    """Find a deadline within which nothing can be started."""
    spot = case.spec["startingDeadlineSeconds"]
    if spot.number == 0:
        yield Found(
            spot.at,
            "with startingDeadlineSeconds: 0 nothing is ever started, and Kubernetes takes it "
            "without a word: take it away, or write 60 or more",
        )


def starting_deadline_short(case: Case) -> Iterator[Found]:
    """Find a deadline that may be, or is, too short for anything to be started."""
    spot = case.spec["startingDeadlineSeconds"]
    seconds, schedule = spot.number, times.reading(case).schedule
    if not seconds or seconds < 0:
        return
    delay = schedule.every if schedule else None
    if delay and seconds < delay:
        yield Found(
            spot.at,
            f"startingDeadlineSeconds: {seconds} is less than the {delay} s of @every, and so "
            f"nothing is ever started: write {delay} or more",
        )
    elif seconds < _SHORT:
        yield Found(
            spot.at,
            f"startingDeadlineSeconds: {seconds} is less than {_SHORT}: Kubernetes' own "
            "documentation says that the CronJob may not be scheduled then: write 60 or more",
        )
