"""wgmma: products of a warpgroup.

The copies and products are done when they are issued. Threads may overwrite the factors when one
warp has waited for the products, so that waiting makes the four warps meet.
"""

from collections.abc import Iterable

from llvmlite import ir

from lockstep.execution.lanes import warpgroup as lanes
from lockstep.execution.lanes.builder import WORD
from lockstep.execution.lanes.matrix import Numbers, ProductKind
from lockstep.execution.lanes.matrix_elements import BITS
from lockstep.execution.lanes.sparse import sparse, sparsity_of
from lockstep.execution.lanes.types import I32, Value
from lockstep.execution.lanes.warpgroup import SharedMatrix
from lockstep.execution.ptx.lift import Lift
from lockstep.execution.ptx.matrix import shape_of
from lockstep.execution.ptx.opcodes import opcode
from lockstep.execution.ptx.operands import elements
from lockstep.execution.state import Window
from lockstep.isa.ptx.syntax import Immediate, Instruction, Operand, Vector

_WIDTHS = range(8, 257, 8)
_INTEGER_WIDTHS = (8, 24, *range(16, 257, 16))


def _shapes(depth: int, widths: Iterable[int] = _WIDTHS) -> str:
    return "{" + ",".join(f"m64n{n}k{depth}" for n in widths) + "}"


_PRODUCT = "wgmma.mma_async.sync.aligned."


@opcode(
    _PRODUCT + _shapes(16) + ".{f16,f32}.f16.f16",
    _PRODUCT + _shapes(16) + ".f32.bf16.bf16",
    _PRODUCT + _shapes(8) + ".f32.tf32.tf32",
    _PRODUCT + _shapes(32) + ".{f16,f32}.{e4m3,e5m2}.{e4m3,e5m2}",
    _PRODUCT + _shapes(32, _INTEGER_WIDTHS) + "[.satfinite].s32.{s8,u8}.{s8,u8}",
    _PRODUCT + _shapes(256, _INTEGER_WIDTHS) + ".s32.b1.b1.and.popc",
    accumulates=True,
)
def multiply(lift: Lift, i: Instruction) -> None:
    target, first, second, *rest = i.operands
    _multiply(lift, i, (target, first, second), rest)


_SPARSE = "wgmma.mma_async.sp.sync.aligned."


@opcode(
    _SPARSE + _shapes(32) + ".{f16,f32}.f16.f16",
    _SPARSE + _shapes(32) + ".f32.bf16.bf16",
    _SPARSE + _shapes(16) + ".f32.tf32.tf32",
    _SPARSE + _shapes(64) + ".{f16,f32}.{e4m3,e5m2}.{e4m3,e5m2}",
    _SPARSE + _shapes(64, _INTEGER_WIDTHS) + "[.satfinite].s32.{s8,u8}.{s8,u8}",
    accumulates=True,
)
def multiply_sparse(lift: Lift, i: Instruction) -> None:
    """The first factor has half of its elements; metadata is as for mma, for each warp's lines."""
    target, first, second, metadata, selector, *rest = i.operands
    kind = next(w for w in i.modifiers[::-1] if w in BITS)
    sparsity = None
    if isinstance(selector, Immediate):
        sparsity = sparsity_of(kind, shape_of(i)[2], selector.value)
    if sparsity is None:
        raise lift.refuse(f"{i.name} selects no such lanes for its metadata")
    product = sparse(sparsity, lift.read(metadata, "b32"))
    _multiply(lift, i, (target, first, second), rest, product)


def _multiply(
    lift: Lift,
    i: Instruction,
    matrices: tuple[Operand, ...],
    rest: list[Operand],
    product: ProductKind | None = None,
) -> None:
    kind, first_kind, second_kind = (w for w in i.modifiers if w in BITS)
    target, first, second = matrices
    keeps, *options = rest
    signs, transposes = _options(lift, i, isinstance(first, Vector), options)
    word = "and" if first_kind == "b1" else "mul"
    numbers = Numbers(first_kind, second_kind, kind, kind, word, "satfinite" in i.modifiers)
    factors = _first_factor(lift, first, transposes[0]), _shared(lift, second, transposes[1])
    start = _start(lift, elements(target), keeps)
    if len(start) != lanes.registers_of(numbers, shape_of(i)[1]):
        raise lift.refuse(f"{i.name}: the wrong number of result registers")
    negative = signs[0] != signs[1]
    results = lanes.multiply(lift.b, numbers, *factors, start, negative, product)
    for element, value in zip(elements(target), results, strict=True):
        lift.write(element, value)


def _options(lift: Lift, i: Instruction, registers: bool, options: list[Operand]):
    """Signs of both factors, and whether they are transposed in memory."""
    if not all(isinstance(o, Immediate) for o in options):
        raise lift.refuse(f"{i.name} needs constants for scales and transposes")
    values = [o.value for o in options]
    signs, transposes = values[:2] or [1, 1], values[2:]
    if registers and transposes:
        transposes = [0, *transposes]
    return signs, [bool(t) for t in transposes] or [False, False]


def _first_factor(lift: Lift, operand: Operand, transposed: bool) -> SharedMatrix | list[Value]:
    """The first factor in shared memory, or the warp's own lines of it in registers."""
    if isinstance(operand, Vector):
        return [lift.read(e, "b32") for e in operand.elements]
    return _shared(lift, operand, transposed)


def _shared(lift: Lift, operand: Operand, transposed: bool) -> SharedMatrix:
    site = ir.Constant(WORD, lift.site(Window.SHARED))
    return SharedMatrix(lift.read(operand, "b64"), site, transposed)


def _start(lift: Lift, targets: tuple[Operand, ...], keeps: Operand) -> list[Value]:
    """What the products are added to: what the registers hold, or nothing."""
    b, predicate = lift.b, lift.read(keeps, "pred")
    return [b.select(predicate, lift.read(t, "b32"), b.constant(I32, 0)) for t in targets]


@opcode("wgmma.{fence,commit_group,wait_group}.sync.aligned", destinations=0)
def order(lift: Lift, i: Instruction) -> None:
    """Products are complete already; at the wait, the warps of the warpgroup meet."""
