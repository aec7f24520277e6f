"""Barriers of a CTA, a cluster and a warp: the scheduler counts; here is what it is told."""

import numpy as np

from lockstep.execution.lanes import barrier_numbers
from lockstep.execution.lanes.builder import WORD
from lockstep.execution.lanes.types import I32, I64, PRED, Value
from lockstep.execution.ptx.lift import Lift
from lockstep.execution.ptx.opcodes import opcode
from lockstep.execution.scheduling.machine import BARRIERS, CLUSTER, WARPGROUP
from lockstep.execution.state import result_word
from lockstep.isa.instruction import MOST_THREADS
from lockstep.isa.ptx.syntax import Immediate, Instruction, Operand

_REDUCED = ("popc", "and", "or")


def describe(i: Instruction, record: np.void) -> None:
    """Fill in what a block that ends with a barrier tells the scheduler."""
    record["reduces"] = "red" in i.modifiers
    record["barrier"] = -1
    if "cluster" in i.modifiers:
        record["barrier"] = CLUSTER
    elif i.opcode == "wgmma":
        record["barrier"] = WARPGROUP
    elif all(isinstance(o, Immediate) for o in numbers(i)):
        number, *threads = (o.value for o in numbers(i))
        record["barrier"], record["threads"] = number, (threads or [0])[0]


def numbers(i: Instruction) -> list[Operand]:
    """The operands with the number of the barrier and the count of threads, if there is one."""
    return list(i.operands[1:-1] if "red" in i.modifiers else i.operands)


@opcode(
    "bar[.cta].{sync,arrive}",
    "barrier[.cta].{sync,arrive}[.aligned]",
    destinations=0,
)
def barrier(lift: Lift, i: Instruction) -> None:
    _pass_numbers(lift, numbers(i))


def take_reduced(lift: Lift, i: Instruction) -> None:
    """The result of a reduction: of the threads, how many, whether all, whether any."""
    b = lift.b
    word = b.load_vector(b.offset(b.scratch(), 8 * result_word(b.lanes)), I64)
    place = {"popc": 2, "or": 1, "and": 0}[next(w for w in i.modifiers if w in _REDUCED)]
    value = Value(b.ir.lshr(word.ir, b.constant(I64, place).ir), I64)
    kind = I32 if place == 2 else PRED
    lift.write(i.operands[0], Value(b.ir.trunc(value.ir, b.vector(kind)), kind))


@opcode(
    "bar[.cta].red.{popc.u32,and.pred,or.pred}",
    "barrier[.cta].red.{popc[.aligned].u32,and[.aligned].pred,or[.aligned].pred}",
    resume=take_reduced,
)
def reducing_barrier(lift: Lift, i: Instruction) -> None:
    b = lift.b
    holds = Value(b.ir.and_(lift.read(i.operands[-1], "pred").ir, b.active.ir), PRED)
    b.set_field("barrier_lanes", b.ir.zext(b.bits_of(holds), WORD))
    _pass_numbers(lift, numbers(i))


def _pass_numbers(lift: Lift, operands: list[Operand]) -> None:
    """Each lane's number and count of threads, unless they are constants; a stream keeps them."""
    b = lift.b
    for k, operand in enumerate(operands):
        most = MOST_THREADS if k else BARRIERS - 1
        if isinstance(operand, Immediate) and not 0 <= operand.value <= most:
            raise lift.refuse(f"{operand.value} is out of range")
    if all(isinstance(o, Immediate) for o in operands):
        return
    number, threads, *_ = [lift.read(o, "u32") for o in operands] + [b.constant(I32, 0)]
    told = barrier_numbers.tell(b, number, threads)
    if lift.stream is not None:
        lift.stream.addresses(lift.number, told)


@opcode(
    "barrier.cluster.arrive[.{release,relaxed}][.aligned]",
    "barrier.cluster.wait[.acquire][.aligned]",
    destinations=0,
)
def cluster_barrier(lift: Lift, i: Instruction) -> None:
    """Nothing is computed."""


@opcode("bar.warp.sync", destinations=0, converges=True)
def warp_barrier(lift: Lift, i: Instruction) -> None:
    """To meet is all."""
