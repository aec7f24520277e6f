"""What compiled functions take and give, told without Numba: kinds, and the words they become.

A kind is the name of a number's type ("int64", "boolean", ...), an :class:`Array`, a
:class:`Tuple`, the kind of a context or a :class:`Callable`. ``str(kind)`` says all that machine
code depends on.
"""

import ctypes
import functools
import struct
import sys
from typing import Any, ClassVar, Protocol, cast

import msgspec
import numpy as np

_HALF = 1 << 63


@functools.cache
def _describe(dtype: np.dtype) -> str:
    """Names, types and places of a dtype's fields."""
    if dtype.subdtype:
        return f"{_describe(dtype.subdtype[0])}{list(dtype.subdtype[1])}"
    if dtype.names is None or dtype.fields is None:
        return dtype.str
    fields = [f"{name}:{_describe(f[0])}@{f[1]}" for name, f in dtype.fields.items()]
    return f"{{{','.join(fields)}}}{dtype.itemsize}{'a' * dtype.isalignedstruct}"


class Array(msgspec.Struct, frozen=True):
    """An array. ``layout`` is "C", "F" or "A" (any) as in NumPy."""

    dtype: np.dtype
    ndim: int = 1
    layout: str = "C"
    writable: bool = True

    def __str__(self) -> str:
        return f"{_describe(self.dtype)}x{self.ndim}{self.layout}{'w' * self.writable}"


class Callable(msgspec.Struct, frozen=True):
    """A function that compiled code calls through its address."""

    result: str
    arguments: tuple

    def __str__(self) -> str:
        return f"{self.result}({','.join(map(str, self.arguments))})"


class Named(Protocol):
    """A named tuple."""

    _fields: ClassVar[tuple[str, ...]]


class Tuple(msgspec.Struct, frozen=True):
    """Several values; a named tuple of class ``made`` if it is not None."""

    members: tuple
    made: type[Named] | None

    def __str__(self) -> str:
        names = ",".join(self.made._fields) if self.made else ""
        return f"({names}:{','.join(map(str, self.members))})"


# Record arrays answer for their attributes in Python, arrays in C: this is a third of the time
# in which a machine is built.
dtype_of, shape_of = np.ndarray.dtype.__get__, np.ndarray.shape.__get__
flags_of, _ctypes, _strides = (
    np.ndarray.flags.__get__,
    np.ndarray.ctypes.__get__,
    np.ndarray.strides.__get__,
)


def _asked_address(array: np.ndarray) -> int:
    return _ctypes(array).data


_word_at, _HEAD = ctypes.c_ssize_t.from_address, object.__basicsize__


def _read_address(array: np.ndarray) -> int:
    """What stands behind the head of the object, as in all of NumPy's ABI: an eighth of the time.

    A machine has 300 arrays, and small kernels wait for it to be built.
    """
    return _word_at(id(array) + _HEAD).value


def _is_read_right() -> bool:
    """Whether objects lie at their ids, and begin as CPython's do."""
    if sys.implementation.name != "cpython":
        return False
    probes = np.zeros(9, np.int8), np.zeros((2, 3))[1:], np.zeros(2, "i8,i4")
    return all(_read_address(probe) == _asked_address(probe) for probe in probes)


address_of = _read_address if _is_read_right() else _asked_address
"""Where the data of an array begins."""


def add_words(words: list[int], value: Any) -> Any:
    """Append what a call passes of an argument; returns its kind.

    Raises TypeError if compiled code cannot take it.
    """
    if isinstance(value, np.ndarray):
        return _add_array(words, value)
    if isinstance(value, bool | np.bool_):
        words.append(int(value))
        return "boolean"
    if isinstance(value, np.integer):
        words.append(_signed(int(value)))
        return value.dtype.name
    if isinstance(value, int):
        words.append(_signed(int(value)))
        return "int64"
    if isinstance(value, float):
        words.append(struct.unpack("<q", struct.pack("<d", value))[0])
        return "float64"
    if isinstance(value, tuple):
        members = tuple([add_words(words, member) for member in value])
        return Tuple(members, cast(type[Named], type(value)) if hasattr(value, "_fields") else None)
    if value is None:
        return "none"
    address = getattr(value, "_address", None)
    if address is None:
        raise TypeError(f"compiled code takes no {type(value).__name__}")
    words.append(address)
    return value.kind


def _signed(value: int) -> int:
    """The word of a number: of one too large its last 64 bits, as a signed number."""
    return value if -_HALF <= value < _HALF else (value + _HALF) % (2 * _HALF) - _HALF


def _add_array(words: list[int], value: np.ndarray) -> Array:
    flags, shape = flags_of(value), shape_of(value)
    layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
    words.append(address_of(value))
    words.extend(shape)
    if layout != "C":
        words.extend(_strides(value))
    return _array(dtype_of(value), len(shape), layout, flags.writeable)


@functools.cache
def _array(dtype: np.dtype, ndim: int, layout: str, writable: bool) -> Array:
    return Array(dtype, ndim, layout, writable)
