"""``k8sjob serve``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from k8sjob import log
from k8sjob.cli.ledgers import find_each, redactor_of, refuse_twins
from k8sjob.errors import ConfigError, K8sjobError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from k8sjob.cli.ledgers import Finds

_IN_A_POD, _ELSEWHERE = "0.0.0.0:8080", "127.0.0.1:8080"


@click.command("serve", short_help="Serve metrics, a status page and JSON.")
@click.option(
    "--listen",
    metavar="ADDR:PORT",
    help=f"Where to listen. Default {_IN_A_POD} in a Pod, {_ELSEWHERE} elsewhere.",
)
@click.option(
    "--ledger",
    "ledgers",
    metavar="NAME",
    multiple=True,
    help="Only this ledger; may be given more than once. Default: K8SJOB_DSN's and all of "
    "K8SJOB_LEDGERS_DIR.",
)
def command(listen: str | None, ledgers: tuple[str, ...]) -> None:
    """Serve what is seen of the ledgers, until SIGTERM or SIGINT.

    \b
      /                   the status page: all jobs, the oldest unfinished period first
      /jobs/NS/NAME       a job: calendar of its periods, reasons, attempts, what to do
      /metrics            for Prometheus, OpenMetrics too
      /api/v1/jobs        the same as k8sjob get jobs -o json
      /api/v1/periods     the same as k8sjob get periods -o json
      /healthz /readyz    whether the process lives, and whether a ledger answers

    Nothing is changed: a reader of each ledger (Postgres) is enough. A ledger that is away is told
    as such, hides none of the others, and comes back by itself. Nobody is asked who they are: let
    only those in who may see the names of jobs and the output of attempts.
    """
    try:
        from k8sjob.serve.server import parse_listen, serve  # noqa: PLC0415  # not for --help
    except ImportError as error:
        raise ConfigError(
            f"serving needs packages that are not installed ({error}). Nothing was started.\n"
            "  pip install 'k8sjob[serve]'"
        ) from None

    address = parse_listen(listen or usual_place(os.environ))
    known = find_each(ledgers, os.environ)
    refuse_twins(known)
    _check(known)
    log.set_up(redactor_of(known), as_json=log.wants_json())
    serve(known, address)


def usual_place(env: Mapping[str, str]) -> str:
    """Return where to listen: in a Pod for all, elsewhere for this machine alone."""
    return _IN_A_POD if "KUBERNETES_SERVICE_HOST" in env else _ELSEWHERE


def _check(known: Finds) -> None:
    """Raise ConfigError where none of the ledgers can be served, whatever comes."""
    from k8sjob.serve.readers import served  # noqa: PLC0415  # not for --help

    errors: list[K8sjobError] = []
    for find in known.values():
        try:
            served(find())
        except K8sjobError as error:
            errors.append(error)
        else:
            return
    raise errors[0]
