"""A page for each subcommand: its help, as it is printed."""

from collections.abc import Iterator
from functools import cache

import click
from generated_page import GeneratedPage

from lockstep.cli.main import COMMANDS, main

WIDTH = 100


@cache
def pages() -> dict[str, GeneratedPage]:
    """The pages, by their places in the site: first the whole command, then its subcommands."""
    found = {"commands/index.md": _page("lockstep", main, "")}
    for name, meaning in COMMANDS.items():
        command = main.get_command(click.Context(main), name)
        assert command is not None, "it is listed"
        found[f"commands/{name}.md"] = _page(f"lockstep {name}", command, meaning)
    return found


def _page(title: str, command: click.Command, meaning: str) -> GeneratedPage:
    lines = [f"# {title}", "", meaning, ""]
    for path, text in helps(title, command):
        if path != title:
            lines += [f"## {path}", ""]
        lines += ["```text", text.rstrip(), "```", ""]
    return GeneratedPage(title.removeprefix("lockstep ") or title, "\n".join(lines))


def helps(path: str, command: click.Command) -> Iterator[tuple[str, str]]:
    """The help of a command, and of the commands inside it, each with what is typed for it."""
    context = click.Context(command, info_name=path, terminal_width=WIDTH, max_content_width=WIDTH)
    yield path, command.get_help(context)
    if isinstance(command, click.Group) and command is not main:
        for name, inner in command.commands.items():
            yield from helps(f"{path} {name}", inner)
