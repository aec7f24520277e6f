"""What compiled code does for each of ``_jit/intrinsics.py``."""

import platform
import sys

import numba
from llvmlite import ir
from numba import extending
from numba.core import cgutils

FUTEX = {"x86_64": 202, "aarch64": 98}.get(platform.machine()) if sys.platform == "linux" else None
"""The number of Linux's call for sleeping while a word does not change; elsewhere threads yield."""
FUTEX_WAIT, FUTEX_WAKE = 128, 129  # among threads of one process
CACHE_LINE = 64  # bytes of the host's
WORD = 8  # bytes of an element
_INT, _LONG = ir.IntType(32), ir.IntType(64)


@extending.intrinsic
def atomic_add(_, array, index, value):
    """``array[index] += value`` on a one-dimensional int64 array; returns the value before."""

    def generate(context, builder, signature, arguments):
        place, number = _place(context, builder, signature, arguments), arguments[2]
        return builder.atomic_rmw("add", place, number, "seq_cst")

    return numba.types.int64(array, numba.types.int64, numba.types.int64), generate


@extending.intrinsic
def look(_, array, index):
    """``array[index]`` of a one-dimensional int64 array, as it is now."""

    def generate(context, builder, signature, arguments):
        place = _place(context, builder, signature, arguments)
        return builder.load_atomic(place, "seq_cst", 8)

    return numba.types.int64(array, numba.types.int64), generate


@extending.intrinsic(prefer_literal=True)
def equal_words(_, words, first, value, width):
    """Which of ``width`` elements of an int64 array, from ``first`` on, are ``value``: a bit each.

    ``width`` is a literal.
    """

    def generate(context, builder, signature, arguments):
        count = width.literal_value
        place = _vector(context, builder, signature, arguments, count)
        same = builder.icmp_unsigned(
            "==", _read(builder, place), _repeated(builder, arguments[2], count)
        )
        return builder.zext(builder.bitcast(same, ir.IntType(count)), _LONG)

    number = numba.types.int64
    return number(words, number, number, width), generate


@extending.intrinsic(prefer_literal=True)
def push_words(_, words, first, value, count, width):
    """Of ``width`` elements of an int64 array, from ``first`` on, the first ``count`` move up by
    one, and ``value`` comes before them.

    ``width`` is a literal.
    """

    def generate(context, builder, signature, arguments):
        count = width.literal_value
        place = _vector(context, builder, signature, arguments, count)
        old = _read(builder, place)
        coming = _repeated(builder, arguments[2], count)
        order = ir.Constant(ir.VectorType(_INT, count), [count, *range(count - 1)])
        moved = builder.shuffle_vector(old, coming, order)
        places = ir.Constant(old.type, list(range(count)))
        moves = builder.icmp_signed("<=", places, _repeated(builder, arguments[3], count))
        builder.store(builder.select(moves, moved, old), place).align = WORD
        return context.get_dummy_value()

    number = numba.types.int64
    return numba.types.none(words, number, number, number, width), generate


@extending.intrinsic(prefer_literal=True)
def push_times(_, times, first, used, limit, value, width):
    """How many of ``width`` elements of an int32 array, from ``first`` on, exceed ``used``; those
    that exceed ``limit`` move up by one, if ``value`` does, which comes before them. None is less
    than 0 or than one that follows it.

    ``width`` is a literal.
    """

    def generate(context, builder, signature, arguments):
        count = width.literal_value
        place = _vector(context, builder, signature, arguments, count, _INT)
        least, limit, coming = (
            _repeated(builder, builder.trunc(arguments[k], _INT), count) for k in (2, 3, 4)
        )
        old = _read(builder, place, 4)
        younger = builder.bitcast(builder.icmp_signed(">", old, least), ir.IntType(count))
        order = ir.Constant(ir.VectorType(_INT, count), [count, *range(count - 1)])
        moved = builder.shuffle_vector(old, coming, order)
        # The greater of both, not a choice: that would become a masked store, which takes long.
        nothing = ir.Constant(old.type, [0] * count)
        going = builder.select(builder.icmp_signed(">", moved, limit), moved, nothing)
        new = builder.select(builder.icmp_signed(">", going, old), going, old)
        builder.store(new, place).align = 4
        return builder.ctpop(builder.zext(younger, _LONG))

    number = numba.types.int64
    return number(times, number, number, number, number, width), generate


@extending.intrinsic
def pause(_):
    """Leave a moment to whatever shares the core."""

    def generate(context, builder, signature, arguments):
        if platform.machine() in ("x86_64", "AMD64"):
            kind = ir.FunctionType(ir.VoidType(), [])
            name = "llvm.x86.sse2.pause"
            builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [])
        return context.get_dummy_value()

    return numba.types.none(), generate


@extending.intrinsic
def sleep_while(_, array, index, value):
    """Sleep while ``array[index]`` is ``value``; may also end for no reason."""

    def generate(context, builder, signature, arguments):
        if FUTEX is None:
            _give_way(builder)
        else:  # the kernel compares the lower half
            place = _place(context, builder, signature, arguments)
            _futex(builder, place, FUTEX_WAIT, builder.trunc(arguments[2], _INT))
        return context.get_dummy_value()

    return numba.types.none(array, numba.types.int64, numba.types.int64), generate


@extending.intrinsic
def wake_sleepers(_, array, index):
    """Wake all threads that sleep while ``array[index]`` is something."""

    def generate(context, builder, signature, arguments):
        if FUTEX is not None:
            place = _place(context, builder, signature, arguments)
            _futex(builder, place, FUTEX_WAKE, ir.Constant(_INT, (1 << 31) - 1))
        return context.get_dummy_value()

    return numba.types.none(array, numba.types.int64), generate


