"""Matrix products and the moves of their fragments, Turing to Ada."""

import re

from lockstep.execution.lanes import matrix as lanes
from lockstep.execution.lanes import matrix_moves as moves
from lockstep.execution.lanes.addresses import Access
from lockstep.execution.lanes.matrix import Numbers
from lockstep.execution.lanes.matrix_elements import per_register
from lockstep.execution.lanes.sparse import sparse, sparsity_of
from lockstep.execution.lanes.types import I32, Value
from lockstep.execution.sass.floating import rounding_of
from lockstep.execution.sass.lift import Lift
from lockstep.execution.sass.memory import address_of
from lockstep.execution.sass.opcodes import opcode
from lockstep.execution.state import Window
from lockstep.isa.instruction import WARP_SIZE
from lockstep.isa.sass.encoding.instruction import Instruction
from lockstep.isa.sass.encoding.operand import Address, Immediate, Register

_COLUMNS = 8  # of a result
_ROW_BYTES = 16  # of a matrix in shared memory
_SHAPES = re.compile(r"(8|16)x?8x?(4|8|16|32|64|128|256)$")


def _shape(i: Instruction) -> tuple[int, int]:
    """Rows and depth, from 16816 or 1688."""
    for word in i.modifiers:
        if match := _SHAPES.match(word):
            return int(match[1]), int(match[2])
    raise ValueError(f"{i.opcode} names no shape")  # the tables list all that are registered


