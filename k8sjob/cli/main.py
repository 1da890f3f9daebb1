"""The ``k8sjob`` command and its exit codes."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any, NoReturn

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
    "doctor": ("k8sjob.cli.doctor", "Check what k8sjob needs here, and say what to do."),
    "preview": ("k8sjob.cli.preview", "Show when a schedule fires, and what surprises."),
    "lint": ("k8sjob.cli.lint", "Find in manifests what will bite."),
    "inject": ("k8sjob.cli.inject", "Turn plain CronJobs into covered ones, and back."),
    "completion": ("k8sjob.cli.completion", "Print what completes commands in a shell."),
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
@click.option("--by", metavar="WHO", help="Who decides. Else K8SJOB_BY.")
@click.option(
    "-n",
    "--namespace",
    metavar="NS",
    help="The namespace of jobs named without one. Else K8SJOB_NAMESPACE.",
)
@click.option("--no-color", is_flag=True, help="As NO_COLOR=1.")
@click.option("--attached", is_flag=True, hidden=True)
@click.option("--tell-end", metavar="WORD", hidden=True)
@click.pass_obj
def cli(seen: dict[str, str] | None, /, **root: Any) -> None:
    """Each period of a CronJob's work done once, and the missing ones visible."""
    # `kubectl exec` brings no environment along, and an image need not have `env`.
    given = {
        "K8SJOB_BY": root["by"],
        "K8SJOB_NAMESPACE": root["namespace"],
        "NO_COLOR": "1" if root["no_color"] else None,
    }
    os.environ.update({name: value for name, value in given.items() if value})
    if seen is not None and root["tell_end"]:
        seen["tell_end"] = root["tell_end"]
    if root["attached"]:
        from k8sjob.cli.attached import stop_when_alone  # noqa: PLC0415  # a run needs none of it

        stop_when_alone()


def fail(error: K8sjobError) -> NoReturn:
    """Print what happened and leave with its exit code."""
    click.echo(f"k8sjob: {error}", err=True)
    sys.exit(int(error.exit_code))


def _stop_when_asked() -> None:
    """End on SIGTERM as any process does: the kernel gives PID 1 only what it has a handler for."""
    import signal  # noqa: PLC0415  # in a container only

    def stop(number: int, _frame: object) -> NoReturn:
        sys.exit(128 + number)

    signal.signal(signal.SIGTERM, stop)


def main(args: list[str] | None = None) -> NoReturn:
    """Run the command line; the exit codes are those of :mod:`k8sjob.errors`, never click's 2."""
    seen: dict[str, str] = {}
    if os.getpid() == 1:
        _stop_when_asked()
    try:
        code = cli.main(args, prog_name="k8sjob", standalone_mode=False, obj=seen)
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
    if "tell_end" in seen and not code:
        from k8sjob.cli.attached import tell_the_end  # noqa: PLC0415  # as above

        tell_the_end(seen["tell_end"])
    sys.exit(code if isinstance(code, int) else 0)
