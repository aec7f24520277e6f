"""What compiled code asks of the processor directly, each with a stand-in for plain Python.

What compiled code does instead is in ``compiler/intrinsics.py``, under the same name.
"""

import ctypes
import sys
import threading
import time
from collections.abc import Callable
from typing import TypeVar, cast

import msgspec
import numpy as np

from lockstep._jit.settings import DISABLED

_Plain = TypeVar("_Plain", bound=Callable[..., object])
_one_at_a_time = threading.Lock()


class Intrinsic(msgspec.Struct, frozen=True):
    """Stands for one of the functions in ``compiler/intrinsics.py``."""

    name: str


def _intrinsic(name: str, plain: _Plain) -> _Plain:
    """What the model calls: compiled code never sees the stand-in, but both take the same."""
    return plain if DISABLED else cast("_Plain", Intrinsic(name))


def _add_in_python(array: np.ndarray, index: int, value: int) -> int:
    """``array[index] += value`` on a one-dimensional int64 array; returns the value before."""
    with _one_at_a_time:
        before = array[index]
        array[index] += value
    return before


def _call_native_from_python(address: int, state: int, argument: int) -> int:
    """Call machine code at an address: ``int64 f(void *state, int64 argument)``."""
    kind = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64)
    return kind(int(address))(int(state), int(argument))


def _call_phase_in_python(
    table: np.ndarray | list, number: int, first: int, last: int, step: int, start: int, end: int
) -> int:
    """Call a phase of a table that ``functions.phases`` made, with its context and numbers."""
    phase, context = table[number]
    return phase(context, first, last, step, start, end)


def _count_in_python(mask: int | np.integer) -> int:
    """Set bits of an int64."""
    return (int(mask) & (1 << 64) - 1).bit_count()


def _trailing_zeros_in_python(mask: int) -> int:
    """Bits below the lowest one that is set, of an int64; 64 of zero."""
    mask = int(mask) & (1 << 64) - 1
    return (mask & -mask).bit_length() - 1 if mask else 64


def _equal_words_in_python(words: np.ndarray, first: int, value: int, width: int) -> int:
    """Which of ``width`` elements of an int64 array, from ``first`` on, are ``value``: a bit each.

    ``width`` is a literal: compiled code compares all of them at once.
    """
    return sum(1 << k for k in range(width) if words[first + k] == value)


def _push_words_in_python(
    words: np.ndarray, first: int, value: int, count: int, width: int
) -> None:
    """Of ``width`` elements of an int64 array, from ``first`` on, the first ``count`` move up by
    one, and ``value`` comes before them; those behind stay, but for the one that is replaced.

    ``width`` is a literal, and so many may move: then the last one is lost.
    """
    last = min(count, width - 1)
    words[first + 1 : first + last + 1] = words[first : first + last].copy()
    words[first] = value


def _push_times_in_python(
    times: np.ndarray, first: int, used: int, limit: int, value: int, width: int
) -> int:
    """How many of ``width`` elements of an int32 array, from ``first`` on, exceed ``used``.

    None is less than 0 or than one that follows it. Those that exceed ``limit``, which is not less
    than ``used``, move up by one, if ``value`` does, which comes before them; what follows stays,
    but for the one that is replaced. ``width`` is a literal: compiled code does it all at once.
    """
    old = times[first : first + width].tolist()
    for k, moved in enumerate([value, *old[:-1]]):
        if moved > limit:
            times[first + k] = moved
    return sum(time > used for time in old)


def _look_in_python(array: np.ndarray, index: int) -> int:
    """``array[index]`` of a one-dimensional int64 array, as it is now."""
    return array[index]


def _nanoseconds_in_python(clock: int) -> int:
    """What one of the host's clocks shows, by its number in ``time``; 0 where there is none."""
    return time.clock_gettime_ns(clock) if sys.platform != "win32" else 0


def _pause_in_python() -> None:
    """Leave a moment to whatever shares the core."""


def _prefetch_in_python(record: np.void | np.ndarray) -> None:
    """Bring a record, or the cache line in which an array begins, into the host's caches."""


def _sleep_while_in_python(array: np.ndarray, index: int, value: int) -> None:
    """Sleep while ``array[index]`` is ``value``; may also end for no reason."""
    time.sleep(0)


def _wake_sleepers_in_python(array: np.ndarray, index: int) -> None:
    """Wake all threads that sleep while ``array[index]`` is something."""


atomic_add = _intrinsic("atomic_add", _add_in_python)
popcount = _intrinsic("popcount", _count_in_python)
call_native = _intrinsic("call_native", _call_native_from_python)
call_phase = _intrinsic("call_phase", _call_phase_in_python)
equal_words = _intrinsic("equal_words", _equal_words_in_python)
push_words = _intrinsic("push_words", _push_words_in_python)
push_times = _intrinsic("push_times", _push_times_in_python)
look = _intrinsic("look", _look_in_python)
nanoseconds = _intrinsic("nanoseconds", _nanoseconds_in_python)
pause = _intrinsic("pause", _pause_in_python)
prefetch = _intrinsic("prefetch", _prefetch_in_python)
trailing_zeros = _intrinsic("trailing_zeros", _trailing_zeros_in_python)
sleep_while = _intrinsic("sleep_while", _sleep_while_in_python)
wake_sleepers = _intrinsic("wake_sleepers", _wake_sleepers_in_python)
