"""Decorators of the model's functions, and functions that are called through their addresses.

``_nrt=False`` is private to Numba: no reference counts make calls 9 to 54 times faster, and any
allocation inside the model becomes a compile error.
"""

import functools
import warnings
from pathlib import Path
from time import perf_counter

import numba
from numba.core import event
from numba.core.ccallback import CFunc
from numba.core.errors import NumbaExperimentalFeatureWarning

from lockstep._jit.cache import DISABLED, OPTIONS, PACKAGE, Cache
from lockstep._jit.parts import Part

# Policies are called through their addresses; Numba announces that this is experimental.
warnings.simplefilter("ignore", NumbaExperimentalFeatureWarning)
_compiling = event.TimingListener()
event.register("numba:compiler_lock", _compiling)


def compiled_seconds() -> float:
    """Seconds of this process so far in which code was compiled, or loaded from the disk."""
    return _compiling.duration if _compiling.done else 0.0


def working_seconds() -> float:
    """A clock for differences that stands still while something is compiled or loaded."""
    return perf_counter() - compiled_seconds()


def jit(function):
    """Compile a function of the model: no reference counts, no GIL, cached on disk."""
    compiled = numba.njit(**OPTIONS)(function)
    if not DISABLED:
        compiled._cache = Cache(function)
    return compiled


def inline(function):
    """As :func:`jit`, for functions that only other jitted functions call, as parts of them.

    They have no cache of their own, and LLVM inlines what is small. Forcing it everywhere made
    the whole model compile half as long again.
    """
    return function if DISABLED else Part(function, **OPTIONS)


def force_inline(function):
    """As :func:`inline`, but always: where a call would cost more than what it does.

    For the few functions that run for every instruction or record: on the way of an issue it
    makes compute-bound kernels almost twice as fast.
    """
    return function if DISABLED else Part(function, forceinline=True, **OPTIONS)


@functools.cache
def record_array(dtype, ndim: int = 1):
    """The Numba type of a C-contiguous array of ``dtype``, for signatures of policies."""
    return numba.types.Array(numba.from_dtype(dtype), ndim, "C")


def policy(function, result, *arguments):
    """Compile a user's plain function alone (about 0.3 s) for a call through its address.

    The calling loop is not compiled again. ``result`` and ``arguments`` are Numba types, from
    :func:`record_array` or "int64". Without JIT the function itself comes back.
    Raises TypeError if it returns no integer.
    """
    if DISABLED:
        return function
    kinds = [getattr(numba.types, a) if isinstance(a, str) else a for a in (result, *arguments)]
    ours = Path(function.__code__.co_filename).is_relative_to(PACKAGE)
    return _callback(
        _Policy(function, (tuple(kinds[1:]), kinds[0]), {}, _CALLBACK_OPTIONS), keep=ours
    )


def phase(function, kinds: tuple, integers: int):
    """A jitted function as a pointer, for a loop that calls it through its address.

    ``function(*contexts, *integers) -> int``; ``kinds`` are those of the contexts. The loop is
    not compiled again when the function changes. Machine code is cached as for :func:`jit`.
    """
    if DISABLED:
        return function
    int64 = numba.types.int64
    arguments = (*kinds, *[int64] * integers)
    return _callback(CFunc(function.py_func, (arguments, int64), {}, _CALLBACK_OPTIONS), keep=True)


_CALLBACK_OPTIONS = {"nopython": True, "error_model": "numpy", "_nrt": False}


def _callback(function: CFunc, keep: bool) -> CFunc:
    if keep:
        function._cache = Cache(function._pyfunc)
    function.compile()
    return function


class _Policy(CFunc):
    """Refuses what Numba would convert: a fraction would be cut off without a word."""

    def _compile_uncached(self):
        result = super()._compile_uncached()
        code = result.type_annotation
        for block in code.blocks.values():
            for value in block.find_exprs("cast"):  # before each return, and nowhere else
                found = numba.types.unliteral(code.typemap[value.value.name])
                if not isinstance(found, numba.types.Integer | numba.types.Boolean):
                    raise TypeError(f"it returns {found}; expected an integer")
        return result
