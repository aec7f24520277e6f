"""What compiled code does for each of ``_jit/intrinsics.py``."""

import sys

import numba
from llvmlite import ir
from numba import extending
from numba.core import cgutils


@extending.intrinsic
def atomic_add(_, array, index, value):
    """``array[index] += value`` on a one-dimensional int64 array; returns the value before."""

    def generate(context, builder, signature, arguments):
        place, number = arguments[1:]
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.atomic_rmw("add", builder.gep(data, [place]), number, "seq_cst")

    return numba.types.int64(array, numba.types.int64, numba.types.int64), generate


@extending.intrinsic
def give_way(_):
    """Offer the processor to another thread."""

    def generate(context, builder, signature, arguments):
        number = ir.IntType(32)
        name = "SwitchToThread" if sys.platform == "win32" else "sched_yield"
        kind = ir.FunctionType(number, [])
        builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [])
        return context.get_dummy_value()

    return numba.types.none(), generate


@extending.intrinsic
def call_native(_, address, state, mask):
    """Call machine code at an address: ``int64 f(void *state, int32 mask)``."""

    def generate(context, builder, signature, arguments):
        kind = ir.FunctionType(ir.IntType(64), [ir.IntType(8).as_pointer(), ir.IntType(32)])
        function = builder.inttoptr(arguments[0], kind.as_pointer())
        record = builder.inttoptr(arguments[1], kind.args[0])
        return builder.call(function, [record, builder.trunc(arguments[2], kind.args[1])])

    number = numba.types.int64
    return number(number, number, number), generate


@extending.intrinsic
def popcount(_, mask):
    """Set bits of an int64."""

    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return numba.types.int64(numba.types.int64), generate


BY_NAME = {
    "atomic_add": atomic_add,
    "call_native": call_native,
    "give_way": give_way,
    "popcount": popcount,
}
