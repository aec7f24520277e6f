"""One element for each lane, at host addresses that were checked."""

from llvmlite import ir

from lockstep.execution.lanes.builder import HALF, POINTER, WORD, LaneBuilder, type_suffix
from lockstep.execution.lanes.flow import Values
from lockstep.execution.lanes.types import I64, Type, Value


def pointers(b: LaneBuilder, host: Value) -> ir.Value:
    """Host addresses as a vector of pointers."""
    return b.ir.inttoptr(host.ir, ir.VectorType(POINTER, b.lanes))


def gather(b: LaneBuilder, host: Value, kind: Type) -> ir.Value:
    """One element for each active lane from checked host addresses."""
    vector = b.vector(kind)
    name = f"llvm.masked.gather.{type_suffix(vector)}.v{b.lanes}p0"
    align, rest = ir.Constant(HALF, kind.bytes), ir.Constant(vector, ir.Undefined)
    return b.intrinsic(name, vector, [pointers(b, host), align, b.active.ir, rest])


def scatter(b: LaneBuilder, host: Value, value: Value) -> None:
    """Store one element for each active lane at checked host addresses."""
    name = f"llvm.masked.scatter.{type_suffix(value.ir.type)}.v{b.lanes}p0"
    align = ir.Constant(HALF, value.type.bytes)
    arguments = [value.ir, pointers(b, host), align, b.active.ir]
    b.intrinsic(name, ir.VoidType(), arguments)


def row_addresses(b: LaneBuilder, halves: Values, size: int) -> Value:
    """Host addresses of all lanes, ``size`` bytes each, of two rows that begin at pointers."""
    firsts = ir.Constant(ir.VectorType(WORD, 2), ir.Undefined)
    for k, pointer in enumerate(halves):
        word = b.ir.ptrtoint(pointer, WORD)
        firsts = b.ir.insert_element(firsts, word, ir.Constant(HALF, k))
    starts = b.shuffle(firsts, firsts, [0] * b.half + [1] * b.half)
    steps = b.each(I64, [k % b.half * size for k in range(b.lanes)])
    return Value(b.ir.add(starts, steps.ir), I64)
