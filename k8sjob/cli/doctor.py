"""``k8sjob doctor``."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING

import click

from k8sjob.cli import looking
from k8sjob.cli.ledgers import find_each
from k8sjob.doctor.gather import WITHIN_S, gather
from k8sjob.doctor.line import Status
from k8sjob.doctor.purpose import NEEDS, Purpose
from k8sjob.doctor.report import as_json, as_rows, examine, hidden, summary
from k8sjob.duration import parse_duration
from k8sjob.errors import ConfigError, ExitCode, K8sjobError, UsageError
from k8sjob.ledger.secrets import Redactor
from k8sjob.ledger.survey import newest_version
from k8sjob.version import __version__
from k8sjob.view.table import table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from k8sjob.doctor.line import Line
    from k8sjob.ledger.settings import Address

#: The commands that look after all ledgers, whichever is the usual one.
_OF_ALL = (Purpose.RECONCILE, Purpose.SERVE)
#: A DSN, and a login of any other address.
_DSN = re.compile(r"postgres(?:ql)?://|.*\bpassword\s*=")
_LOGIN = re.compile(r"/[^/:@\s]*:(.+)@")
_NAME = re.compile(r"[A-Za-z0-9._-]{1,100}")


@click.command("doctor", short_help="Check what k8sjob needs here.")
@click.option(
    "--for",
    "purpose",
    type=click.Choice([str(purpose) for purpose in Purpose]),
    default="run",
    help="What is to work here. Default run.",
)
@click.option(
    "--ledger",
    "ledgers",
    metavar="NAME",
    multiple=True,
    help="Only this ledger; may be given more than once. Default: K8SJOB_LEDGER, else K8SJOB_DSN's "
    "and all of K8SJOB_LEDGERS_DIR.",
)
@click.option(
    "-n",
    "--namespace",
    "namespaces",
    metavar="NS",
    multiple=True,
    help="Rights in this namespace; may be given more than once. Default: the Pod's own for run, "
    "all for reconcile and backfill.",
)
@click.option("-A", "--all-namespaces", "everywhere", is_flag=True, help="Rights in all.")
@click.option(
    "--timeout", metavar="D", help=f"How long to wait for all answers. Default {WITHIN_S:g}s."
)
@click.option("-o", "--output", type=click.Choice(["table", "json"]), default="table")
def command(  # noqa: PLR0913, PLR0917  # one an option
    purpose: str,
    ledgers: tuple[str, ...],
    namespaces: tuple[str, ...],
    everywhere: bool,  # noqa: FBT001  # as click calls it
    timeout: str | None,
    output: str,
) -> int:
    """Check what k8sjob needs here, and say what to do about what is missing.

    A line for each check: ok, warn or fail, what was seen, what to do. Looked at are each ledger
    (address, login, version, schema, grants, pooler, timeouts, durability, clock), the rights of
    this Pod's service account, zone data, and the variables. Nothing is changed, and no secret is
    printed. Run it where the work is to run: in a Pod of the same service account.

    \b
      k8sjob doctor
      k8sjob doctor --for reconcile -o json

    Ends with 0 if nothing failed, with 1 if something did.
    """
    if everywhere and namespaces:
        raise UsageError(
            "-A is all namespaces, and -n names some. Nothing was done.\n  Leave one of them out."
        )
    within_s = parse_duration(timeout) if timeout else WITHIN_S
    what = Purpose(purpose)
    addresses = _addresses(ledgers, what, os.environ)
    facts = gather(
        addresses,
        NEEDS[what],
        os.environ,
        namespaces=[None] if everywhere else namespaces,
        within_s=within_s,
    )
    found = examine(facts, what, newest=newest_version(), client=__version__)
    lines = hidden(found, _redactor(addresses, ledgers, os.environ))
    _print(lines, what, output, several=len(addresses) > 1)
    failed = any(line.status is Status.FAIL for line in lines)
    return int(ExitCode.FAILED if failed else ExitCode.OK)


def _addresses(
    names: tuple[str, ...], purpose: Purpose, env: Mapping[str, str]
) -> dict[str, Address | K8sjobError]:
    """Return the ledgers' addresses by their names; where there is none, why."""
    if not names and env.get("K8SJOB_LEDGER") and purpose not in _OF_ALL:
        names = (env["K8SJOB_LEDGER"],)
    found: dict[str, Address | K8sjobError] = {}
    folder = env.get("K8SJOB_LEDGERS_DIR")
    if folder and not os.access(folder, os.R_OK | os.X_OK):
        found["?"] = ConfigError(
            f"K8SJOB_LEDGERS_DIR={folder} is no folder that this user may list\n"
            "  mount the ledgers' Secrets there, or take the variable away"
        )
        env = {name: value for name, value in env.items() if name != "K8SJOB_LEDGERS_DIR"}
    for name, find in find_each(names, env).items():
        # What has no form of a name may be a DSN in the wrong place.
        shown = name if _NAME.fullmatch(name) else "?"
        try:
            found[shown] = find()
        except K8sjobError as error:
            found[shown] = error
    return found


def _redactor(
    addresses: Mapping[str, Address | K8sjobError], names: tuple[str, ...], env: Mapping[str, str]
) -> Redactor:
    """Keep secret what is one, and what looks like one: it may be in the wrong variable."""
    dsns = [found.dsn for found in addresses.values() if not isinstance(found, K8sjobError)]
    given = [*names, *(value for name, value in env.items() if name.startswith("K8SJOB_"))]
    dsns += [text for text in given if _DSN.match(text)]
    passwords = [found[1] for text in given if (found := _LOGIN.search(text))]
    return Redactor(*dsns, passwords=[env.get("PGPASSWORD", ""), *passwords])


def _print(lines: list[Line], purpose: Purpose, output: str, *, several: bool) -> None:
    if output == "json":
        click.echo(json.dumps(as_json(lines, purpose), indent=2, ensure_ascii=False))
        return
    header = ("STATUS", "CHECK", *(("LEDGER",) if several else ()), "SEEN; WHAT TO DO")
    rows = as_rows(lines, with_ledger=several)
    for line in table(header, rows, colour=looking.colour()):
        click.echo(line)
    click.echo(summary(lines), err=True)
