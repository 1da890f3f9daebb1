"""``k8sjob lint``."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime

import click

from k8sjob.errors import ExitCode
from k8sjob.manifest import telling
from k8sjob.manifest.files import LARGEST, decode, read_file
from k8sjob.manifest.lint import Report, lint
from k8sjob.manifest.read import Trouble, load_parser


@click.command("lint", short_help="Find in manifests what will bite.")
@click.argument("files", metavar="FILE|- ...", nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    type=click.Choice(["text", "json"]),
    default="text",
    help="Default text: FILE:LINE RULE OBJECT: MESSAGE.",
)
def command(*, files: tuple[str, ...], output: str) -> int:
    """Find in the manifests of CronJobs and Jobs what will bite, and what to write instead.

    FILE is YAML or JSON, of one document or many; - is standard input. Objects of other kinds are
    passed over. No cluster and no ledger is asked. docs/lint.md describes each rule.

    \b
      k8sjob lint cronjob.yaml other/*.yaml
      helm template . | k8sjob lint -
      kubectl get cronjobs -A -o yaml | k8sjob lint -

    What was decided on is silenced on the CronJob, by the names of the rules:

    \b
      annotations:
        k8sjob.io/lint-ignore: either-day,fires-twice

    Ends with 0 if nothing is found, with 1 if something is, with 64 if something cannot be read;
    the rest is looked at all the same.
    """
    load_parser()  # says that it is not installed before anything is read
    report, now = Report(), datetime.now(UTC)
    for name in dict.fromkeys(files):
        data = _read(name)
        lint(report, name, data if isinstance(data, Trouble) else decode(data), now)
    report.sort()
    _tell(report, output)
    if report.unread:
        return int(ExitCode.USAGE)
    return int(ExitCode.FAILED) if report.findings else 0


def _read(name: str) -> bytes | Trouble:
    if name != "-":
        return read_file(name)
    return sys.stdin.buffer.read(LARGEST + 1)


def _tell(report: Report, output: str) -> None:
    if output == "json":
        click.echo(json.dumps(telling.as_json(report), indent=2, ensure_ascii=False))
    else:
        for place, rule, rest in telling.findings(report):
            click.echo(f"{place} {click.style(rule, fg='yellow')} {rest}")
    for line in telling.unread(report):
        click.echo(line, err=True)
    click.echo(telling.summary(report), err=True)
