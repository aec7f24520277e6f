"""Decorators of the model's functions, and functions that are called through their addresses."""

import ctypes
import struct
from array import array
from collections.abc import Callable as Called
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from time import perf_counter
from types import FunctionType
from typing import Any, TypeVar, cast

import msgspec
import numpy as np

from lockstep import store
from lockstep._jit import loading
from lockstep._jit.context import Context
from lockstep._jit.function import ModelFunction
from lockstep._jit.keys import entry_key
from lockstep._jit.kinds import Array, Callable
from lockstep._jit.settings import CALLBACK, DISABLED, ENTRY
from lockstep._jit.target import host_key

_HEAD = struct.Struct("<I")
_Plain = TypeVar("_Plain", bound=Called[..., object])
_seconds: list[float] = []  # of each entry; several threads append


class Head(msgspec.Struct):
    """What is kept with object code: ``results`` are kinds of numbers."""

    symbol: str
    results: list[str]
    several: bool = False


class _Entry:
    """Machine code of a function for arguments of some kinds."""

    def __init__(self, function: ModelFunction, kinds: tuple, words: int):
        head, address = _get(function.py_func, ENTRY, kinds)
        self._call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(address)
        self._room = [0] * max(len(head.results) - words, 0)  # of results, behind the words
        self._name, self._head = function.py_func.__name__, head
        self._plain = head.results == ["int64"] and not head.several

    def block(self, words: list[int]) -> array:
        return array("q", words + self._room)

    def __call__(self, block: array) -> Any:
        if self._call(block.buffer_info()[0]):
            raise IndexError(f"{self._name}: an index is out of bounds")
        if self._plain:
            return block[0]
        results = [_to_python(kind, word) for kind, word in zip(self._head.results, block)]
        return tuple(results) if self._head.several else results[0] if results else None


def _to_python(kind: str, word: int) -> bool | int | float:
    if kind == "boolean":
        return bool(word)
    if kind == "float64":
        return struct.unpack("<d", struct.pack("<q", word))[0]
    return word & (1 << 64) - 1 if kind.startswith("uint") else word


class Pointer(msgspec.Struct, frozen=True):
    """A compiled function that others call through its address; ``owner`` keeps it there."""

    address: int
    kind: Callable
    owner: object = None


def jit(function: _Plain) -> _Plain:
    """Compile a function of the model: no reference counts, no GIL, kept on disk."""
    return _compiled(function)


def bound(function: Called[..., Any], *arguments: Any) -> Called[[], Any]:
    """A jitted function with arguments for many calls, which take a tenth of the time.

    Arrays may change what they hold, not where it lies; numbers stay what they are.
    """
    return (
        partial(function, *arguments) if DISABLED else cast(ModelFunction, function).bind(arguments)
    )


def inline(function: _Plain) -> _Plain:
    """As :func:`jit`, for functions that only other jitted functions call, as parts of them.

    LLVM inlines what is small. Forcing it everywhere made the whole model compile half as long
    again.
    """
    return _compiled(function)


def force_inline(function: _Plain) -> _Plain:
    """As :func:`inline`, but always: where a call would cost more than what it does.

    For the few functions that run for every instruction or record: on the way of an issue it
    makes compute-bound kernels almost twice as fast.
    """
    return _compiled(function, forced=True)


def _compiled(function: _Plain, forced: bool = False) -> _Plain:
    """It is called as before: by types it stays what it was."""
    return function if DISABLED else cast("_Plain", ModelFunction(function, _Entry, forced))


def record_array(dtype: np.dtype, ndim: int = 1) -> Array:
    """The kind of a C-contiguous array of ``dtype``, for signatures of policies."""
    return Array(dtype, ndim)


