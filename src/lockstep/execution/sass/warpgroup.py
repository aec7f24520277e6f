"""Products of a warpgroup: HGMMA, QGMMA, IGMMA and BGMMA, and what orders them.

The products are done when they are issued. Threads may overwrite the factors when one warp has
waited for the products, so that waiting makes the four warps meet. Four uniform registers hold the
descriptors of both factors; where the first one is in registers, the first two mean nothing (seen
in code that ptxas makes of wgmma).
"""

import re

from msgspec.structs import replace

from lockstep.execution.lanes import warpgroup as lanes
from lockstep.execution.lanes.matrix import Numbers, ProductKind
from lockstep.execution.lanes.matrix_elements import BITS
from lockstep.execution.lanes.sparse import sparse, sparsity_of
from lockstep.execution.lanes.types import I32, I64
from lockstep.execution.lanes.warpgroup import SharedMatrix
from lockstep.execution.sass.lift import Lift
from lockstep.execution.sass.opcodes import opcode
from lockstep.execution.state import Window
from lockstep.isa.sass.encoding.instruction import Instruction
from lockstep.isa.sass.encoding.operand import Address, Immediate, Operand, Register

_SHAPE = re.compile(r"64x(\d+)x(\d+)$")
_LINE_BITS = 256  # of a line of the first factor that are stored
_LINE_REGISTERS = 4  # of the first factor: a thread's share of 64 lines by 32 bytes


def _shapes(*depths: int) -> str:
    return " ".join(f"64x{n}x{k}" for n in range(8, 257, 8) for k in depths)


@opcode("HGMMA", modifiers=f"{_shapes(8, 16, 32)} SP F16 F32 BF16 TF32")
def multiply(lift: Lift, i: Instruction) -> None:
    """Factors are f16 unless a modifier says otherwise."""
    words = i.modifiers
    kind = "bf16" if "BF16" in words else "tf32" if "TF32" in words else "f16"
    total = "f32" if "F32" in words else "f16"
    _multiply(lift, i, Numbers(kind, kind, total, total))


@opcode("QGMMA", modifiers=f"{_shapes(32, 64)} SP F16 F32 E4M3 E5M2")
def multiply_eight_bit(lift: Lift, i: Instruction) -> None:
    first, second = (m.lower() for m in i.modifiers if m in ("E4M3", "E5M2"))
    total = "f32" if "F32" in i.modifiers else "f16"
    _multiply(lift, i, Numbers(first, second, total, total))


@opcode("IGMMA", modifiers=f"{_shapes(32, 64)} SP U8 S8 SAT")
def multiply_integers(lift: Lift, i: Instruction) -> None:
    first, second = (m.lower() for m in i.modifiers if m in ("U8", "S8"))
    _multiply(lift, i, Numbers(first, second, "s32", "s32", saturates="SAT" in i.modifiers))


@opcode("BGMMA", modifiers=f"{_shapes(256)} AND POPC")
def multiply_bits(lift: Lift, i: Instruction) -> None:
    _multiply(lift, i, Numbers("b1", "b1", "s32", "s32", "and"))


def _multiply(lift: Lift, i: Instruction, numbers: Numbers) -> None:
    """The operands: result, factors, what is added, and maybe a predicate that says whether it is.

    A result that is RZ is the end of an empty group; its predicate says nothing, but is read.
    """
    target = i.operands[0]
    keeps = next((lift.predicate(o) for o in i.operands if _is_predicate(o)), None)
    if target.is_zero:
        return
    _check(lift, i, numbers)
    columns, depth = next((int(m[1]), int(m[2])) for m in map(_SHAPE.match, i.modifiers) if m)
    matrices = next(o for o in i.operands if isinstance(o, Address))
    registers = [o for o in i.operands[1:] if isinstance(o, Register) and o.file == "R"]
    product = None
    if "SP" in i.modifiers:
        product = _sparse(lift, i, numbers, depth, registers.pop())
    *first, sums = registers
    signs = set(matrices.part.split(".")) & {"negA", "negB"}
    negative = len(signs) % 2 == 1
    if first:
        negative ^= first[0].negated
        factor = lift.words(replace(first[0], negated=False), _LINE_REGISTERS)
    else:
        factor = _shared(lift, matrices, "A")
    start = lift.words(sums, lanes.registers_of(numbers, columns))
    if keeps is not None:
        nothing = lift.b.constant(I32, 0)
        start = [lift.b.select(keeps, value, nothing) for value in start]
    other = _shared(lift, matrices, "B")
    result = lanes.multiply(lift.b, numbers, factor, other, start, negative, product)
    lift.write_words(target, result)


def _check(lift: Lift, i: Instruction, numbers: Numbers) -> None:
    """Refuse types and shapes that do not go together."""
    depth = next(int(m[2]) for m in map(_SHAPE.match, i.modifiers) if m)
    bits = _LINE_BITS * (2 if "SP" in i.modifiers else 1)
    narrow = numbers.accumulator == "f16" and numbers.first in ("bf16", "tf32")
    if narrow or depth * BITS[numbers.first] != bits:
        raise lift.refuse("no product has this shape and these types")


def _sparse(
    lift: Lift, i: Instruction, numbers: Numbers, depth: int, metadata: Register
) -> ProductKind:
    selector = next((o.value for o in i.operands if isinstance(o, Immediate)), 0)
    sparsity = sparsity_of(numbers.first, depth, selector)
    if sparsity is None:
        raise lift.refuse("no lanes have such metadata")
    return sparse(sparsity, lift.read(metadata))


def _shared(lift: Lift, operand: Address, name: str) -> SharedMatrix:
    """Factor A or B as its descriptor says."""
    number = operand.uniform.number + (2 if name == "B" else 0)
    descriptor = lift.read(replace(operand.uniform, number=number), I64)
    site = lift.site(Window.SHARED)
    return SharedMatrix(descriptor, site, f"tnsp{name}" in operand.part.split("."))


def _is_predicate(operand: Operand) -> bool:
    return isinstance(operand, Register) and operand.file == "UP"


@opcode("WARPGROUP.ARRIVE", "WARPGROUP.DEPBAR", modifiers="LE")
def order(lift: Lift, i: Instruction) -> None:
    """Products are complete already; at DEPBAR the warps of the warpgroup meet."""
