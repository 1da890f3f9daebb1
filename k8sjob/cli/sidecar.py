"""``k8sjob sidecar``."""

from __future__ import annotations

import os
import signal

import click

from k8sjob import log


@click.command("sidecar", short_help="Keep the books of an attempt beside its container.")
@click.option(
    "--context",
    metavar="DIR",
    help="The folder that resolve --write has filled. Else K8SJOB_CONTEXT.",
)
@click.option(
    "--container",
    metavar="NAME",
    help="The main container, where a Pod has several. Else K8SJOB_CONTAINER.",
)
@click.option(
    "--stop-grace",
    metavar="D",
    help="From a stop signal to giving up on a ledger that is away. Else K8SJOB_STOP_GRACE; "
    "default 10s.",
)
@click.option(
    "--ledger", metavar="NAME", help="A ledger of K8SJOB_LEDGERS_DIR instead of the default one."
)
def command(**flags: str | None) -> int:
    """Keep the attempt's rows while another container does its work, in any language.

    A native sidecar: an init container with restartPolicy Always, after the one that calls
    k8sjob resolve --write DIR. It writes the attempt's start, signs of life, and how it ended: the
    period's row decides, beside it stands the main container's exit code, which its last line
    leaves in the folder, else the Pod's status where the service account may get pods.

    \b
      . /k8sjob/env; ./program; code=$?; echo $code > /k8sjob/exit; exit $code

    Ends with 0 on SIGTERM, whatever became of the work: the main container is the Job's.
    """
    # Kept until somebody listens: the main container may have ended before all is imported.
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGTERM, signal.SIGINT))
    from k8sjob.run.sidecar.entry import Flags, find_place, keep_books  # noqa: PLC0415  # see above

    place = find_place(Flags(**flags), os.environ)
    log.set_up(str, as_json=place.as_json)  # until the secrets are known
    return keep_books(place)
