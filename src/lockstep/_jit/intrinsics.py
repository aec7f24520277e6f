"""What compiled code asks of the processor directly, each with a stand-in for plain Python."""

import ctypes
import sys
import threading
import time

import numba
from llvmlite import ir
from numba import extending
from numba.core import cgutils

from lockstep._jit.cache import DISABLED

_one_at_a_time = threading.Lock()


def _add_in_python(array, index, value):
    with _one_at_a_time:
        before = array[index]
        array[index] += value
    return before


@extending.intrinsic
def _atomic_add(_, array, index, value):
    """``array[index] += value`` on a one-dimensional int64 array; returns the value before."""

    def generate(context, builder, signature, arguments):
        place, number = arguments[1:]
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.atomic_rmw("add", builder.gep(data, [place]), number, "seq_cst")

    return numba.types.int64(array, numba.types.int64, numba.types.int64), generate


@extending.intrinsic
def _give_way(_):
    """Offer the processor to another thread."""

    def generate(context, builder, signature, arguments):
        number = ir.IntType(32)
        name = "SwitchToThread" if sys.platform == "win32" else "sched_yield"
        kind = ir.FunctionType(number, [])
        builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [])
        return context.get_dummy_value()

    return numba.types.none(), generate


@extending.intrinsic
def _call_native(_, address, state, mask):
    """Call machine code at an address: ``int64 f(void *state, int32 mask)``."""

    def generate(context, builder, signature, arguments):
        kind = ir.FunctionType(ir.IntType(64), [ir.IntType(8).as_pointer(), ir.IntType(32)])
        function = builder.inttoptr(arguments[0], kind.as_pointer())
        record = builder.inttoptr(arguments[1], kind.args[0])
        return builder.call(function, [record, builder.trunc(arguments[2], kind.args[1])])

    number = numba.types.int64
    return number(number, number, number), generate


@extending.intrinsic
def _popcount(_, mask):
    """Set bits of an int64."""

    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return numba.types.int64(numba.types.int64), generate


def _call_native_from_python(address, state, mask):
    kind = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_uint32)
    return kind(int(address))(int(state), int(mask))


atomic_add = _add_in_python if DISABLED else _atomic_add
popcount = (lambda mask: (int(mask) & (1 << 64) - 1).bit_count()) if DISABLED else _popcount
call_native = _call_native_from_python if DISABLED else _call_native
give_way = (lambda: time.sleep(0)) if DISABLED else _give_way
