"""Arguments of an OpenCL kernel, from the texts that the command line gives."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lockstep.cli.programs import argument as parsed
from lockstep.errors import InputError, LockstepError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from lockstep.device import Device
    from lockstep.isa.gcn.container import Kernel, KernelArgument

_LOCAL, _IMAGE = "local:", "image:"


@dataclass(frozen=True)
class Given:
    """An argument as a launch takes it, and whether the kernel may write to it."""

    name: str
    value: Any
    written: bool


def signature(kernel: "Kernel") -> str:
    """A kernel and what it takes, as in OpenCL C."""
    return f"{kernel.name}({', '.join(_declaration(a) for a in kernel.arguments)})"


def _declaration(argument: "KernelArgument") -> str:
    if argument.kind == "pointer":
        space = "local" if argument.space == "hl" else "global"
        const = "const " if argument.access == "RO" else ""
        return f"{space} {const}{argument.type} *{argument.name}"
    if argument.kind == "image":
        access = "write" if argument.access == "WO" else "read"
        return f"{access}_only image {argument.name}"
    count = str(argument.count) if argument.count > 1 else ""
    return f"{argument.type}{count} {argument.name}"


def placed(
    kernel: str, declared: "Sequence[KernelArgument]", texts: "Sequence[str]"
) -> "Sequence[str]":
    """The texts in the kernel's order: those without a name come first, in order."""
    names = [a.name for a in declared]
    by_name: dict[str, str] = {}
    for k, text in enumerate(texts):
        name, equals, value = text.partition("=")
        if not equals:
            name, value = names[k] if k < len(names) else "", text
        if name not in names:
            raise LockstepError(f"--arg {text!r}: {kernel} takes {', '.join(names)}")
        if name in by_name:
            raise LockstepError(f"--arg {text!r}: {name} is given twice")
        by_name[name] = value
    if missing := [name for name in names if name not in by_name]:
        raise LockstepError(f"kernel {kernel}: --arg is missing for {', '.join(missing)}")
    return [by_name[name] for name in names]


def given(device: "Device", rng: Any, declared: "KernelArgument", text: str) -> Given:
    """An argument's value from its text; raises :class:`LockstepError` that names it."""
    try:
        value = _value(device, rng, declared, text)
    except (LockstepError, click.UsageError) as error:
        raise LockstepError(f"{declared.name}: {error}") from None
    array = declared.kind == "image" or (declared.kind == "pointer" and declared.space != "hl")
    return Given(declared.name, value, array and declared.access != "RO")


def _value(device: "Device", rng: Any, declared: "KernelArgument", text: str) -> Any:
    from lockstep.device.local_memory import local

    if text.startswith(_LOCAL):
        size = text.removeprefix(_LOCAL)
        if not size.isdecimal() or len(size) > 9:
            raise LockstepError(f"{text!r}: expected bytes, as local:1024")
        return local(int(size))
    if text.startswith(_IMAGE):
        return device.image(_array(device, rng, text.removeprefix(_IMAGE)).numpy())
    if declared.kind == "value" and declared.count > 1 and "[" not in text:
        return tuple(parsed(device, rng, part) for part in text.split(","))
    return _array(device, rng, text)


def _array(device: "Device", rng: Any, text: str) -> Any:
    """An array of the device, or a number."""
    return device.array(read_array(text)) if text.endswith(".npy") else parsed(device, rng, text)


def read_array(path: str) -> "np.ndarray":
    """The array in a file of NumPy's. Raises :class:`InputError` for anything else."""
    import numpy as np

    try:
        values = np.load(Path(path), allow_pickle=False)
    except OSError as error:
        raise InputError(path, "", f"cannot read: {error.strerror or error}") from None
    except Exception as error:  # of headers that make no sense NumPy raises what it likes
        reason = re.sub(r" object at 0x\w+", "", str(error).partition("\n")[0])
        raise InputError(path, "", f"no array of NumPy: {reason or type(error).__name__}") from None
    if not isinstance(values, np.ndarray):
        raise InputError(path, "", "no array of NumPy: it is an archive")
    return values
