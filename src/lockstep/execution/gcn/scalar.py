"""All arithmetic of the scalar unit, by LLVM's mnemonic.

Functions of ``Scalars`` and scalar values. What changes EXEC or the program counter, or picks
registers by number, is not here. Operands are in the order of ``isa.gcn.operations``, which has the
destination among them where its old content counts; immediates of 16 bits are i32 of which the rest
does not matter. Behind them comes SCC where it is read. Where it is written, it is the last result;
comparisons have no other.
"""

from functools import partial

from lockstep.execution.gcn.arithmetic import (
    Arithmetic,
    Emit,
    One,
    Table,
    any_of,
    both,
    family,
    instruction,
    is_number,
    low_bits,
    no,
)
from lockstep.execution.gcn.bits import (
    leading_one,
    leading_unlike_sign,
    left,
    lowest_one,
    ones,
    right,
    right_signed,
)
from lockstep.execution.gcn.integer import (
    add,
    add_carry,
    add_carry_out,
    below,
    multiply,
    subtract,
    subtract_borrow,
    subtract_borrow_out,
)
from lockstep.execution.gcn.quads import quad_mask, whole_quads
from lockstep.execution.lanes.bits import count_ones, extract
from lockstep.execution.lanes.builder import LaneBuilder
from lockstep.execution.lanes.compare import compare_integers
from lockstep.execution.lanes.integer import (
    absolute,
    multiply_wide,
    negative,
    resize,
    shift_right,
)
from lockstep.execution.lanes.types import I8, I16, I32, I64, PRED, Type, Value

_WORDS = {"b32": I32, "b64": I64}
_ORDERS = {"eq": "eq", "lg": "ne", "gt": "gt", "ge": "ge", "lt": "lt", "le": "le"}


def _and_not_zero(emit: One) -> Emit:
    """Add SCC: is the result not zero."""

    def flagged(b: LaneBuilder, *values: Value) -> tuple[Value, Value]:
        result = emit(b, *values)
        return result, no(b, is_number(b, result, 0))

    return flagged


def _immediate(b: LaneBuilder, x: Value, signed: bool = True) -> Value:
    return resize(b, resize(b, x, I16), I32, signed)


# Sums


def _add_overflow(b: LaneBuilder, x: Value, y: Value) -> tuple[Value, Value]:
    """Sum, and whether its sign is one that neither operand has."""
    total = add(b, x, y)
    changed = both(b, *(Value(b.ir.xor(v.ir, total.ir), I32) for v in (x, y)))
    return total, negative(b, changed)


def _subtract_overflow(b: LaneBuilder, x: Value, y: Value) -> tuple[Value, Value]:
    rest = subtract(b, x, y)
    changed = both(b, *(Value(b.ir.xor(x.ir, v.ir), I32) for v in (y, rest)))
    return rest, negative(b, changed)


def _add_immediate(b: LaneBuilder, x: Value, immediate: Value) -> tuple[Value, Value]:
    return _add_overflow(b, x, _immediate(b, immediate))


def _multiply_immediate(b: LaneBuilder, x: Value, immediate: Value) -> tuple[Value, Value]:
    wide = multiply_wide(b, x, _immediate(b, immediate), signed=True)
    product = resize(b, wide, I32)
    fits = b.ir.icmp_unsigned("==", resize(b, product, I64, signed=True).ir, wide.ir)
    return product, Value(b.ir.not_(fits), PRED)


def _extreme(b: LaneBuilder, x: Value, y: Value, signed: bool, largest: bool) -> tuple:
    """The smaller or larger one, and whether it is the first alone."""
    first = below(b, y, x, signed) if largest else below(b, x, y, signed)
    return b.select(first, x, y), first


def _distance(b: LaneBuilder, x: Value, y: Value) -> Value:
    return absolute(b, subtract(b, x, y))


# Bits


def _with_inverted(word: str) -> One:
    """An operation with the second operand inverted."""
    return lambda b, x, y: instruction(word)(b, x, no(b, y))


def _inverted(word: str) -> One:
    """The inverted result of an operation."""
    return lambda b, x, y: no(b, instruction(word)(b, x, y))


def _field(b: LaneBuilder, x: Value, place: Value, signed: bool) -> Value:
    """A field that a word says where it is: first bit in the low bits, length from bit 16 on."""
    start = low_bits(b, place, x.type.bits.bit_length() - 1)
    return extract(b, x, start, low_bits(b, shift_right(b, place, 16), 7), signed)


def _count(b: LaneBuilder, x: Value, zeros: bool) -> Value:
    return count_ones(b, no(b, x) if zeros else x)


def _lowest(b: LaneBuilder, x: Value, zeros: bool) -> Value:
    return lowest_one(b, no(b, x) if zeros else x)


def _set_bit(b: LaneBuilder, place: Value, x: Value, bit: int) -> Value:
    one = left(b, b.constant(x.type, 1), place)
    return any_of(b, x, one) if bit else both(b, x, no(b, one))


def _bit_is(b: LaneBuilder, x: Value, place: Value, bit: int) -> Value:
    return is_number(b, low_bits(b, right(b, x, place), 1), bit)


def _choose(b: LaneBuilder, x: Value, y: Value, condition: Value) -> Value:
    return b.select(condition, x, y)


def _extend(b: LaneBuilder, x: Value, kind: Type) -> Value:
    return resize(b, resize(b, x, kind), I32, signed=True)


