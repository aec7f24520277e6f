"""Atomic operations, as the local data share and buffers name them."""

from lockstep.execution.gcn.lift import Lift
from lockstep.execution.lanes import atomics as lanes
from lockstep.execution.lanes.addresses import Access
from lockstep.execution.lanes.integer import negate
from lockstep.execution.lanes.types import F32, I32, Type, Value

_UNSIGNED, _SIGNED, _BITS, _FLOAT = ("u32", "u64"), ("i32", "i64"), ("b32", "b64"), ("f32", "f64")
NAMES = {  # of the local data share: the types that each has
    "add": _UNSIGNED, "sub": _UNSIGNED, "rsub": _UNSIGNED, "inc": _UNSIGNED, "dec": _UNSIGNED,
    "min": (*_SIGNED, *_UNSIGNED, *_FLOAT), "max": (*_SIGNED, *_UNSIGNED, *_FLOAT),
    "and": _BITS, "or": _BITS, "xor": _BITS, "mskor": _BITS, "wrxchg": _BITS,
    "cmpst": (*_BITS, *_FLOAT),
}  # fmt: skip
OF_BUFFERS: dict[str, tuple[Type, bool]] = {  # the type that each has, and its sign
    **dict.fromkeys(("swap", "cmpswap", "add", "sub", "umin", "umax"), (I32, False)),
    **dict.fromkeys(("and", "or", "xor", "inc", "dec"), (I32, False)),
    **dict.fromkeys(("smin", "smax"), (I32, True)),
    **dict.fromkeys(("fcmpswap", "fmin", "fmax"), (F32, True)),
}
_OPERATIONS = {
    "wrxchg": "exch", "swap": "exch", "cmpst": "cas", "cmpswap": "cas", "fcmpswap": "cas",
    "sub": "add", "umin": "min", "smin": "min", "fmin": "min", "umax": "max", "smax": "max",
    "fmax": "max",
}  # fmt: skip


def combine(
    lift: Lift, access: Access, name: str, kind: Type, operands: list[Value], signed: bool = False
) -> Value:
    """Combine memory with values of the active lanes; what it had before.

    Of what is exchanged if it is the same, the value to compare with comes first.
    """
    if name == "sub":
        operands = [negate(lift.b, operands[0])]
    operation = _OPERATIONS.get(name, name)
    return lanes.atomic(lift.b, access, operation, kind, [operands], signed)[0]
