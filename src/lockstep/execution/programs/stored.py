"""Programs and object code as bytes, and back: data alone, of which reading runs nothing."""

from typing import Any, TypeVar

import msgspec
import numpy as np
from msgspec.structs import replace

from lockstep.execution.programs.program import BLOCK, Objects, Program
from lockstep.isa.instruction import INSTRUCTION

T = TypeVar("T", "Program", "Objects")

_KINDS = {
    "block": BLOCK,
    "instruction": INSTRUCTION,
    "int64": np.dtype(np.int64),
    "bool": np.dtype(bool),
}
"""Types of the arrays that a program has."""
_NAMES = {kind: name for name, kind in _KINDS.items()}


class Unreadable(Exception):
    """Bytes are no program."""


def pack(code: Program | Objects) -> bytes:
    """MessagePack of its fields; arrays of one axis are the name of a type and bytes."""
    if isinstance(code, Program):
        code = replace(code, supply=None)
    return msgspec.msgpack.encode(code, enc_hook=_array_to_pair)


def unpack(content: bytes, kind: type[T]) -> T:
    """That of which :func:`pack` made the bytes. Raises :class:`Unreadable`."""
    try:
        return msgspec.msgpack.decode(content, type=kind, dec_hook=_pair_to_array)
    except (msgspec.DecodeError, ValueError) as error:
        raise Unreadable(str(error)) from None


def _array_to_pair(array: Any) -> tuple[str, bytes]:
    if not isinstance(array, np.ndarray):
        raise NotImplementedError(f"a program holds {type(array)}")
    return _NAMES[array.dtype], array.tobytes()


def _pair_to_array(kind: type, pair: Any) -> np.ndarray:
    if kind is not np.ndarray:
        raise NotImplementedError(f"a program holds {kind}")
    name, content = msgspec.convert(pair, tuple[str, bytes])
    if name not in _KINDS:
        raise ValueError(f"an array of {name!r}")
    return np.frombuffer(content, _KINDS[name]).copy()
