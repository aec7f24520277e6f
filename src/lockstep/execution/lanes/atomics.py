"""Atomic operations: a read, a change and a write for one lane after the other, in lane order.

The host runs the threads of a launch one at a time, so nothing else can come between.
"""

from llvmlite import ir

from lockstep.execution.checks.races import Kind
from lockstep.execution.lanes import floating, races, written
from lockstep.execution.lanes.addresses import Access, host_addresses
from lockstep.execution.lanes.builder import (
    CANONICAL_NAN,
    HALF,
    POINTER,
    WORD,
    LaneBuilder,
)
from lockstep.execution.lanes.flow import Values, element, lanes_in_order, outlined, spill
from lockstep.execution.lanes.formats import from_raw
from lockstep.execution.lanes.integer import resize
from lockstep.execution.lanes.types import F32, I64, INTEGERS, Type, Value
from lockstep.execution.state import Window

FLOAT = ir.FloatType()
BANKS = 32  # of 32-bit words
_BANK_MASK = ir.IntType(BANKS)


def atomic(
    b: LaneBuilder,
    access: Access,
    operation: str,
    kind: Type,
    operands: list[list[Value]],
    signed: bool = False,
    packed: bool = False,
) -> list[Value]:
    """Combine memory with the operands; the values that memory had before.

    ``operation``: add, rsub (the value less what was there), min, max, and, or, xor, inc, dec,
    exch, cas, mskor. ``operands``: for each consecutive element its value; for cas the new value
    after the one to compare with, for mskor what replaces the bits after these.
    ``packed``: a 32-bit element is two of ``kind``. Additions of f32 flush subnormal numbers to
    zero in global memory and nowhere else, as the PTX ISA has it.
    """
    combine = Combination(operation, kind, signed, packed)
    stored = combine.stored
    values = [b.cast(v, stored).ir for element_values in operands for v in element_values]
    name = f"{combine.name}_{len(operands)}_{access.name}"
    results = outlined(
        b,
        name,
        [b.vector(stored)] * len(operands),
        [access.address.ir, access.site, *values],
        lambda inner, address, site, *v: _one_by_one(
            inner, access.inside(address, site), combine, len(operands), v
        ),
    )
    return [Value(r, stored) for r in results]


def _one_by_one(
    b: LaneBuilder, access: Access, combine: "Combination", count: int, values: Values
) -> Values:
    host = host_addresses(b, access)
    if combine.operation != "exch":
        written.read(b, access, host)
    written.write(b, access, host)
    races.access_all(b, access, host, Kind.ATOMIC)
    stored, size = combine.stored.element, combine.stored.bytes
    addresses = spill(b, host.ir)
    operands = [spill(b, v) for v in values]
    results = [spill(b, ir.Constant(b.vector(combine.stored), None)) for _ in range(count)]
    plain = spill(b, access.address.ir) if access.window == Window.GLOBAL else None
    each = len(values) // count
    with lanes_in_order(b) as lane:
        address = b.ir.load(element(b, addresses, WORD, lane), typ=WORD)
        is_global = ir.Constant(ir.IntType(1), 0)
        if plain is not None:  # addresses of shared and local memory were translated
            before = b.ir.load(element(b, plain, WORD, lane), typ=WORD)
            is_global = b.ir.icmp_unsigned("==", before, address)
        for k in range(count):
            place = b.offset(b.ir.inttoptr(address, POINTER), k * size)
            own = operands[k * each : (k + 1) * each]
            mine = [b.ir.load(element(b, o, stored, lane), typ=stored) for o in own]
            old = b.ir.load(place, typ=stored, align=size)
            b.ir.store(combine(b, old, mine, is_global), place, align=size)
            b.ir.store(old, element(b, results[k], stored, lane))
    return [b.ir.load(r, typ=b.vector(combine.stored), align=64) for r in results]


