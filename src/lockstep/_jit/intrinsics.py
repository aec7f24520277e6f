"""What compiled code asks of the processor directly, each with a stand-in for plain Python.

What compiled code does instead is in ``compiler/intrinsics.py``, under the same name.
"""

import ctypes
import threading
import time
from dataclasses import dataclass

from lockstep._jit.settings import DISABLED

_one_at_a_time = threading.Lock()


@dataclass(frozen=True)
class Intrinsic:
    """Stands for one of the functions in ``compiler/intrinsics.py``."""

    name: str


def _add_in_python(array, index, value):
    """``array[index] += value`` on a one-dimensional int64 array; returns the value before."""
    with _one_at_a_time:
        before = array[index]
        array[index] += value
    return before


def _call_native_from_python(address, state, mask):
    """Call machine code at an address: ``int64 f(void *state, int32 mask)``."""
    kind = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_uint32)
    return kind(int(address))(int(state), int(mask))


def _count_in_python(mask):
    """Set bits of an int64."""
    return (int(mask) & (1 << 64) - 1).bit_count()


def _give_way_in_python():
    """Offer the processor to another thread."""
    time.sleep(0)


atomic_add = _add_in_python if DISABLED else Intrinsic("atomic_add")
popcount = _count_in_python if DISABLED else Intrinsic("popcount")
call_native = _call_native_from_python if DISABLED else Intrinsic("call_native")
give_way = _give_way_in_python if DISABLED else Intrinsic("give_way")
