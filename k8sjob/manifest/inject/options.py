"""What is asked of an injection, and what an earlier one was asked. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from k8sjob.errors import UsageError
from k8sjob.key import JobName
from k8sjob.manifest.inject.record import Mode
from k8sjob.policy import PREFIX, READERS, read_policy
from k8sjob.version import __version__
from k8sjob.zones import zone

if TYPE_CHECKING:
    from collections.abc import Mapping

#: The Secret and its key that the chart k8sjob-jobs reads too.
SECRET, KEY = "k8sjob-ledger", "runner"
IMAGE: Final = f"k8sjob:{__version__}"
#: Words of annotations, in the order of `READERS`.
NAMES: Final = tuple(name.removeprefix(PREFIX) for name in READERS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What is asked; None where nothing is said, and then it stays as it is.

    ``annotations`` are by their names without the prefix. ``claims``: the command claims its
    period by itself. ``only``: names of the CronJobs that are meant, all if there are none.
    """

    mode: Mode | None = None
    container: str | None = None
    claims: bool | None = None
    image: str | None = None
    secret: str | None = None
    key: str | None = None
    time_zone: str | None = None
    annotations: Mapping[str, str] = field(default_factory=dict)
    only: tuple[str, ...] = ()

    def check(self) -> None:
        """Raise UsageError or ConfigError for what cannot be written."""
        read_policy({PREFIX + name: text for name, text in self.annotations.items()})
        for name, text in self.annotations.items():
            if not text.isprintable():
                raise UsageError(
                    f"--{name} {text!r} is not one line of text. Nothing was changed.\n"
                    "  Write it without line breaks and other control characters."
                )
        if job := self.annotations.get("job"):
            _check_job(job)
        if self.time_zone is not None:
            zone(self.time_zone)
        if self.image is not None and self.mode is Mode.RUN:
            raise UsageError(
                "--image is for --mode sidecar: in mode run the job's own image has k8sjob in it. "
                "Nothing was changed.\n  Leave --image out, or pass --mode sidecar."
            )
        for flag, word in (("container", self.container), ("image", self.image),
                           ("secret", self.secret), ("key", self.key)):  # fmt: skip
            if word is not None and (not word or not word.isprintable() or " " in word):
                raise UsageError(
                    f"--{flag} {word!r} is no name. Nothing was changed.\n"
                    "  Write one without spaces, or leave the option out."
                )


def _check_job(text: str) -> None:
    name = JobName.parse(text if "/" in text else f"default/{text}")
    if name.part is not None:
        raise UsageError(f"--job {text} names a part. Nothing was changed.\n  Write {name.job}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What holds for one CronJob, once its earlier injection has been asked too."""

    mode: Mode
    container: str | None
    claims: bool
    image: str
    secret: str
    key: str
    has_secret: bool
    time_zone: str | None
    annotations: Mapping[str, str]


def together(options: Options, before: Options) -> Asked:
    """Return what is asked now, and for the rest what was before."""
    mode = options.mode or before.mode or Mode.RUN
    claims = before.claims if options.claims is None else options.claims
    return Asked(
        mode=mode,
        container=options.container or before.container,
        claims=bool(claims),
        image=options.image or before.image or IMAGE,
        secret=options.secret or before.secret or SECRET,
        key=options.key or (before.key if options.secret is None else None) or KEY,
        has_secret=bool(options.secret or before.secret),
        time_zone=options.time_zone or before.time_zone,
        annotations={**before.annotations, **options.annotations},
    )
