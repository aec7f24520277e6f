"""The only package that imports Numba: how the model is compiled, and where the result is kept.

Private facts of Numba are used here and nowhere else, and ``tests/test_jit.py`` pins them.
"""

from lockstep._jit.cache import PACKAGE, cache_root, is_compiled
from lockstep._jit.compilation import (
    DISABLED,
    compiled_seconds,
    force_inline,
    inline,
    jit,
    phase,
    policy,
    record_array,
    working_seconds,
)
from lockstep._jit.context import Context
from lockstep._jit.intrinsics import atomic_add, call_native, give_way, popcount

__all__ = [
    "DISABLED",
    "PACKAGE",
    "Context",
    "atomic_add",
    "cache_root",
    "call_native",
    "compiled_seconds",
    "force_inline",
    "give_way",
    "inline",
    "is_compiled",
    "jit",
    "phase",
    "policy",
    "popcount",
    "record_array",
    "working_seconds",
]
