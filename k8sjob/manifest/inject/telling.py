"""What an injection has done, in lines for people."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from k8sjob.manifest.shown import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from k8sjob.manifest.inject.injecting import Result


def refusals(file: str, result: Result) -> Iterator[str]:
    """Return a line for each thing that could not be done."""
    for line, what in result.refusals:
        place = "" if line is None else f":{line}"
        yield f"{one_line(file)}{place}: {what}"


def lines(file: str, result: Result) -> Iterator[str]:
    """Return for each CronJob what came of it: ``+`` was put in, ``!`` a person looks at."""
    for told in result.told:
        why = f": {told.why}" if told.why else ""
        yield f"{one_line(file)}:{told.line} {told.title}: {told.verb}{why}"
        yield from (f"  + {one_line(note)}" for note in told.notes)
        yield from (f"  ! {one_line(warning)}" for warning in told.warnings)


def accounts(results: Iterable[Result]) -> Iterator[str]:
    """Return what gives the service accounts the one right that a Pod needs, to be pasted."""
    found = {told.account: None for one in results for told in one.told if told.account}
    if found:
        yield "each service account has to be allowed to get Jobs; where it is not yet:"
    made = set()
    for namespace, name in found:
        place, whose = (f" -n {namespace}", namespace) if namespace else ("", "NAMESPACE")
        if namespace not in made:
            yield f"  kubectl create role k8sjob-entrypoint{place} --verb=get --resource=jobs.batch"
        made.add(namespace)
        yield (
            f"  kubectl create rolebinding k8sjob-entrypoint-{name}{place} "
            f"--role=k8sjob-entrypoint --serviceaccount={whose}:{name}"
        )


def summary(results: list[Result]) -> str:
    """Return how many CronJobs came to what, in a line."""
    verbs = Counter(told.verb for result in results for told in result.told)
    files = f"{len(results)} file{'' if len(results) == 1 else 's'}"
    if not verbs:
        return f"no CronJob in {files}"
    seen = ", ".join(f"{count} {verb}" for verb, count in verbs.items())
    return f"CronJobs of {files}: {seen}"
