"""Option types that several subcommands share."""

import os
from pathlib import Path

import click

from lockstep.errors import InputError

POSITIVE = click.IntRange(min=1)
MOST_KERNELS = 10_000_000  # in one selection: guards against "1-99999999999"


class KernelIds(click.ParamType):
    """A selection of kernels such as ``3,5-9``: a set of kernel ids."""

    name = "ids"

    def convert(self, value, param, ctx) -> set[int]:
        """Parse the selection."""
        if isinstance(value, set):
            return value
        ids: set[int] = set()
        for part in value.split(","):
            first, dash, last = part.strip().partition("-")
            if not first.isdecimal() or (dash and not last.isdecimal()):
                self.fail(
                    f"{part!r} is not a kernel id or a range; expected e.g. 3,5-9", param, ctx
                )
            low, high = int(first), int(last or first)
            if high < low or high - low > MOST_KERNELS:
                self.fail(f"the range {part!r} has no kernels, or too many", param, ctx)
            ids.update(range(low, high + 1))
        return ids


def check_writable(path: Path | None, directory: bool = False) -> None:
    """Raise before a long run if an output could not be written after it."""
    if path is None:
        return
    if path.exists() and path.is_dir() != directory:
        raise InputError(path, "", f"cannot write: is {'a file' if directory else 'a directory'}")
    existing = path if path.exists() else path.absolute().parent
    while not existing.exists():
        existing = existing.parent
    if not (existing.is_dir() or existing == path) or not os.access(existing, os.W_OK):
        raise InputError(path, "", f"cannot write: {existing} is not a writable directory")
