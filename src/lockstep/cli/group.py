"""Commands that have subcommands: of a name that does not exist, the nearest is said."""

from collections.abc import Iterable

import click


class CommandGroup(click.Group):
    """A group that knows what a misspelt subcommand may have been."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple:
        """The subcommand that ``args`` begin with."""
        fail_if_misspelt(ctx, args[0], self.list_commands(ctx))
        return super().resolve_command(ctx, args)


def fail_if_misspelt(ctx: click.Context, name: str, known: Iterable[str]) -> None:
    """Wrong usage if a subcommand does not exist, and another one has nearly its name."""
    names = list(known)
    if name in names or name.startswith("-"):
        return
    import difflib

    if near := difflib.get_close_matches(name, names, 1):
        ctx.fail(f"No such command {name!r}, did you mean {near[0]!r}")