def first_of_each_bank(b: LaneBuilder, address: Value, size: int) -> Value:
    """Of the lanes that access ``size`` bytes in the same bank of shared memory the first ones."""

    def emit(inner: LaneBuilder, every: ir.Value) -> Values:
        addresses = spill(inner, every)
        taken = spill(inner, ir.Constant(_BANK_MASK, 0))
        chosen = spill(inner, ir.Constant(inner.mask_type, 0))
        with lanes_in_order(inner) as lane:
            place = inner.ir.load(element(inner, addresses, WORD, lane), typ=WORD)
            bank = inner.ir.and_(
                inner.ir.lshr(place, ir.Constant(WORD, 2)), ir.Constant(WORD, BANKS - 1)
            )
            first = ir.Constant(_BANK_MASK, (1 << size // 4) - 1)
            own = inner.ir.shl(first, inner.ir.trunc(bank, _BANK_MASK))
            before = inner.ir.load(taken, typ=_BANK_MASK)
            both = inner.ir.and_(before, own)
            free = inner.ir.icmp_unsigned("==", both, ir.Constant(_BANK_MASK, 0))
            shift = inner.ir.zext(lane, inner.mask_type)
            bit = inner.ir.shl(inner.ir.zext(free, inner.mask_type), shift)
            inner.ir.store(inner.ir.or_(before, own), taken)
            before = inner.ir.load(chosen, typ=inner.mask_type)
            inner.ir.store(inner.ir.or_(before, bit), chosen)
        return [inner.ir.load(chosen, typ=inner.mask_type)]

    wide = resize(b, address, I64)
    name = f"first_of_each_bank{size}"
    (chosen,) = outlined(b, name, [b.mask_type], [wide.ir], emit, faults=False)
    return b.lanes_of(chosen)


class Combination:
    """What an atomic operation makes of one element's old content and operands (scalars)."""

    def __init__(self, operation: str, kind: Type, signed: bool, packed: bool):
        self.operation, self.kind, self.signed, self.packed = operation, kind, signed, packed
        self.stored = INTEGERS[kind.bits * (2 if packed else 1)]
        sign = "s" if signed else ""
        self.name = f"atomic_{operation}_{sign}{kind.name}{'x2' if packed else ''}"

    def __call__(self, b: LaneBuilder, old: ir.Value, operands: Values, is_global) -> ir.Value:
        """The new content; ``is_global`` says whether it is global memory."""
        if not self.packed:
            return self._number(b, old, operands, is_global)
        half = ir.IntType(self.kind.bits)
        result = ir.Constant(old.type, 0)
        for shift in (0, self.kind.bits):
            amount = ir.Constant(old.type, shift)
            parts = [b.ir.trunc(b.ir.lshr(v, amount), half) for v in (old, *operands)]
            part = self._number(b, parts[0], parts[1:], is_global)
            result = b.ir.or_(result, b.ir.shl(b.ir.zext(part, old.type), amount))
        return result

    def _number(self, b: LaneBuilder, old: ir.Value, operands: Values, is_global) -> ir.Value:
        if self.operation == "cas":
            return b.ir.select(self._same(b, old, operands[0]), operands[1], old)
        if self.operation == "mskor":
            return b.ir.or_(b.ir.and_(old, b.ir.not_(operands[0])), operands[1])
        if self.operation == "exch":
            return operands[0]
        if self.kind.kind != "float":
            return self._integer(b.ir, old, operands[0])
        if self.kind.bits == 16:
            return self._half(b, old, operands[0])
        if self.operation in ("min", "max"):
            return self._nearest(b, old, operands[0])
        return self._float_sum(b, old, operands[0], is_global)

    def _same(self, b: LaneBuilder, old: ir.Value, value: ir.Value) -> ir.Value:
        if self.kind.kind != "float":
            return b.ir.icmp_unsigned("==", old, value)
        numbers = (b.ir.bitcast(v, self.kind.element) for v in (old, value))
        return b.ir.fcmp_ordered("==", *numbers)

    def _nearest(self, b: LaneBuilder, old: ir.Value, value: ir.Value) -> ir.Value:
        """The smaller or larger float; what was there stays where neither is."""
        numbers = (b.ir.bitcast(v, self.kind.element) for v in (value, old))
        order = "<" if self.operation == "min" else ">"
        return b.ir.select(b.ir.fcmp_ordered(order, *numbers), value, old)

    def _integer(self, emit: ir.IRBuilder, old: ir.Value, value: ir.Value) -> ir.Value:
        zero, one = ir.Constant(old.type, 0), ir.Constant(old.type, 1)
        match self.operation:
            case "add":
                return emit.add(old, value)
            case "rsub":
                return emit.sub(value, old)
            case "and":
                return emit.and_(old, value)
            case "or":
                return emit.or_(old, value)
            case "xor":
                return emit.xor(old, value)
            case "inc":
                again = emit.icmp_unsigned(">=", old, value)
                return emit.select(again, zero, emit.add(old, one))
            case "dec":
                first = emit.icmp_unsigned("==", old, zero)
                again = emit.or_(first, emit.icmp_unsigned(">", old, value))
                return emit.select(again, value, emit.sub(old, one))
        compare = emit.icmp_signed if self.signed else emit.icmp_unsigned
        return emit.select(compare("<" if self.operation == "min" else ">", old, value), old, value)

    def _half(self, b: LaneBuilder, old: ir.Value, value: ir.Value) -> ir.Value:
        """Of 16-bit floats, as in all lanes; LLVM keeps the one that is taken."""
        x, y = (from_raw(b, b.splat(v, INTEGERS[16]), self.kind) for v in (old, value))
        if self.operation == "add":
            result = floating.arithmetic(b, "fadd", floating.PLAIN, x, y)
        else:
            result = floating.choose(b, self.operation == "max", floating.Choice(), x, y)
        return b.ir.extract_element(b.cast(result, INTEGERS[16]).ir, ir.Constant(HALF, 0))

    def _float_sum(self, b: LaneBuilder, old: ir.Value, value: ir.Value, is_global) -> ir.Value:
        kind = self.kind
        a, c = b.ir.bitcast(old, kind.element), b.ir.bitcast(value, kind.element)
        if kind == F32:
            a, c = flush(b, a, is_global), flush(b, c, is_global)
        total = b.ir.fadd(a, c)
        if kind == F32:
            total = flush(b, total, is_global)
        nan = ir.Constant(old.type, CANONICAL_NAN[kind.bits])
        ordered = b.ir.fcmp_ordered("ord", total, total)
        return b.ir.select(ordered, b.ir.bitcast(total, old.type), nan)


def flush(b: LaneBuilder, number: ir.Value, condition: ir.Value) -> ir.Value:
    """A subnormal f32 scalar becomes zero of its sign, if a condition holds."""
    bits = b.ir.bitcast(number, ir.IntType(32))
    exponent = b.ir.and_(bits, ir.Constant(bits.type, 0x7F800000))
    small = b.ir.icmp_unsigned("==", exponent, ir.Constant(bits.type, 0))
    zero = b.ir.bitcast(b.ir.and_(bits, ir.Constant(bits.type, 1 << 31)), FLOAT)
    return b.ir.select(b.ir.and_(small, condition), zero, number)
