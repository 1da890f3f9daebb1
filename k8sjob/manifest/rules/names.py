"""Rules about the labels and annotations of k8sjob: known, in their place, and readable."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

from k8sjob.errors import K8sjobError
from k8sjob.key import JobName
from k8sjob.kube import words
from k8sjob.manifest.rule import Found
from k8sjob.manifest.shown import bare, clip
from k8sjob.period import Period
from k8sjob.policy import READERS, read_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from k8sjob.manifest.case import Case
    from k8sjob.manifest.tree import Spot

#: On a CronJob or Job: the rules that were decided on, by name.
LINT_IGNORE: Final = words.PREFIX + "lint-ignore"
#: ``kubectl create job --from`` puts it on a Job.
_INSTANTIATE: Final = "cronjob.kubernetes.io/instantiate"

_ON_CRONJOB = {
    "labels": frozenset({words.ENABLED}),
    "annotations": frozenset({*READERS, LINT_IGNORE, words.INJECTED}),
}
_ON_JOB = {
    "labels": frozenset({words.BACKFILL, words.CRONJOB}),
    "annotations": frozenset({words.JOB, words.PERIOD, words.SUPERSEDES, LINT_IGNORE}),
}
#: What makes a scheduled Job pass for another one when a template gives it to each.
_JOBS_OWN = {
    words.PERIOD: "for that one period",
    words.SUPERSEDES: "as the one that replaces older periods",
    words.TIMESTAMP: "for that one instant, where the controller does not write over it",
    _INSTANTIATE: "as one made by hand",
    words.BACKFILL: "as a backfill",
    words.CRONJOB: "as a backfill",
}
_KNOWN = sorted(set().union(*_ON_CRONJOB.values(), *_ON_JOB.values()))
_WHERES = ("labels", "annotations")


def _ours(metadata: Spot, where: str) -> Iterator[tuple[str, Spot]]:
    return (
        (name, spot) for name, spot in metadata[where].entries() if name.startswith(words.PREFIX)
    )


def _templates(case: Case) -> tuple[tuple[str, Spot], ...]:
    """Return the metadata that each Job, or each Pod, of the CronJob gets."""
    if not case.is_cronjob:
        return ()
    return (
        ("the jobTemplate", case.template["metadata"]),
        ("the Pod's template", case.pod["metadata"]),
    )


# ------------------------------------------------------------------------------- which is known


def unknown_name(case: Case) -> Iterator[Found]:
    """Find a label or annotation of k8sjob.io that nothing reads."""
    for metadata in (case.metadata, *(spot for _, spot in _templates(case))):
        for where in _WHERES:
            for name, spot in _ours(metadata, where):
                if name not in _KNOWN:
                    yield Found(spot.at, f"nothing reads {bare(name)}: {_nearest(name, _KNOWN)}")


def _nearest(wrong: str, known: list[str]) -> str:
    near = get_close_matches(wrong[:80].lower(), known, n=1, cutoff=0.8)
    return f"write {near[0]}" if near else "take it away"


# ------------------------------------------------------------------------------ in which place


def job_only(case: Case) -> Iterator[Found]:
    """Find on a template what belongs on one Job."""
    for place, metadata in _templates(case):
        for where in _WHERES:
            for name, spot in metadata[where].entries():
                if name in _JOBS_OWN:
                    yield Found(
                        spot.at,
                        f"{name} stands in {place}, so every scheduled Job has it and may be taken "
                        f"{_JOBS_OWN[name]}: take it away",
                    )


def wrong_place(case: Case) -> Iterator[Found]:
    """Find a name of k8sjob where nothing looks for it."""
    if not case.is_cronjob:
        return
    for where, other in (_WHERES, _WHERES[::-1]):
        for name, spot in _ours(case.metadata, where):
            if name in _ON_CRONJOB[other]:
                yield _moved(spot, name, f"among the {where}", f"the {other}")
            elif name in _JOBS_OWN:
                yield Found(spot.at, f"{name} has no effect on a CronJob: take it away")
    for place, metadata in _templates(case):
        for where in _WHERES:
            for name, spot in _ours(metadata, where):
                home = next((w for w in _WHERES if name in _ON_CRONJOB[w]), None)
                if home and not case.metadata.under(home, name).present:
                    yield _moved(spot, name, f"in {place}", f"the CronJob's own {home}")


def _moved(spot: Spot, name: str, found: str, right: str) -> Found:
    return Found(spot.at, f"{name} stands {found}, where nothing looks for it: move it to {right}")


# -------------------------------------------------------------------------------- what it says


def bad_value(case: Case) -> Iterator[Found]:
    """Find a value that does not parse."""
    places = _ON_CRONJOB if case.is_cronjob else _ON_JOB
    for where in _WHERES:
        for name, spot in _ours(case.metadata, where):
            if name in places[where] and (fault := _fault(case, name, spot)):
                yield Found(spot.at, fault)


def _fault(case: Case, name: str, spot: Spot) -> str | None:
    text = spot.text if spot.present else ""  # as which Kubernetes takes null
    if text is None:
        instead = f'"{spot.value}"' if type(spot.value) is int else "it in quotes"
        return f"{name} is {spot.kind}, and Kubernetes takes texts only: write {instead}"
    try:
        _read(case, name, text)
    except K8sjobError as error:
        said = str(error)
        return said if name in said else f"{name}: {said}"
    return None


def _read(case: Case, name: str, text: str) -> None:
    if name in READERS:
        read_value(name, text)
    if name in _VALUES:
        _VALUES[name](case, text)


def _job(case: Case, text: str) -> None:
    name = JobName.parse(text if "/" in text else f"{case.namespace or 'default'}/{text}")
    if name.part is not None:
        raise K8sjobError(f"{words.JOB}: {clip(text)} names a part: write {name.job}")


def _period(_case: Case, text: str) -> None:
    Period.parse(text)


def _one_of(name: str, *allowed: str) -> Callable[[Case, str], None]:
    def check(_case: Case, text: str) -> None:
        if text not in allowed:
            wanted = " or ".join(f'"{word}"' for word in allowed)
            raise K8sjobError(
                f"label {name}: {clip(text)} counts for nothing, since it is compared letter by "
                f"letter: write {wanted}"
            )

    return check


#: What is checked beyond what `read_value` reads, or in its stead.
_VALUES: dict[str, Callable[[Case, str], None]] = {
    words.JOB: _job,
    words.ENABLED: _one_of(words.ENABLED, "true", "false"),
    words.BACKFILL: _one_of(words.BACKFILL, "true"),
    words.PERIOD: _period,
}


# --------------------------------------------------------------------------- what is silenced


def ignored(case: Case) -> list[str]:
    """Return the names of the rules that the object silences."""
    text = case.metadata.under("annotations", LINT_IGNORE).text or ""
    return [name.strip() for name in text.split(",") if name.strip()]


def unknown_rule(case: Case, known: list[str]) -> Iterator[Found]:
    """Find the name of a rule that there is not."""
    spot = case.metadata.under("annotations", LINT_IGNORE)
    for name in dict.fromkeys(ignored(case)):
        if name not in known:
            near = get_close_matches(name[:80].lower(), known, n=1)
            instead = f"write {near[0]}" if near else "take it away"
            yield Found(
                spot.at, f"{LINT_IGNORE}: there is no rule {clip(name)}: {instead} (docs/lint.md)"
            )
