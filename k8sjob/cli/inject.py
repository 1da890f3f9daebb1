"""``k8sjob inject``."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import unified_diff
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from k8sjob.errors import ExitCode, UsageError
from k8sjob.manifest.files import LARGEST, decode, read_file
from k8sjob.manifest.inject import telling
from k8sjob.manifest.inject.injecting import Result, inject
from k8sjob.manifest.inject.looking import Refusal
from k8sjob.manifest.inject.options import Options
from k8sjob.manifest.inject.raw import coding_of
from k8sjob.manifest.inject.record import Mode
from k8sjob.manifest.inject.saving import save
from k8sjob.manifest.read import Trouble, load_parser
from k8sjob.manifest.shown import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: Each annotation by its name: what stands for its value, and what it says (docs/reconcile.md).
_ANNOTATIONS = {
    "job": ("NS/NAME", "The job whose history it goes on with, after a rename."),
    "ledger": ("NAME", "Its ledger, by the reconciler's name for it."),
    "cycle": ("CYCLE", "scheduled, day, week, month or once."),
    "grace": ("D", "How long after its time a period is not missing yet."),
    "catch-up": ("POLICY", "flag, skip, every or latest."),
    "catch-up-max-count": ("N", "How many periods are caught up with at most."),
    "catch-up-max-age": ("D", "How old they may be."),
    "manual-runs": ("POLICY", "refuse, oldest-missing or latest-missing."),
    "max-lateness": ("D", "Later than that, a run records its period as skipped."),
    "max-duration": ("D", "Longer than that, an attempt is alerted on."),
    "retention": ("D", "How long finished periods are kept."),
    "owner": ("TEXT", "Whose it is."),
    "severity": ("TEXT", "How bad it is when a period is missing."),
    "runbook": ("URL", "What to do then."),
}


def _annotations(command: Callable[..., int]) -> Callable[..., int]:
    for name, (metavar, text) in reversed(_ANNOTATIONS.items()):
        command = click.option(f"--{name}", metavar=metavar, help=text)(command)
    return command


@click.command("inject", short_help="Turn plain CronJobs into covered ones, and back.")
@click.argument("files", metavar="FILE|- ...", nargs=-1, required=True)
@click.option("-i", "--in-place", is_flag=True, help="Write the files instead of standard output.")
@click.option("--remove", is_flag=True, help="Take out again what was put in, to the letter.")
@click.option("--dry-run", is_flag=True, help="Print what would differ, and write nothing.")
@click.option(
    "--check", is_flag=True, help="Write nothing, and end with 1 if something would differ."
)
@click.option(
    "--only",
    metavar="NAME|NS/NAME",
    multiple=True,
    help="Only this CronJob; may be given more than once.",
)
@click.option(
    "--mode",
    type=click.Choice([mode.value for mode in Mode]),
    help="run (default): its image has k8sjob in it. sidecar: an image of any language.",
)
@click.option(
    "--container", metavar="NAME", help="Which one does the work, where a Pod has several."
)
@click.option(
    "--claims/--records",
    default=None,
    help="In mode run: the command claims its period, or is recorded at exit 0 (default).",
)
@click.option(
    "--image", metavar="IMAGE", help="Of the containers in mode sidecar. Default k8sjob:VERSION."
)
@click.option(
    "--secret", metavar="NAME", help="The Secret with the ledger's DSN. Default k8sjob-ledger."
)
@click.option("--key", metavar="KEY", help="Its key with a runner's DSN. Default runner.")
@click.option("--time-zone", metavar="ZONE", help="Write this timeZone where there is none.")
@_annotations
def command(*, files: tuple[str, ...], remove: bool, **words: Any) -> int:
    """Turn the plain CronJobs of manifests into covered ones, and back.

    FILE is YAML or JSON, of one document or many; - is standard input. Comments, order, quotes and
    all other objects stay as they are, to the letter. What was changed and why, and what a person
    has to look at, is told on standard error. No cluster is asked. docs/inject.md has the whole.

    \b
      k8sjob inject cronjob.yaml --time-zone Europe/Rome --cycle day | kubectl apply -f -
      k8sjob inject -i cronjob.yaml --mode sidecar --image registry.example/k8sjob:0.1.0
      helm template . | k8sjob inject - --only daily-credit | k8sjob lint -
      k8sjob inject -i --remove cronjob.yaml

    Twice is once. What is not given stays as an earlier injection had it; what a person has
    written is never written over.

    Ends with 0, with 1 if --check finds that something would differ, with 64 if something cannot
    be done: then nothing is written at all.
    """
    load_parser()  # says that it is not installed before anything is read
    way = _Way(*(bool(words.pop(name)) for name in ("in_place", "dry_run", "check")))
    options = _options(words)
    _check_flags(files, options, in_place=way.in_place, remove=remove)
    now = datetime.now(UTC)
    inputs = [_Input.read(name) for name in dict.fromkeys(files)]
    results = [one.result(options, now, remove=remove) for one in inputs]
    _check_only(options.only, results)
    if any(result.refusals for result in results):
        _refuse(inputs, results)
        return int(ExitCode.USAGE)
    _write(inputs, results, way)
    _tell(inputs, results)
    return int(ExitCode.FAILED) if way.check and any(r.changes for r in results) else 0


class _Way(NamedTuple):
    """Where the result goes; to standard output if none of them."""

    in_place: bool
    dry_run: bool
    check: bool


def _options(words: dict[str, Any]) -> Options:
    notes = {name: words.pop(name.replace("-", "_")) for name in _ANNOTATIONS}
    given = {name: text for name, text in notes.items() if text is not None}
    mode = words.pop("mode")
    options = Options(mode=Mode(mode) if mode else None, annotations=given, **words)
    options.check()
    return options


def _check_flags(files: tuple[str, ...], options: Options, *, in_place: bool, remove: bool) -> None:
    if in_place and "-" in files:
        raise UsageError(
            "--in-place has no file to write for -. Nothing was changed.\n"
            "  Name the file, or leave --in-place out: the result goes to standard output then."
        )
    if remove and options != Options(only=options.only):
        raise UsageError(
            "--remove takes everything out that was put in, so that options of what to put in "
            "say nothing. Nothing was changed.\n  Leave them out."
        )


def _check_only(only: tuple[str, ...], results: list[Result]) -> None:
    titles = {told.title for result in results for told in result.told}
    known = titles | {title.rpartition("/")[2] for title in titles}
    refused = any(result.refusals for result in results)
    if (missing := [name for name in only if name not in known]) and not refused:
        names = ", ".join(missing)
        raise UsageError(
            f"--only {names}: there is no such CronJob. Nothing was changed.\n"
            "  Write NAME or NAMESPACE/NAME as the manifests have it."
        )


@dataclass(frozen=True, slots=True)
class _Input:
    """A file: its name and coding, and its text, or why there is none."""

    name: str
    text: str | Trouble
    coding: str = "utf-8"

    @classmethod
    def read(cls, name: str) -> _Input:
        data = sys.stdin.buffer.read(LARGEST + 1) if name == "-" else read_file(name)
        if isinstance(data, Trouble):
            return cls(name, data)
        if isinstance(text := decode(data), Trouble):
            return cls(name, text)
        coding = coding_of(data)
        return cls(name, data.decode(coding), coding)

    def result(self, options: Options, now: datetime, *, remove: bool) -> Result:
        if isinstance(self.text, Trouble):
            what = self.text.what.replace("was checked", "was changed")
            return Result("", refusals=[Refusal(None, what)])
        return inject(self.text, options, now, remove=remove)


def _write(inputs: list[_Input], results: list[Result], way: _Way) -> None:
    if way.dry_run:
        for one, result in zip(inputs, results, strict=True):
            click.echo("".join(_diff(one, result)), nl=False)
    elif way.in_place and not way.check:
        for one, result in zip(inputs, results, strict=True):
            if result.text != one.text:
                save(one.name, result.text.encode(one.coding))
    elif not way.check:
        _print(inputs, results)


def _diff(one: _Input, result: Result) -> Iterator[str]:
    assert isinstance(one.text, str)  # noqa: S101  # for the type checker
    name = one_line(one.name)
    before, after = (re.findall(r"[^\n]*\n|[^\n]+", text) for text in (one.text, result.text))
    for line in unified_diff(before, after, f"{name} (now)", f"{name} (then)"):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _print(inputs: list[_Input], results: list[Result]) -> None:
    """Print all texts as one stream of documents; a single one as it is, in its own coding."""
    out = sys.stdout.buffer
    if len(inputs) == 1:
        out.write(results[0].text.encode(inputs[0].coding))
        out.flush()
        return
    before = ""
    for result in results:
        text = result.text.removeprefix("\ufeff")
        if before and not before.endswith("\n"):
            out.write(b"\n")
        if before and not text.startswith("---"):
            out.write(b"---\n")
        out.write(text.encode())
        before = text
    out.flush()


def _refuse(inputs: list[_Input], results: list[Result]) -> None:
    for one, result in zip(inputs, results, strict=True):
        for line in telling.refusals(one.name, result):
            click.echo(line, err=True)
    click.echo("nothing was changed", err=True)


def _tell(inputs: list[_Input], results: list[Result]) -> None:
    for one, result in zip(inputs, results, strict=True):
        for line in telling.lines(one.name, result):
            click.echo(line, err=True)
    for line in telling.accounts(results):
        click.echo(line, err=True)
    click.echo(telling.summary(results), err=True)
