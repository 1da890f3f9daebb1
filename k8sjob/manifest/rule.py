"""What a rule is, and what it finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from k8sjob.manifest.case import Case


class Found(NamedTuple):
    """One thing that a rule has found: where, and what happens and what to write instead."""

    at: int
    message: str


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule. Its name never changes, since manifests silence it by that name."""

    name: str
    check: Callable[[Case], Iterable[Found]]
    #: Whether it is about Jobs too, and not about CronJobs alone.
    jobs: bool = False
