"""What ``lockstep run`` and ``lockstep trace`` execute: a built-in program, or a kernel in PTX."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lockstep.cli.known import GPU_NAME, PROGRAM_NAME
from lockstep.cli.options import together
from lockstep.cli.parameters import Dimensions, Size
from lockstep.errors import LockstepError

if TYPE_CHECKING:
    from lockstep.device import Device
    from lockstep.kernels import Check

_ARRAY = re.compile(r"(zeros:)?(\w+)\[([\d.eE+,]+)\]")
DEFAULT_GPU = "QV100"
PROGRAM_GPU = click.option(
    "--gpu",
    type=GPU_NAME,
    metavar="NAME",
    help=f"The GPU; default: {DEFAULT_GPU}, or by a program's code.",
)
PTX = click.option("--ptx", is_flag=True, help="Of a CUDA program, execute PTX, no machine code.")
SIZE = click.option("--size", type=Size(), help="Size of a built-in program, e.g. 1e6.")
SEED = click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of random input."
)
_OPTIONS = (
    SIZE,
    SEED,
    click.option("--kernel", "entry", metavar="NAME", help="Kernel of a PTX file."),
    click.option("--grid", type=Dimensions(), help="Its grid; default: 1."),
    click.option("--block", type=Dimensions(), help="Its block; default: 32."),
    click.option("--shared", type=int, metavar="BYTES", help="Its dynamic shared memory."),
    click.option(
        "--arg",
        "arguments",
        multiple=True,
        help="Its arguments, in order: 1000, 2.5, f4[1e6] (random), zeros:f4[1e6].",
    ),
)
PROGRAM_INPUT = ("size", "seed", "entry", "grid", "block", "shared", "arguments")
"""Parameters that mean nothing where a program is an executable, which may have such options."""


def program_options(command: Callable, required: bool = True) -> Callable:
    """The argument and options that choose a program and its input.

    ``required``: whether there must be one.
    """
    metavar = "PROGRAM" if required else "[PROGRAM]"
    name = click.argument("name", type=PROGRAM_NAME, metavar=metavar, required=required)
    return together(name, *_OPTIONS)(command)


class GivenProgram:
    """A program with its input."""

    def __init__(self, name, size, seed, entry, grid, block, shared, arguments):
        if Path(name).is_file() and not name.endswith(".ptx"):
            from lockstep.runtime.linkage import check_no_program

            check_no_program(Path(name))
        self.path = Path(name) if name.endswith(".ptx") or "/" in name else None
        self.name = self.path.stem if self.path else name
        self._size, self._seed, self._entry = size, seed, entry
        self._shape, self._arguments = (grid or (1,), block or (32,), shared or 0), arguments
        if self.path and size:
            raise LockstepError("--size is for built-in programs; a PTX file takes --arg")
        if not self.path and (entry or arguments or grid or block or shared is not None):
            raise LockstepError(
                f"{name} is a built-in program, which takes --size and --seed; "
                "--kernel, --grid, --block, --shared and --arg are for PTX files"
            )
        if not self.path:
            from lockstep import kernels

            self._builtin = kernels.load(name)

    def run(self, device: "Device") -> "tuple[Check, ...]":
        """Launch everything; what can be verified then."""
        if not self.path:
            return self._builtin.run(device, self._size, self._seed)
        import numpy as np

        module, rng = device.load_ptx(self.path), np.random.default_rng(self._seed)
        entries = module.entries
        if self._entry is None and len(entries) != 1:
            have = ", ".join(entries) or "none"
            raise LockstepError(f"{self.path} has several kernels; --kernel chooses: {have}")
        kernel = module[self._entry or entries[0]]
        kernel[self._shape](*(argument(device, rng, text) for text in self._arguments))
        return ()


def verify(checks: "tuple[Check, ...]", quiet: bool, taken: bool = False) -> None:
    """Compare with the references; exit code 1 where something differs.

    ``taken``: standard output is for a file.
    """
    from lockstep.kernels import WrongResult

    try:
        for check in checks:
            check.verify()
    except WrongResult as wrong:
        click.echo(f"lockstep: wrong result: {wrong}", err=True)
        raise SystemExit(1) from None
    if checks and not quiet:
        right = ", ".join(check.name for check in checks)
        click.echo(f"Results are right: {right}.", err=taken)


def argument(device: "Device", rng: Any, text: str) -> Any:
    """A launch argument from its text: a number, or an array, random or of zeros."""
    import numpy as np

    match = _ARRAY.fullmatch(text)
    try:
        if not match:
            return float(text) if set(text) & set(".eEn") and "x" not in text else int(text, 0)
        dtype = np.dtype(match[2])
        shape = tuple(int(float(n)) for n in match[3].split(","))
        if dtype.kind not in "fiu":
            raise ValueError
    except (ValueError, TypeError, OverflowError):
        raise LockstepError(
            f"argument {text!r}; expected a number, or an array as f4[1000] or zeros:i4[16,16]"
        ) from None
    if match[1]:
        return device.zeros(shape, dtype)
    try:
        return device.array(_random(rng, shape, dtype))
    except (MemoryError, ValueError):  # as NumPy says it of what no machine has
        raise LockstepError(f"argument {text!r}: not enough memory for it") from None


def _random(rng: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """A random array: [0, 1) for floating point, small numbers for integers."""
    import numpy as np

    if dtype.kind == "f":
        return rng.random(shape).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(0, min(info.max, 1 << 16), shape, dtype, endpoint=True)
