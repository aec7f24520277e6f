"""Where tables are printed: the terminal, or a pipe with a width of its own."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from lockstep.files import STANDARD_OUTPUT

if TYPE_CHECKING:
    from rich.console import Console


AS_NEEDED = 10_000  # columns: more than any table has


def console_of(*files: Path | None, pipe_width: int = AS_NEEDED, stderr: bool = False) -> "Console":
    """Standard output, or standard error where one of ``files`` takes standard output.

    As wide as the terminal, or ``pipe_width`` columns where there is none: prose needs a limit.
    """
    from rich.console import Console

    make = partial(Console, highlight=False, markup=False, stderr=stderr or is_taken(*files))
    console = make()
    return console if console.is_terminal else make(width=pipe_width)


def is_taken(*files: Path | None) -> bool:
    """Whether a file that was asked for is standard output: nothing else may go there."""
    return STANDARD_OUTPUT in files
