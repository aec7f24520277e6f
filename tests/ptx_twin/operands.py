"""Operands: reading and writing registers, immediates, addresses, special registers."""

import math
from functools import lru_cache
from operator import floordiv, mod

from lockstep.isa.ptx.syntax import (
    Immediate,
    Memory,
    Negated,
    Pair,
    Register,
    Sink,
    Symbol,
    Vector,
    type_bytes,
)
from ptx_twin.machine import WINDOWS
from ptx_twin.memory import Fault
from ptx_twin.numbers import convert, mask, signed

AXES = {"x": 0, "y": 1, "z": 2}
COMPONENTS = "xyzw"


@lru_cache
def type_bits(kind):
    return 1 if kind == "pred" else 8 * type_bytes(kind)


def read(thread, operand, kind):
    """The pattern of an operand, as many bits as the type has."""
    if isinstance(operand, Register):
        return register(thread, operand) & mask(type_bits(kind))
    if isinstance(operand, Immediate):
        return immediate(operand, kind)
    if isinstance(operand, Negated):
        return read(thread, operand.operand, "pred") ^ 1
    if isinstance(operand, Symbol):
        return symbol(thread, operand) & mask(type_bits(kind))
    if isinstance(operand, Vector):
        return packed(thread, operand, kind)
    raise Fault(f"cannot read {operand}")


def key(operand):
    return operand.name if operand.component < 0 else (operand.name, operand.component)


def register(thread, operand):
    frame, name = thread.frames[-1], operand.name
    if name in frame.function.registers:
        return frame.registers.get(key(operand), 0)
    if operand.component >= 0:
        name = f"{name}.{COMPONENTS[operand.component]}"
    return special(thread, name)


def immediate(operand, kind):
    if operand.bits == 64 and kind in ("f32", "b32"):
        return convert(operand.value, "f64", "f32")
    if operand.bits == 32 and kind == "f64":
        return convert(operand.value, "f32", "f64")
    return operand.value & mask(type_bits(kind))


def locate(thread, name):
    """The state space and the address there of a variable."""
    for table in (thread.frame.addresses, thread.cta.symbols, thread.machine.symbols):
        if name in table:
            return table[name]
    raise Fault(f"no variable {name}")


def symbol(thread, operand):
    if operand.name in thread.machine.module.functions:
        return thread.machine.function_address(operand.name)
    return locate(thread, operand.name)[1] + operand.offset


def packed(thread, vector, kind):
    """The elements of a vector side by side, the first one lowest."""
    bits = type_bits(kind) // len(vector.elements)
    parts = (read(thread, e, f"b{bits}") for e in vector.elements)
    return sum(part << (i * bits) for i, part in enumerate(parts))


def write(thread, operand, value, kind):
    """Write a result; a wider register is filled up as the type's sign says."""
    if isinstance(operand, Sink):
        return
    if isinstance(operand, Vector):
        bits = type_bits(kind) // len(operand.elements)
        for i, element in enumerate(operand.elements):
            write(thread, element, value >> (i * bits) & mask(bits), f"b{bits}")
        return
    if not isinstance(operand, Register):
        raise Fault(f"cannot write {operand}")
    frame = thread.frames[-1]
    declared = frame.function.registers[operand.name].type
    if kind[0] == "s" and type_bits(declared) > type_bits(kind):
        value = signed(value, type_bits(kind)) & mask(type_bits(declared))
    frame.registers[key(operand)] = value


def write_all(thread, operand, values, kinds):
    """Write one result, or the two of a pair."""
    if isinstance(operand, Pair):
        for part, value, kind in zip((operand.first, operand.second), values, kinds):
            write(thread, part, value, kind)
    else:
        write(thread, operand, values[0], kinds[0])


def elements(thread, operand):
    """The single operands of a vector, or of a vector register."""
    if isinstance(operand, Vector):
        return operand.elements
    if isinstance(operand, Register) and operand.component < 0:
        variable = thread.frame.function.registers.get(operand.name)
        if variable and variable.vector > 1:
            return tuple(Register(operand.name, i) for i in range(variable.vector))
    return (operand,)


def address(thread, operand, space):
    """The state space and address of a ``[...]``; names know their space."""
    if not isinstance(operand, Memory):
        operand = Memory(operand)
    if not isinstance(operand.base, Symbol):
        return space, (read(thread, operand.base, "b64") + operand.offset) % (1 << 64)
    home, start = locate(thread, operand.base.name)
    place = start + operand.base.offset + operand.offset
    if space == "generic":
        return "generic", place + WINDOWS.get(home, 0)
    return home, place


TRIPLES = {
    "%tid": lambda thread: thread.index,
    "%ntid": lambda thread: thread.machine.block,
    "%ctaid": lambda thread: thread.cta.index,
    "%nctaid": lambda thread: thread.machine.grid,
    "%clusterid": lambda thread: by_axis(floordiv, thread.cta.index, thread.machine.cluster),
    "%nclusterid": lambda thread: by_axis(floordiv, thread.machine.grid, thread.machine.cluster),
    "%cluster_ctaid": lambda thread: by_axis(mod, thread.cta.index, thread.machine.cluster),
    "%cluster_nctaid": lambda thread: thread.machine.cluster,
}
SINGLES = {
    "%laneid": lambda thread: thread.lane,
    "%warpid": lambda thread: thread.number // 32,
    "%nwarpid": lambda thread: -(-len(thread.cta.threads) // 32),
    "%lanemask_eq": lambda thread: 1 << thread.lane,
    "%lanemask_lt": lambda thread: mask(thread.lane),
    "%lanemask_le": lambda thread: mask(thread.lane + 1),
    "%lanemask_gt": lambda thread: mask(32) & ~mask(thread.lane + 1),
    "%lanemask_ge": lambda thread: mask(32) & ~mask(thread.lane),
    "%clock": lambda thread: thread.machine.clock & mask(32),
    "%clock_hi": lambda thread: thread.machine.clock >> 32,
    "%clock64": lambda thread: thread.machine.clock,
    "%globaltimer": lambda thread: thread.machine.clock,
    "%globaltimer_lo": lambda thread: thread.machine.clock & mask(32),
    "%globaltimer_hi": lambda thread: thread.machine.clock >> 32,
    "%smid": lambda thread: 0,
    "%nsmid": lambda thread: 1,
    "%gridid": lambda thread: 0,
    "%cluster_ctarank": lambda thread: thread.cta.rank,
    "%cluster_nctarank": lambda thread: math.prod(thread.machine.cluster),
    "%is_explicit_cluster": lambda thread: int(math.prod(thread.machine.cluster) > 1),
    "%dynamic_smem_size": lambda thread: thread.cta.dynamic_bytes,
    "%total_smem_size": lambda thread: thread.cta.shared.next - thread.cta.shared.base,
    "WARP_SZ": lambda thread: 32,
}


def by_axis(operation, extents, others):
    return [operation(a, b) for a, b in zip(extents, others)]


def special(thread, name):
    """The value of a special register."""
    if name in SINGLES:
        return SINGLES[name](thread)
    stem, _, axis = name.partition(".")
    if stem not in TRIPLES:
        raise Fault(f"unknown register {name}")
    return TRIPLES[stem](thread)[AXES[axis or "x"]]