def policy(function: FunctionType, result: str, *arguments: Any) -> FunctionType | Pointer:
    """Compile a user's plain function alone (about 0.3 s) for a call through its address.

    The calling loop is not compiled again. ``result`` and ``arguments`` are kinds, from
    :func:`record_array` or "int64". Without JIT the function itself comes back.
    Raises TypeError if it returns no integer.
    """
    if DISABLED:
        return function
    kind = Callable(result, arguments)
    with _counted():
        kept = entry_key(function, CALLBACK, arguments)
    if kept:
        return Pointer(_get(function, CALLBACK, arguments)[1], kind)
    from lockstep._jit.compiler import policies

    with _counted():
        owner = policies.compile_policy(function, kind)
    assert owner.address is not None, "it was compiled"
    return Pointer(owner.address, kind, owner)


def phase(function: Called[..., int], kinds: tuple, integers: int) -> Called[..., int] | Pointer:
    """A jitted function as a pointer, for a loop that calls it through its address.

    ``function(*contexts, *integers) -> int``; ``kinds`` are those of the contexts. The loop is
    not compiled again when the function changes. Machine code is kept as for :func:`jit`.
    """
    if DISABLED:
        return function
    arguments = (*kinds, *["int64"] * integers)
    address = _get(cast(ModelFunction, function).py_func, CALLBACK, arguments)[1]
    return Pointer(address, Callable("int64", arguments))


def phases(of: Sequence[tuple[Called[..., int] | Pointer, Context]]) -> np.ndarray | list:
    """Phases and the contexts that they run on, as ``call_phase`` finds them by number.

    Whoever makes the table keeps both alive, and may put another row into it.
    """
    if DISABLED:
        return list(of)
    return np.array([phase_row(*row) for row in of], np.int64)


def phase_row(phase: Called[..., int] | Pointer, context: Context) -> tuple:
    """A row of such a table."""
    if DISABLED:
        return phase, context
    return cast(Pointer, phase).address, context._address


def is_compiled(function: Called[..., object]) -> bool:
    """Whether machine code of a jitted function was kept for this version and processor."""
    return DISABLED or _find(_key(cast(ModelFunction, function).py_func, "any")) is not None


def _key(function: FunctionType, form: str, kinds: tuple = ()) -> str | None:
    key = entry_key(function, form, kinds)
    return key and f"{key} {host_key()}"


def _find(key: str | None) -> bytes | None:
    return store.get("model", key) if key else None


def compiled_seconds() -> float:
    """Seconds of this process so far in which code was compiled, or loaded from the disk."""
    return sum(_seconds)


def working_seconds() -> float:
    """A clock for differences that stands still while something is compiled or loaded."""
    return perf_counter() - compiled_seconds()


@contextmanager
def _counted() -> Iterator[None]:
    begin = perf_counter()
    try:
        yield
    finally:
        _seconds.append(perf_counter() - begin)


def _get(function: FunctionType, form: str, kinds: tuple) -> tuple[Head, int]:
    """Machine code from the store, or compiled and put there; its head and its address."""
    with _counted():
        return _load(function, form, kinds)


def _load(function: FunctionType, form: str, kinds: tuple) -> tuple[Head, int]:
    key = _key(function, form, kinds)
    content = _find(key)
    if content is None and key is not None:
        with store.claimed("model", key):
            content = _find(key)  # another process has just made it
            if content is None:
                return _compile(function, form, kinds, key)
    if content is None:
        return _compile(function, form, kinds, None)
    head, objects = unpack(content)
    return head, loading.load(objects, head.symbol)


def _compile(function: FunctionType, form: str, kinds: tuple, key: str | None) -> tuple[Head, int]:
    """Compiled, and put into the store under a key."""
    from lockstep._jit.compiler import entries

    compiled = entries.compile_entry(function, form, kinds)
    head = Head(compiled.symbol, compiled.results, compiled.several)
    if key and compiled.objects:
        told = msgspec.json.encode(head)
        kept = store.put("model", key, _HEAD.pack(len(told)) + told + compiled.objects)
        if kept and (sign := _key(function, "any")):
            store.put("model", sign, b"")
    return head, compiled.address


def unpack(content: bytes) -> tuple[Head, bytes]:
    """Head and object code, as they are kept."""
    (length,) = _HEAD.unpack_from(content)
    start = _HEAD.size + length
    return msgspec.json.decode(content[_HEAD.size : start], type=Head), content[start:]
