"""What ``block``, ``skip``, ``await``, ``confirm``, ``release`` and ``reopen`` have in common."""

from __future__ import annotations

import getpass
import json
import os
import socket
import sys
from contextlib import closing
from typing import TYPE_CHECKING, Any, TypeVar

import click

from k8sjob.duration import parse_duration
from k8sjob.errors import UsageError
from k8sjob.ledger import settings
from k8sjob.ledger.operate import open_operator
from k8sjob.people import words
from k8sjob.people.change import carry_out, check_not_refused
from k8sjob.people.order import (
    Order,
    Targets,
    Verb,
    check_reason,
    count_periods,
    parse_moment,
    read_targets,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from k8sjob.people.plan import Plan

Command = TypeVar("Command", bound="Callable[..., Any]")

OUTPUT = click.option(
    "-o",
    "--output",
    type=click.Choice(["table", "json", "name"]),
    default="table",
    help="How to tell what was done.",
)
LEDGER = click.option(
    "--ledger", metavar="NAME", help="A ledger of K8SJOB_LEDGERS_DIR instead of the default one."
)
DRY_RUN = click.option("--dry-run", is_flag=True, help="Say the same, and change nothing.")
NAMESPACE = click.option(
    "-n", "--namespace", metavar="NS", help="The namespace of jobs named without one."
)
WIDE_NAMESPACE = click.option(
    "-n",
    "--namespace",
    metavar="NS",
    help="The namespace of jobs named without one; where nothing is named, all of its jobs.",
)
EVERYTHING = click.option(
    "-A", "--all-namespaces", "everything", is_flag=True, help="All jobs of all namespaces."
)
UNTIL = click.option(
    "--until",
    metavar="T",
    help="When it is open again: a duration such as 1d, or 2026-09-14T19:00:00Z.",
)


def common(evidence: str = "Why, in one line. Needed.") -> Callable[[Command], Command]:
    """Add the options that every decision has."""

    def add(command: Command) -> Command:
        for option in (
            LEDGER,
            OUTPUT,
            click.option("--yes", is_flag=True, help="Do not ask; needed beyond one period."),
            DRY_RUN,
            click.option(
                "--by", metavar="WHO", help="Who decides. Else K8SJOB_BY, else the user and host."
            ),
            click.option("--reason", metavar="TEXT", help=evidence),
        ):
            command = option(command)
        return command

    return add


def decide(verb: Verb, targets: tuple[str, ...], flags: dict[str, Any]) -> int:
    """Do what one of the commands says. Returns 0; raises K8sjobError (1) where it was refused."""
    named = Targets(
        words=targets,
        namespace=flags.get("namespace"),
        everything=flags.get("everything", False),
        space=os.environ.get("K8SJOB_NAMESPACE") or None,
    )
    order = _order(verb, named, flags)
    address = settings.find(ledger=flags["ledger"])

    def agree(made: Plan) -> None:
        if not flags["yes"]:
            ask(verb, made.needs_yes(), words.lines(made))

    with closing(open_operator(address, lock_timeout_s=lock_timeout_s())) as operator:
        made = carry_out(operator, order, dry_run=flags["dry_run"], agree=agree)
    _tell(made, flags["output"], dry_run=flags["dry_run"])
    check_not_refused(made)
    return 0


def _order(verb: Verb, named: Targets, flags: dict[str, Any]) -> Order:
    keys, ranges, scopes = read_targets(verb, named)
    counted = count_periods(keys, ranges) if verb.rule.makes_rows else []
    until, deadline = flags.get("until"), flags.get("deadline")
    return Order(
        verb=verb,
        reason=check_reason(flags["reason"], verb),
        by=(flags["by"] or "").strip() or who(),
        keys=keys,
        ranges=[span for span in ranges if span not in counted],
        counted=counted,
        scopes=scopes,
        until=parse_moment(until) if until else None,
        deadline=parse_moment(deadline) if deadline else None,
        indicator=flags.get("indicator") or None,
        attempt=flags.get("attempt") or None,
    )


def who() -> str:
    """Return who decides: K8SJOB_BY, else the system's user and host."""
    if by := os.environ.get("K8SJOB_BY", "").strip():
        return by
    try:
        user = getpass.getuser()
    except (OSError, KeyError):  # a container's user may have no name (OSError from 3.13 on)
        user = f"uid {os.getuid()}"
    return f"{user}@{socket.gethostname()}"


def lock_timeout_s() -> float:
    """Return how long to wait for whoever holds a key: K8SJOB_LOCK_TIMEOUT, else 30 s."""
    return parse_duration(os.environ.get("K8SJOB_LOCK_TIMEOUT") or "30s")


def ask(verb: str, about: list[str], shown: list[str]) -> None:
    """Ask on a terminal; without one refuse. Raises UsageError, click.Abort."""
    if not about:
        return
    what = ", ".join(about)
    if not sys.stdin.isatty():
        raise UsageError(
            f"this would {verb} {what}. Nothing was changed.\n"
            "  See with --dry-run whether that is meant; then add --yes."
        )
    for line in shown:
        click.echo(line, err=True)
    click.confirm(f"{verb} {what}?", abort=True, err=True)


def _tell(made: Plan, output: str, *, dry_run: bool) -> None:
    if output == "json":
        shown = words.as_json(made, dry_run=dry_run)
        click.echo(json.dumps(shown, indent=2, ensure_ascii=False))
    else:
        for line in words.names(made) if output == "name" else words.lines(made):
            click.echo(line)
    for note in words.notes(made):
        click.echo(note, err=True)
    if dry_run:
        click.echo("dry run: nothing was changed", err=True)
