"""``k8sjob completion``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from click.shell_completion import get_completion_class

if TYPE_CHECKING:
    from click.shell_completion import ShellComplete

#: The variable by which the script asks the program, as click names it.
_ASKS = "_K8SJOB_COMPLETE"


@click.command("completion", short_help="Print what completes commands in a shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the script that lets SHELL complete commands and options of k8sjob.

    \b
      source <(k8sjob completion bash)        # in ~/.bashrc; zsh alike
      k8sjob completion fish | source         # in ~/.config/fish/config.fish
    """
    found: type[ShellComplete] | None = get_completion_class(shell)
    assert found  # noqa: S101  # for the type checker: the choice has no other
    click.echo(found(ctx.find_root().command, {}, "k8sjob", _ASKS).source())
