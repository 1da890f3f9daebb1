"""``k8sjob version``."""

from __future__ import annotations

import click

from k8sjob.version import __version__


@click.command("version")
def command() -> None:
    """Print the version."""
    click.echo(f"k8sjob {__version__}")
