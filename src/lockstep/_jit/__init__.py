"""How the model is compiled, and called: the only package that knows Numba.

What is compiled lies in the store, as object code that is loaded and called by its address: a
process that compiles nothing never imports Numba. ``functions.py`` is what the model is written
with, ``function.py`` what a function is then, ``records.py``, ``kinds.py`` and ``context.py`` what
functions take, ``keys.py`` what object code depends on: files, and the processor, of which
``target.py`` knows. ``loading.py`` gets it into the process, on Linux by ``placing.py``, and
``perf_map.py`` tells its names; ``compiler/`` makes it. ``holding.py`` keeps signals where machine
code calls Python.
"""

from lockstep._jit.collection import without_collection
from lockstep._jit.context import Context
from lockstep._jit.functions import (
    Pointer,
    bound,
    compiled_seconds,
    force_inline,
    inline,
    is_compiled,
    jit,
    phase,
    phase_row,
    phases,
    policy,
    record_array,
    working_seconds,
)
from lockstep._jit.holding import SignalHold
from lockstep._jit.intrinsics import (
    atomic_add,
    call_native,
    call_phase,
    equal_words,
    look,
    nanoseconds,
    pause,
    popcount,
    prefetch,
    push_times,
    push_words,
    sleep_while,
    trailing_zeros,
    wake_sleepers,
)
from lockstep._jit.keys import PACKAGE, versions
from lockstep._jit.records import Record, Records, array_type, as_records
from lockstep._jit.settings import DISABLED
from lockstep._jit.target import processor

__all__ = [
    "DISABLED",
    "PACKAGE",
    "Context",
    "Pointer",
    "Record",
    "Records",
    "SignalHold",
    "array_type",
    "as_records",
    "atomic_add",
    "bound",
    "call_native",
    "call_phase",
    "compiled_seconds",
    "equal_words",
    "force_inline",
    "inline",
    "is_compiled",
    "jit",
    "look",
    "nanoseconds",
    "pause",
    "phase",
    "phase_row",
    "phases",
    "policy",
    "popcount",
    "prefetch",
    "processor",
    "push_times",
    "push_words",
    "record_array",
    "sleep_while",
    "trailing_zeros",
    "versions",
    "wake_sleepers",
    "without_collection",
    "working_seconds",
]
