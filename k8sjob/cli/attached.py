"""A command that somebody runs through a connection, as ``kubectl k8sjob`` does.

Neither end learns by itself that the connection is lost: the command would go on in the container
(hence ``--attached``), and ``kubectl exec`` can end with 0 (kubernetes/kubectl#1208, #1726; hence
``--tell-end``).
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading

import click

#: The last line on standard error of a command that ended with 0, with a word of its starter's;
#: ``plugin/kubectl-k8sjob`` drops it, and takes an end without it for a lost connection.
ENDED = "k8sjob: ended with exit code 0 ({})"


def stop_when_alone() -> None:
    """Stop this process, as Ctrl-C does, once nobody holds the other end of standard input."""
    threading.Thread(target=_watch, name="attached", daemon=True).start()


def tell_the_end(word: str) -> None:
    """Say that this command ends with 0, once all of its data is out."""
    sys.stdout.flush()
    click.echo(ENDED.format(word), err=True)


def _watch() -> None:
    poll = select.poll()
    # Nothing is asked for: a hang-up is told unasked (POSIX, poll), and no data is taken.
    poll.register(0, 0)
    poll.poll()
    os.kill(os.getpid(), signal.SIGINT)
