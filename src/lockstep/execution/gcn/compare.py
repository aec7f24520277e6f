"""Comparisons of the vector unit: a mask of the lanes in which they hold.

``v_cmpx`` also replaces EXEC by it, and ``v_cmps`` signals NaNs, which nobody is told of: the mask
is the same.
"""

from functools import partial

from lockstep.execution.gcn.arithmetic import Arithmetic, Table, both, is_number, no
from lockstep.execution.gcn.float_mode import mode_of
from lockstep.execution.lanes.builder import LaneBuilder
from lockstep.execution.lanes.compare import compare_floats, compare_integers
from lockstep.execution.lanes.formats import format_of, keep, raw
from lockstep.execution.lanes.integer import negative
from lockstep.execution.lanes.types import F32, F64, I32, I64, PRED, Value

_REAL = {
    "lt": "lt", "eq": "eq", "le": "le", "gt": "gt", "lg": "ne", "ge": "ge", "o": "num", "u": "nan",
    "nge": "ltu", "nlg": "equ", "ngt": "leu", "nle": "gtu", "neq": "neu", "nlt": "geu",
}  # fmt: skip
_WHOLE = ("lt", "eq", "le", "gt", "ne", "ge")


def _real(b: LaneBuilder, x: Value, y: Value, order: str) -> Value:
    return compare_floats(b, order, x, y, flushed=x.type == F32 and not mode_of(b).keeps_singles)


def _whole(b: LaneBuilder, x: Value, y: Value, order: str, signed: bool) -> Value:
    return compare_integers(b, order, x, y, signed)


def _always(b: LaneBuilder, x: Value, y: Value, holds: int) -> Value:
    return b.constant(PRED, holds)


def _class(b: LaneBuilder, x: Value, wanted: Value) -> Value:
    """Whether a number is of one of the classes whose bits are set.

    From bit 0 on: signalling NaN, quiet NaN, -infinity, negative, negative and subnormal, -0, +0,
    positive and subnormal, positive, +infinity. Subnormal numbers are such in all modes.
    """
    form, bits = format_of(x.type), raw(b, x)
    size = keep(b, bits, form.sign - 1)

    def below(bound: int) -> Value:
        return Value(b.ir.icmp_unsigned("<", size.ir, b.constant(size.type, bound).ir), PRED)

    minus = negative(b, bits)
    result = b.constant(I32, 1 << 1)
    bounds = [  # ascending: what lies below each is of a class, negative and positive
        (1, 5, 6),
        (1 << form.fraction_bits, 4, 7),
        (form.infinity, 3, 8),
        (form.infinity + 1, 2, 9),
        (form.infinity | 1 << form.fraction_bits - 1, 0, 0),
    ]
    for bound, low, high in reversed(bounds):
        here = b.select(minus, b.constant(I32, 1 << low), b.constant(I32, 1 << high))
        result = b.select(below(bound), here, result)
    return no(b, is_number(b, both(b, result, wanted), 0))


def _orders() -> Table:
    table = {}
    for kind in (F32, F64):
        emits = {order: partial(_real, order=word) for order, word in _REAL.items()}
        emits |= {"f": partial(_always, holds=0), "tru": partial(_always, holds=1)}
        for order, emit in emits.items():
            for prefix in ("v_cmp", "v_cmpx", "v_cmps", "v_cmpsx"):
                name = f"{prefix}_{order}_{kind.name}"
                table[name] = Arithmetic(emit, (kind, kind), (PRED,))
    for kind in (I32, I64):
        for letter, signed in (("i", True), ("u", False)):
            emits = {order: partial(_whole, order=order, signed=signed) for order in _WHOLE}
            emits |= {"f": partial(_always, holds=0), "t": partial(_always, holds=1)}
            for order, emit in emits.items():
                for prefix in ("v_cmp", "v_cmpx"):
                    name = f"{prefix}_{order}_{letter}{kind.bits}"
                    table[name] = Arithmetic(emit, (kind, kind), (PRED,))
    for kind in (F32, F64):
        for prefix in ("v_cmp", "v_cmpx"):
            table[f"{prefix}_class_{kind.name}"] = Arithmetic(_class, (kind, I32), (PRED,))
    return table


COMPARE: Table = _orders()
