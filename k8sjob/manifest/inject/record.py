"""The annotation that says what was put in, so that it can be taken out: words, ``NAME=VALUE``."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from k8sjob.kube import words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from k8sjob.manifest.case import Case
    from k8sjob.manifest.tree import Spot

ENV_PREFIX: Final = "K8SJOB_"
_LISTS: Final = ("env", "mounts", "init", "volumes")


class Mode(StrEnum):
    """Who speaks to the ledger: the job's own container, or two more beside it."""

    RUN = "run"
    SIDECAR = "sidecar"


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What was put into a CronJob.

    ``annotations`` and ``env`` are by names without their prefix; ``wrap`` is how many words stand
    before the command; ``before`` has what stood where a map or list is now: ``{}``, ``null``.
    The pieces that a person may change have their sums (`k8sjob.manifest.inject.sums`): ``policy``,
    ``front`` of the words before the command, and each item of a list. Where one is not known, the
    piece is taken for what was put in.
    """

    mode: Mode
    container: str
    label: bool = False
    annotations: tuple[str, ...] = ()
    time_zone: str = ""
    policy: str = ""
    wrap: int = 0
    front: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    mounts: Mapping[str, str] = field(default_factory=dict)
    init: Mapping[str, str] = field(default_factory=dict)
    volumes: Mapping[str, str] = field(default_factory=dict)
    before: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        """Return the annotation's text."""
        pairs = {
            "mode": self.mode,
            "container": self.container,
            "label": "yes" if self.label else "",
            "annotations": ",".join(self.annotations),
            "time-zone": self.time_zone,
            "policy": self.policy,
            "wrap": str(self.wrap or ""),
            "front": self.front,
            **{name: _joined(getattr(self, name)) for name in _LISTS},
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
        policy=pairs.get("policy", ""),
        wrap=int(wrap),
        front=pairs.get("front", ""),
        **{name: _with_sums(pairs.get(name)) for name in _LISTS},
        before={n.removeprefix("was-"): t for n, t in pairs.items() if n.startswith("was-")},
    )


def record_at(case: Case) -> Spot:
    """Return the place of the record."""
    return case.metadata.under("annotations", words.INJECTED)


def _several(text: str | None) -> tuple[str, ...]:
    return tuple(word for word in (text or "").split(",") if word)


def _joined(sums: Mapping[str, str]) -> str:
    return ",".join(f"{name}:{one}" if one else name for name, one in sums.items())


def _with_sums(text: str | None) -> dict[str, str]:
    pairs = (word.partition(":") for word in _several(text))
    return {name: one for name, _, one in pairs}
