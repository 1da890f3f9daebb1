"""The annotation that says what was put in, so that it can be taken out: words, ``NAME=VALUE``."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from k8sjob.kube import words

if TYPE_CHECKING:
    from k8sjob.manifest.case import Case
    from k8sjob.manifest.tree import Spot

ENV_PREFIX: Final = "K8SJOB_"


class Mode(StrEnum):
    """Who speaks to the ledger: the job's own container, or two more beside it."""

    RUN = "run"
    SIDECAR = "sidecar"


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What was put into a CronJob.

    ``annotations`` and ``env`` are names without their prefix; ``wrap`` is how many words stand
    before the command; ``before`` has what stood where a map or list is now: ``{}``, ``null``.
    """

    mode: Mode
    container: str
    label: bool = False
    annotations: tuple[str, ...] = ()
    time_zone: str = ""
    policy: bool = False
    wrap: int = 0
    env: tuple[str, ...] = ()
    before: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        """Return the annotation's text."""
        pairs = {
            "mode": self.mode,
            "container": self.container,
            "label": "yes" if self.label else "",
            "annotations": ",".join(self.annotations),
            "time-zone": self.time_zone,
            "policy": "yes" if self.policy else "",
            "wrap": str(self.wrap or ""),
            "env": ",".join(self.env),
            **{f"was-{name}": text for name, text in self.before.items()},
        }
        return " ".join(f"{name}={text}" for name, text in pairs.items() if text)


def parse(text: str) -> Record | None:
    """Return what the annotation says; None where it is none of ours."""
    pairs = dict(word.partition("=")[::2] for word in text.split())
    mode, wrap = pairs.get("mode"), pairs.get("wrap", "0")
    if mode not in list(Mode) or not pairs.get("container") or not wrap.isdecimal():
        return None
    return Record(
        mode=Mode(mode),
        container=pairs["container"],
        label="label" in pairs,
        annotations=_several(pairs.get("annotations")),
        time_zone=pairs.get("time-zone", ""),
        policy="policy" in pairs,
        wrap=int(wrap),
        env=_several(pairs.get("env")),
        before={n.removeprefix("was-"): t for n, t in pairs.items() if n.startswith("was-")},
    )


def record_at(case: Case) -> Spot:
    """Return the place of the record."""
    return case.metadata.under("annotations", words.INJECTED)


def _several(text: str | None) -> tuple[str, ...]:
    return tuple(word for word in (text or "").split(",") if word)