def _place(context, builder, signature, arguments):
    """Where the element of an array lies."""
    data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
    return builder.gep(data, [arguments[1]])


def _vector(context, builder, signature, arguments, count, kind=_LONG):
    """The place of so many elements of an array."""
    place = _place(context, builder, signature, arguments)
    return builder.bitcast(place, ir.VectorType(kind, count).as_pointer())


def _read(builder, place, size=WORD):
    """The elements at a place, which is where a single one of so many bytes may be."""
    read = builder.load(place)
    read.align = size
    return read


def _repeated(builder, value, count):
    """A value so many times."""
    nothing = ir.Constant(ir.VectorType(value.type, count), ir.Undefined)
    first = builder.insert_element(nothing, value, ir.Constant(_INT, 0))
    return builder.shuffle_vector(
        first, nothing, ir.Constant(ir.VectorType(_INT, count), [0] * count)
    )


def _futex(builder, place, operation, value):
    kind = ir.FunctionType(_LONG, [_LONG], var_arg=True)
    function = cgutils.get_or_insert_function(builder.module, kind, "syscall")
    number, nothing = ir.Constant(_LONG, FUTEX), ir.Constant(_LONG, 0)
    builder.call(function, [number, place, ir.Constant(_INT, operation), value, nothing])


def _give_way(builder):
    """Offer the processor to another thread."""
    name = "SwitchToThread" if sys.platform == "win32" else "sched_yield"
    kind = ir.FunctionType(_INT, [])
    builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [])


@extending.intrinsic
def nanoseconds(_, clock):
    """What one of the host's clocks shows, by its number in ``time``; 0 where there is none."""

    def generate(context, builder, signature, arguments):
        if sys.platform == "win32":
            return ir.Constant(_LONG, 0)
        shown = cgutils.alloca_once(builder, ir.LiteralStructType([_LONG, _LONG]))
        kind = ir.FunctionType(_INT, [_INT, shown.type])
        function = cgutils.get_or_insert_function(builder.module, kind, "clock_gettime")
        builder.call(function, [builder.trunc(arguments[0], _INT), shown])
        seconds, rest = (builder.extract_value(builder.load(shown), k) for k in range(2))
        return builder.add(builder.mul(seconds, ir.Constant(_LONG, 10**9)), rest)

    return numba.types.int64(numba.types.int64), generate


@extending.intrinsic
def call_native(_, address, state, argument):
    """Call machine code at an address: ``int64 f(void *state, int64 argument)``.

    One that takes 32 bits finds them in the lower half.
    """

    def generate(context, builder, signature, arguments):
        kind = ir.FunctionType(_LONG, [ir.IntType(8).as_pointer(), _LONG])
        function = builder.inttoptr(arguments[0], kind.as_pointer())
        record = builder.inttoptr(arguments[1], kind.args[0])
        return builder.call(function, [record, arguments[2]])

    number = numba.types.int64
    return number(number, number, number), generate


@extending.intrinsic
def call_phase(_, table, number, first, last, step, start, end):
    """Call a phase of a table that ``functions.phases`` made, with its context and numbers."""

    def generate(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        row = builder.mul(arguments[1], ir.Constant(_LONG, 2))
        address, state = (
            builder.load(builder.gep(data, [builder.add(row, ir.Constant(_LONG, k))]))
            for k in range(2)
        )
        kind = ir.FunctionType(_LONG, [_LONG] * 6)
        function = builder.inttoptr(address, kind.as_pointer())
        return builder.call(function, [state, *arguments[2:]])

    number = numba.types.int64
    return number(table, *[number] * 6), generate


@extending.intrinsic
def popcount(_, mask):
    """Set bits of an int64."""

    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return numba.types.int64(numba.types.int64), generate


@extending.intrinsic
def trailing_zeros(_, mask):
    """Bits below the lowest one that is set, of an int64; 64 of zero."""

    def generate(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return numba.types.int64(numba.types.int64), generate


@extending.intrinsic
def prefetch(_, record):
    """Bring a record, or the cache line in which an array begins, into the host's caches."""

    def generate(context, builder, signature, arguments):
        place, kind = arguments[0], signature.args[0]
        size = getattr(kind, "size", 1)
        if isinstance(kind, numba.types.Array):
            place = context.make_array(kind)(context, builder, place).data
        place = builder.bitcast(place, ir.IntType(8).as_pointer())
        form = ir.FunctionType(ir.VoidType(), [place.type, _INT, _INT, _INT])
        function = cgutils.get_or_insert_function(builder.module, form, "llvm.prefetch.p0i8")
        read, all_levels, data = (ir.Constant(_INT, n) for n in (0, 3, 1))
        for offset in range(0, size, CACHE_LINE):
            line = builder.gep(place, [ir.Constant(_LONG, offset)])
            builder.call(function, [line, read, all_levels, data])
        return context.get_dummy_value()

    return numba.types.none(record), generate


BY_NAME = {
    "atomic_add": atomic_add,
    "call_native": call_native,
    "call_phase": call_phase,
    "equal_words": equal_words,
    "look": look,
    "nanoseconds": nanoseconds,
    "pause": pause,
    "popcount": popcount,
    "prefetch": prefetch,
    "push_times": push_times,
    "push_words": push_words,
    "sleep_while": sleep_while,
    "trailing_zeros": trailing_zeros,
    "wake_sleepers": wake_sleepers,
}
