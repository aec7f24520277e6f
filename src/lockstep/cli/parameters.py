"""Option types that several subcommands share."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import click

from lockstep.errors import InputError, LockstepError
from lockstep.files import STANDARD_OUTPUT

if TYPE_CHECKING:
    from lockstep.gpus.spec import GPU

_MOST_DIGITS = 18  # of a number in a list: Python refuses to read thousands of them
POSITIVE = click.IntRange(min=1)
FILE = click.Path(path_type=Path)
MOST_KERNELS = 10_000_000  # in one selection: guards against "1-99999999999"


def _is_number(text: str) -> bool:
    return text.isdecimal() and len(text) <= _MOST_DIGITS


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
            if not _is_number(first) or (dash and not _is_number(last)):
                self.fail(
                    f"{part!r} is not a kernel id or a range; expected e.g. 3,5-9", param, ctx
                )
            low, high = int(first), int(last or first)
            if high < low or high - low > MOST_KERNELS:
                self.fail(f"the range {part!r} has no kernels, or too many", param, ctx)
            ids.update(range(low, high + 1))
        return ids


class CheckedText(click.ParamType):
    """A text that ``check`` raises :class:`LockstepError` for if it is wrong."""

    def __init__(self, name: str, check: Callable[[str], object]):
        self.name, self._check = name, check

    def convert(self, value, param, ctx) -> str:
        """The text itself."""
        try:
            self._check(value)
        except LockstepError as error:
            self.fail(str(error), param, ctx)
        return value


class OutputFile(click.Path):
    """A file to write; ``-`` is standard output."""

    def convert(self, value, param, ctx) -> Path:
        """The path."""
        return (
            STANDARD_OUTPUT
            if value == "-"
            else Path(os.fsdecode(super().convert(value, param, ctx)))
        )


OUTPUT = OutputFile()


class Size(click.ParamType):
    """A positive whole number, also as ``1e6``."""

    name = "n"

    def convert(self, value, param, ctx) -> int:
        """Parse the number."""
        try:
            size = float(value)
        except ValueError:
            size = 0.0
        if not 1 <= size < 1 << 62 or size != int(size):
            self.fail(
                f"{value!r} is no positive whole number; expected e.g. 4096 or 1e6", param, ctx
            )
        return int(size)


class MemorySize(click.ParamType):
    """An amount of memory, as ``16GB``; a unit is 1,024 of the one before, as of GPUs."""

    name = "size"
    units: ClassVar = {unit: 1 << 10 * k for k, unit in enumerate(("", "K", "M", "G", "T"))}

    def convert(self, value, param, ctx) -> int:
        """Parse the amount: bytes."""
        if isinstance(value, int):
            return value
        found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", value, re.ASCII | re.I)
        size = float(found[1]) * self.units[found[2].upper()] if found else 0
        if not 1 <= size <= 1 << 40:
            self.fail(f"{value!r} is no amount of memory up to 1TB; expected e.g. 16GB", param, ctx)
        return int(size)


class NumberList(click.ParamType):
    """Numbers such as ``16``, ``4,6`` or ``1:16``, which doubles: a tuple, each number once."""

    name = "numbers"

    def __init__(self, each: click.ParamType | None = None):
        self._each = each or click.IntRange(min=1)

    def convert(self, value, param, ctx) -> tuple[int, ...]:
        """Parse the numbers."""
        if isinstance(value, tuple):
            return value
        found: list[int] = []
        for part in value.split(","):
            first, colon, last = part.partition(":")
            low = self._each.convert(first.strip(), param, ctx)
            high = self._each.convert(last.strip(), param, ctx) if colon else low
            if high < low:
                self.fail(f"{part!r} ends below where it begins", param, ctx)
            while low <= high:
                found.append(low)
                low *= 2
        return tuple(dict.fromkeys(found))


class Every(click.ParamType):
    """How often, as ``every=60s``; the units are s, m and h."""

    name = "every=60s"
    units: ClassVar = {"s": 1, "m": 60, "h": 3600}

    def convert(self, value, param, ctx) -> float:
        """Parse the time: seconds."""
        if isinstance(value, float):
            return value
        found = re.fullmatch(r"every=(\d{1,9}(?:\.\d{1,9})?)([smh])", value, re.ASCII)
        if not found:
            self.fail(f"{value!r} says not how often; expected e.g. every=60s", param, ctx)
        return float(found[1]) * self.units[found[2]]


class ShareType(click.ParamType):
    """A share, as ``1%`` or 0.01."""

    name = "share"

    def convert(self, value, param, ctx) -> float:
        """Parse it: above 0, below 1."""
        if isinstance(value, float):
            return value
        found = re.fullmatch(r"(\d{0,9}\.?\d{1,9})(%?)", value, re.ASCII)
        share = float(found[1]) / (100 if found[2] else 1) if found else 0.0
        if not 0 < share < 1:
            self.fail(f"{value!r}; expected a share such as 1% or 0.01", param, ctx)
        return share


class Dimensions(click.ParamType):
    """One to three positive numbers, as ``128`` or ``16,16``."""

    name = "x[,y[,z]]"

    def convert(self, value, param, ctx) -> tuple[int, ...]:
        """Parse the numbers."""
        parts = str(value).split(",")
        if len(parts) > 3 or not all(_is_number(p) and int(p) for p in parts):
            self.fail(f"{value!r}; expected e.g. 128 or 16,16", param, ctx)
        return tuple(map(int, parts))


def condition(text: str) -> tuple[str, str]:
    """Column and value of ``--where COLUMN=VALUE``."""
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise click.UsageError(f"--where {text!r}: expected COLUMN=VALUE, such as size=s")
    return name, value


def find_gpu(name: str, overrides: tuple[str, ...], quiet: bool) -> "GPU":
    """The GPU that was asked for; what its configuration lacks is said on stderr."""
    from lockstep import api

    warn = None if quiet else lambda text: click.echo(f"lockstep: {text}", err=True)
    return api.gpu(name, overrides, warn)


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


def check_table(output: Path | None) -> None:
    """Raise before a long run if its table could not be written after it."""
    from lockstep.metrics.output import NO_PARQUET, has_parquet

    check_writable(output)
    if output is None or output.suffix == ".csv":
        return
    if output.suffix != ".parquet":
        raise InputError(output, "", "names no kind of table; expected .parquet or .csv")
    if not has_parquet():
        raise InputError(output, "", f"{NO_PARQUET}, or name a .csv")
