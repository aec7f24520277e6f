"""``lockstep completion``: what a shell needs to complete commands, options and names."""

import click

PROGRAM = "lockstep"
VARIABLE = "_LOCKSTEP_COMPLETE"  # by which click asks
SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> None:
    """Print the script for a SHELL that completes commands, options, GPUs, programs and studies.

    \b
    bash: eval "$(lockstep completion bash)"      in ~/.bashrc
    zsh:  eval "$(lockstep completion zsh)"       in ~/.zshrc
    fish: lockstep completion fish > ~/.config/fish/completions/lockstep.fish
    """
    from click.shell_completion import get_completion_class

    from lockstep.cli.main import main

    kind = get_completion_class(shell)
    assert kind is not None, "click knows these shells"
    completion = kind(main, {}, PROGRAM, VARIABLE)
    click.echo(completion.source_template % completion.source_vars())
