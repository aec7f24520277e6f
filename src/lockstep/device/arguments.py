"""From Python values to the bytes of a kernel's parameters, checked against their declarations."""

import ctypes
import struct
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from lockstep.errors import WorkloadError
from lockstep.execution.memory.device_memory import DeviceMemory

_FLOATS = {"f16": "e", "f32": "f", "f64": "d"}


class Parameter(msgspec.Struct, frozen=True):
    """A kernel parameter: PTX's name of its type, first byte in the block, bytes, extents, name.

    Of the types ``b16``, ``b32`` and ``b64`` only the size is known: they take what they are given.
    """

    type: str
    offset: int
    bytes: int
    shape: tuple[int, ...] = ()
    name: str = ""  # if the code tells it


def pack(kernel: str, parameters: Sequence[Parameter], arguments: tuple) -> bytes:
    """The parameter block of a launch.

    Raises :class:`WorkloadError` that names the kernel, the parameter and what it takes.
    """
    if len(arguments) != len(parameters):
        raise WorkloadError(
            f"kernel {kernel} takes {len(parameters)} arguments, {len(arguments)} given"
        )
    block = bytearray()
    for k, (parameter, value) in enumerate(zip(parameters, arguments)):
        block += bytes(parameter.offset - len(block))
        block += _bytes(kernel, k, parameter, value)
    return bytes(block)


def described(parameters: Sequence[Parameter], block: bytes, memory: DeviceMemory) -> str:
    """The arguments in a launch's block, as a text that is the same in every run of a program.

    One word an argument: a number, or ``@3+64`` for byte 64 of the allocation that was made after
    three others. Of an argument that has neither type nor size of one, all its words, as
    ``(1,2,@3)``: 32 bits each.
    """
    return " ".join(
        _described(parameter, block[parameter.offset : parameter.offset + parameter.bytes], memory)
        for parameter in parameters
    )


def _described(parameter: Parameter, raw: bytes, memory: DeviceMemory) -> str:
    if parameter.type in _FLOATS and not parameter.shape:
        return str(np.frombuffer(raw, "<" + _FLOATS[parameter.type])[0])
    if not parameter.shape and len(raw) <= 8:
        signed = parameter.type.startswith("s")
        return _place(raw, memory) or str(int.from_bytes(raw, "little", signed=signed))
    words = []
    for start in range(0, len(raw), 8):
        piece = raw[start : start + 8]
        if place := _place(piece, memory):
            words.append(place)
        else:
            halves = [piece[k : k + 4] for k in range(0, len(piece), 4)]
            words += [str(int.from_bytes(half, "little")) for half in halves]
    return f"({','.join(words)})"


def _place(raw: bytes, memory: DeviceMemory) -> str:
    """Where eight bytes point to in device memory; "" if they do not."""
    address = int.from_bytes(raw, "little")
    if len(raw) < 8 or not memory.base <= address < memory.base + memory.capacity:
        return ""
    found = memory.find(address)
    if found is None:
        return f"@+{address - memory.base}"
    offset = address - found[0]
    return f"@{memory.number(found[0])}" + (f"+{offset}" if offset else "")


def _bytes(kernel: str, k: int, parameter: Parameter, value: Any) -> bytes:
    name = f"{parameter.name}, " if parameter.name else ""
    where = f"kernel {kernel}, argument {k} ({name}{parameter.type}"
    where += "".join(f"[{n}]" for n in parameter.shape) + ")"
    if isinstance(value, np.ndarray) and value.ndim and not parameter.shape:
        raise WorkloadError(f"{where}: an array of the host; Device.array() copies it to the GPU")
    if isinstance(value, (bytes, bytearray, ctypes.Structure, np.void, np.ndarray)):
        raw = value.tobytes() if isinstance(value, (np.void, np.ndarray)) else bytes(value)
        if len(raw) != parameter.bytes:
            raise WorkloadError(f"{where}: {len(raw)} bytes given, {parameter.bytes} expected")
        return raw
    if parameter.shape:
        raise WorkloadError(f"{where}: takes {parameter.bytes} bytes, not {type(value).__name__}")
    pointer = getattr(value, "pointer", getattr(value, "handle", None))
    if pointer is not None:
        if parameter.bytes != 8:
            raise WorkloadError(f"{where}: a device array where a number is expected")
        return int(pointer).to_bytes(8, "little")
    return _number(where, parameter, value)


def _number(where: str, parameter: Parameter, value: Any) -> bytes:
    kind, size = parameter.type, parameter.bytes
    if isinstance(value, np.generic):
        value = value.item()
    if kind in _FLOATS and isinstance(value, (int, float)):
        try:
            return struct.pack("<" + _FLOATS[kind], value)
        except OverflowError:
            raise WorkloadError(f"{where}: {value} is too large") from None
    if isinstance(value, float) and kind in ("b32", "b64", "b16"):
        return struct.pack("<" + {2: "e", 4: "f", 8: "d"}[size], value)
    if isinstance(value, bool) or not isinstance(value, int):
        if not isinstance(value, bool):
            raise WorkloadError(f"{where}: cannot take {type(value).__name__} {value!r}")
        value = int(value)
    low, high = -(1 << (8 * size - 1)), (1 << 8 * size) - 1
    if not low <= value <= high:
        raise WorkloadError(f"{where}: {value} is out of range")
    return (value & high).to_bytes(size, "little")
