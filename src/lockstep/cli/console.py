"""Where tables are printed: the terminal, or a pipe with a width of its own."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def console_of(pipe_width: int) -> "Console":
    """Standard output: as wide as the terminal, or ``pipe_width`` columns where there is none."""
    from rich.console import Console

    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console = Console(highlight=False, markup=False, width=pipe_width)
    return console