@opcode("HMMA.884", modifiers="F32 F16 STEP0 STEP1 STEP2 STEP3")
def multiply_in_steps(lift: Lift, i: Instruction) -> None:
    """Each step gives two registers of the result; the factors of all are the same (Volta).

    The types are the result's and the accumulator's. Two steps with f32 results take the same two
    registers of an f16 accumulator.
    """
    to, at = (m.lower() for m in i.modifiers if m in ("F32", "F16"))
    step = next(int(m[4:]) for m in i.modifiers if m.startswith("STEP"))
    first, second, start = (o for o in i.operands[1:] if isinstance(o, Register))
    layout = lanes.quads(first.part == "ROW", second.part == "ROW", to == "f32", at == "f32")
    sums = [lift.b.constant(I32, 0)] * (8 if at == "f32" else 4)
    place = 2 * step if to == at else 2 * (step // 2)
    sums[place : place + 2] = lift.words(start, 2)
    factors = [lift.words(first, 2), lift.words(second, 2)]
    result = lanes.multiply(lift.b, layout, Numbers("f16", "f16", at, to), factors, sums)
    lift.write_words(i.operands[0], result[2 * step : 2 * step + 2])


@opcode("HMMA", "HMMA.SP", modifiers="16832 16816 1688 1684 F32 F16 BF16 TF32")
def multiply(lift: Lift, i: Instruction) -> None:
    """Factors are f16 unless a modifier says otherwise; so are sums without F32."""
    words = i.modifiers
    kind = "bf16" if "BF16" in words else "tf32" if "TF32" in words else "f16"
    total = "f32" if "F32" in words else "f16"
    _multiply(lift, i, Numbers(kind, kind, total, total))


@opcode("IMMA", "IMMA.SP", modifiers="8816 8832 16816 16832 16864 168128 S8 U8 S4 U4 SAT ROW COL")
def multiply_integers(lift: Lift, i: Instruction) -> None:
    first, second = [m.lower() for m in i.modifiers if m in ("S8", "U8", "S4", "U4")][:2]
    saturates = "SAT" in i.modifiers
    _multiply(lift, i, Numbers(first, second, "s32", "s32", saturates=saturates))


@opcode("QMMA", "QMMA.SP", modifiers="16816 16832 16864 F32 F16 E4M3 E5M2 ROW COL")
def multiply_eighths(lift: Lift, i: Instruction) -> None:
    """Factors of eight bits (Ada); Hopper's code converts them, and multiplies halves."""
    first, second = [m.lower() for m in i.modifiers if m in ("E4M3", "E5M2")]
    total = "f32" if "F32" in i.modifiers else "f16"
    _multiply(lift, i, Numbers(first, second, total, total))


@opcode("BMMA", modifiers="88128 168128 168256 AND XOR POPC")
def multiply_bits(lift: Lift, i: Instruction) -> None:
    """Products are counts of ones; 32 bits are an element."""
    operation = "xor" if "XOR" in i.modifiers else "and"
    _multiply(lift, i, Numbers("b1", "b1", "s32", "s32", operation))


@opcode("DMMA", modifiers="884 1684 1688 16816 8x8x4 16x8x4 16x8x8 16x8x16 RZ RM RP")
def multiply_doubles(lift: Lift, i: Instruction) -> None:
    _multiply(lift, i, Numbers("f64", "f64", "f64", "f64", rounding=rounding_of(i)))


def _multiply(lift: Lift, i: Instruction, numbers: Numbers) -> None:
    """A product; of a sparse one (SP), half of the first factor's elements are stored."""
    rows, depth = _shape(i)
    depth = depth // 32 if numbers.first == "b1" else depth
    each, wide = per_register(numbers.first), numbers.first == "f64"
    sums = per_register(numbers.accumulator)
    stored = depth // 2 if "SP" in i.modifiers else depth
    counts = (
        rows * stored // (WARP_SIZE * each),
        depth * _COLUMNS // (WARP_SIZE * each),
        rows * _COLUMNS // (WARP_SIZE * sums),
    )
    sources = [o for o in i.operands[1:] if isinstance(o, Register) and o.file == "R"]
    if any(o.negated or o.absolute for o in sources):
        raise lift.refuse("signs of factors are not supported")
    a, c, start = (_registers(lift, o, n, wide) for o, n in zip(sources, counts, strict=False))
    layout = lanes.tile(rows, stored, each)
    kind = _sparse(lift, i, numbers, depth, sources[-1]) if "SP" in i.modifiers else None
    result = lanes.multiply(lift.b, layout, numbers, [a, c], start, kind)
    lift.write_words(i.operands[0], [w for v in result for w in lift.split(v)])


def _sparse(
    lift: Lift, i: Instruction, numbers: Numbers, depth: int, metadata: Register
) -> lanes.ProductKind:
    """The product that a register of metadata makes, of the lanes that the last operand selects."""
    selector = i.operands[-1]
    assert isinstance(selector, Immediate), "two bits of the instruction"
    sparsity = sparsity_of(numbers.first, depth, selector.value)
    if sparsity is None:
        raise lift.refuse(f"{selector.value} selects no lanes with metadata")
    return sparse(sparsity, lift.read(metadata))


def _registers(lift: Lift, operand: Register, count: int, wide: bool) -> list[Value]:
    if not wide:
        return lift.words(operand, count)
    words = lift.words(operand, 2 * count)
    return [lift.join(words[k : k + 2]) for k in range(0, 2 * count, 2)]


@opcode("LDSM", modifiers="16 M88 MT88 2 4")
def load_matrices(lift: Lift, i: Instruction) -> None:
    count = next((int(m) for m in i.modifiers if m in ("2", "4")), 1)
    access = _rows(lift, i)
    values = moves.load_matrices(lift.b, access, count, "MT88" in i.modifiers)
    lift.write_words(i.operands[0], values)


@opcode("STSM", modifiers="16 M88 MT88 2 4")
def store_matrices(lift: Lift, i: Instruction) -> None:
    count = next((int(m) for m in i.modifiers if m in ("2", "4")), 1)
    source = next(o for o in reversed(i.operands) if isinstance(o, Register) and o.file == "R")
    values = lift.words(source, count)
    moves.store_matrices(lift.b, _rows(lift, i), values, "MT88" in i.modifiers)


def _rows(lift: Lift, i: Instruction) -> Access:
    operand = next(o for o in i.operands if isinstance(o, Address))
    address = address_of(lift, operand, Window.SHARED)
    lift.record_addresses(address)
    return Access(Window.SHARED, address, _ROW_BYTES, lift.site(Window.SHARED))


@opcode("MOVM", modifiers="16 MT88")
def transpose(lift: Lift, i: Instruction) -> None:
    lift.write(i.operands[0], moves.transpose(lift.b, lift.read(i.operands[1])))