def _move_immediate(b: LaneBuilder, x: Value, immediate: Value, condition: Value) -> Value:
    return b.select(condition, _immediate(b, immediate), x)


def _compare_immediate(b: LaneBuilder, x: Value, y: Value, order: str, signed: bool) -> Value:
    return compare_integers(b, order, x, _immediate(b, y, signed), signed)


def _flagged(sources: tuple[Type, ...], **emits: Emit) -> Table:
    """Operations that give a value of the first operand's type and SCC."""
    return family((sources[0], PRED), sources, **emits)


_LOGIC = {
    "and": instruction("and_"),
    "or": instruction("or_"),
    "xor": instruction("xor"),
    "andn2": _with_inverted("and_"),
    "orn2": _with_inverted("or_"),
    "nand": _inverted("and_"),
    "nor": _inverted("or_"),
    "xnor": _inverted("xor"),
}


def _of_words() -> Table:
    """What there is for 32 and for 64 bits."""
    table: Table = {}
    for name, kind in _WORDS.items():
        two, changed = (kind, kind), {}
        for word, emit in _LOGIC.items():
            changed[f"s_{word}_{name}"] = _and_not_zero(emit)
        table |= _flagged(two, **changed)
        shifts: dict[str, One] = {
            f"s_lshl_{name}": left,
            f"s_lshr_{name}": right,
            f"s_ashr_i{kind.bits}": right_signed,
            f"s_bfe_u{kind.bits}": partial(_field, signed=False),
            f"s_bfe_i{kind.bits}": partial(_field, signed=True),
        }
        table |= _flagged((kind, I32), **{n: _and_not_zero(e) for n, e in shifts.items()})
        unary: dict[str, One] = {
            f"s_not_{name}": no,
            f"s_wqm_{name}": whole_quads,
            f"s_quadmask_{name}": quad_mask,
        }
        table |= _flagged((kind,), **{n: _and_not_zero(e) for n, e in unary.items()})
        counts = {
            f"s_bcnt{bit}_i32_{name}": _and_not_zero(partial(_count, zeros=not bit))
            for bit in (0, 1)
        }
        table |= family((I32, PRED), (kind,), **counts)
        places: dict[str, One] = {
            f"s_ff{bit}_i32_{name}": partial(_lowest, zeros=not bit) for bit in (0, 1)
        }
        places |= {
            f"s_flbit_i32_{name}": leading_one,
            "s_flbit_i32" + ("_i64" if kind == I64 else ""): leading_unlike_sign,
        }
        table |= family(I32, (kind,), **places)
        moves = {
            f"s_mov_{name}": lambda b, x: x,
            f"s_brev_{name}": lambda b, x: b.elementwise("bitreverse", x),
        }
        table |= family(kind, (kind,), **moves)
        for bit in (0, 1):
            table |= family(
                kind, (I32, kind), **{f"s_bitset{bit}_{name}": partial(_set_bit, bit=bit)}
            )
            table |= family(
                PRED, (kind, I32), **{f"s_bitcmp{bit}_{name}": partial(_bit_is, bit=bit)}
            )
        chooses = {f"s_{word}_{name}": _choose for word in ("cselect", "cmov")}
        table |= family(kind, (kind, kind, PRED), **chooses)
        table |= family(kind, (I32, I32), **{f"s_bfm_{name}": partial(ones, kind=kind)})
    return table


def _comparisons() -> Table:
    table: Table = {}
    for order, word in _ORDERS.items():
        for letter, signed in (("i", True), ("u", False)):
            plain = partial(_compare, order=word, signed=signed)
            table[f"s_cmp_{order}_{letter}32"] = Arithmetic(plain, (I32, I32), (PRED,))
            immediate = partial(_compare_immediate, order=word, signed=signed)
            table[f"s_cmpk_{order}_{letter}32"] = Arithmetic(immediate, (I32, I32), (PRED,))
    return table


def _compare(b: LaneBuilder, x: Value, y: Value, order: str, signed: bool) -> Value:
    return compare_integers(b, order, x, y, signed)


SCALAR: Table = {
    **_of_words(),
    **_comparisons(),
    **_flagged(
        (I32, I32),
        s_add_u32=add_carry_out,
        s_sub_u32=subtract_borrow_out,
        s_add_i32=_add_overflow,
        s_sub_i32=_subtract_overflow,
        s_min_i32=partial(_extreme, signed=True, largest=False),
        s_min_u32=partial(_extreme, signed=False, largest=False),
        s_max_i32=partial(_extreme, signed=True, largest=True),
        s_max_u32=partial(_extreme, signed=False, largest=True),
        s_absdiff_i32=_and_not_zero(_distance),
        s_addk_i32=_add_immediate,
        s_mulk_i32=_multiply_immediate,
    ),
    **_flagged((I32, I32, PRED), s_addc_u32=add_carry, s_subb_u32=subtract_borrow),
    **_flagged((I32,), s_abs_i32=_and_not_zero(absolute)),
    **family(I32, (I32, I32), s_mul_i32=multiply),
    **family(
        I32,
        (I32,),
        s_movk_i32=_immediate,
        s_sext_i32_i8=partial(_extend, kind=I8),
        s_sext_i32_i16=partial(_extend, kind=I16),
    ),
    **family(I32, (I32, I32, PRED), s_cmovk_i32=_move_immediate),
}
