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


def _look_in_python(array, index):
    """``array[index]`` of a one-dimensional int64 array, as it is now."""
    return array[index]


def _pause_in_python():
    """Leave a moment to whatever shares the core."""


def _prefetch_in_python(record):
    """Bring a record, or the cache line in which an array begins, into the host's caches."""


def _sleep_while_in_python(array, index, value):
    """Sleep while ``array[index]`` is ``value``; may also end for no reason."""
    time.sleep(0)


def _wake_sleepers_in_python(array, index):
    """Wake all threads that sleep while ``array[index]`` is something."""


atomic_add = _add_in_python if DISABLED else Intrinsic("atomic_add")
popcount = _count_in_python if DISABLED else Intrinsic("popcount")
call_native = _call_native_from_python if DISABLED else Intrinsic("call_native")
look = _look_in_python if DISABLED else Intrinsic("look")
pause = _pause_in_python if DISABLED else Intrinsic("pause")
prefetch = _prefetch_in_python if DISABLED else Intrinsic("prefetch")
sleep_while = _sleep_while_in_python if DISABLED else Intrinsic("sleep_while")
wake_sleepers = _wake_sleepers_in_python if DISABLED else Intrinsic("wake_sleepers")
