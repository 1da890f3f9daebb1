"""The ``k8sjob`` command and its exit codes."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import NoReturn

import click

from k8sjob.errors import ExitCode, K8sjobError

#: Name, module, one line of help. The modules are imported when their command is called.
COMMANDS = {
    "run": ("k8sjob.cli.run", "Run a function, an SQL file or a command for a period."),
    "resolve": ("k8sjob.cli.resolve", "Find a Job's period and leave it for other containers."),
    "sidecar": ("k8sjob.cli.sidecar", "Keep the books of an attempt beside its container."),
    "get": ("k8sjob.cli.get", "List jobs, periods or attempts."),
    "describe": ("k8sjob.cli.describe", "Tell the whole story of a period or a job."),
    "block": ("k8sjob.cli.block", "Say that a period, a job or more cannot be done for now."),
    "skip": ("k8sjob.cli.skip", "Say that a period need not be done."),
    "await": ("k8sjob.cli.hand_over", "Say that the effect of a period shows later."),
    "confirm": ("k8sjob.cli.confirm", "Say that the effect of a period was seen."),
    "release": ("k8sjob.cli.release", "Take a block or a hold away."),
    "reopen": ("k8sjob.cli.reopen", "Let a period be done again."),
    "backfill": ("k8sjob.cli.backfill", "Run past periods, by Jobs or in this process."),
    "reconcile": ("k8sjob.cli.reconcile", "Find the periods that are missing."),
    "serve": ("k8sjob.cli.serve", "Serve metrics, a status page and JSON."),
    "prune": ("k8sjob.cli.prune", "Delete old finished periods and old attempts."),
    "migrate": ("k8sjob.cli.migrate", "Bring the ledger to this version's schema."),
    "preview": ("k8sjob.cli.preview", "Show when a schedule fires, and what surprises."),
    "lint": ("k8sjob.cli.lint", "Find in manifests what will bite."),
    "version": ("k8sjob.cli.version", "Print the version."),
}


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports one at a time."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """Return the names, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, _ctx: click.Context, name: str) -> click.Command | None:
        """Import the command called ``name``."""
        if name not in COMMANDS:
            return None
        command = import_module(COMMANDS[name][0]).command
        assert isinstance(command, click.Command)  # noqa: S101  # for the type checker
        return command

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    """Each period of a CronJob's work done once, and the missing ones visible."""


def fail(error: K8sjobError) -> NoReturn:
    """Print what happened and leave with its exit code."""
    click.echo(f"k8sjob: {error}", err=True)
    sys.exit(int(error.exit_code))


def main(args: list[str] | None = None) -> NoReturn:
    """Run the command line; the exit codes are those of :mod:`k8sjob.errors`, never click's 2."""
    try:
        code = cli.main(args, prog_name="k8sjob", standalone_mode=False)
    except click.UsageError as error:
        error.show()
        sys.exit(int(ExitCode.USAGE))
    except click.ClickException as error:
        error.show()
        sys.exit(int(ExitCode.FAILED))
    except click.Abort:
        click.echo("k8sjob: stopped", err=True)
        sys.exit(130)
    except K8sjobError as error:
        fail(error)
    sys.exit(code if isinstance(code, int) else 0)
