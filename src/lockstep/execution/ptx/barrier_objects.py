"""mbarrier: barriers that are objects in shared memory."""

from lockstep.execution.lanes import barrier_objects as lanes
from lockstep.execution.lanes.addresses import Access
from lockstep.execution.ptx.lift import Lift
from lockstep.execution.ptx.opcodes import opcode
from lockstep.execution.ptx.operands import access_of, space_of
from lockstep.isa.ptx.syntax import Instruction

OBJECT_BYTES = 8
_CTA = "[.{shared,shared::cta}]"
_CLUSTER = "[.{shared,shared::cta,shared::cluster}]"
_RELEASE = "[.{release,relaxed}.{cta,cluster}]"
_ACQUIRE = "[.{acquire,relaxed}.{cta,cluster}]"


def _object(lift: Lift, i: Instruction, place: int = 0) -> Access:
    """The object that the operand at a place says."""
    return access_of(lift, i.operands[place], space_of(i), OBJECT_BYTES)


@opcode(f"mbarrier.init{_CTA}.b64", destinations=0)
def initialise(lift: Lift, i: Instruction) -> None:
    lanes.initialise(lift.b, _object(lift, i), lift.read(i.operands[1], "u32"))


@opcode(f"mbarrier.inval{_CTA}.b64", destinations=0)
def invalidate(lift: Lift, i: Instruction) -> None:
    """The memory may be used for something else."""
    _object(lift, i)


@opcode(
    f"mbarrier.{{arrive,arrive_drop}}[.expect_tx]{_RELEASE}{_CLUSTER}.b64",
    f"mbarrier.{{arrive,arrive_drop}}.noComplete[.release.cta]{_CTA}.b64",
)
def arrive(lift: Lift, i: Instruction) -> None:
    target, _, *counts = i.operands
    count = lift.read(counts[0], "u32") if counts else None
    expected = None
    if "expect_tx" in i.modifiers:
        count, expected = None, count
    place = _object(lift, i, 1)
    drop = i.modifiers[0] == "arrive_drop"
    lift.write(target, lanes.arrive(lift.b, place, count, expected, drop))


@opcode(
    f"mbarrier.{{expect_tx,complete_tx}}[.relaxed.{{cta,cluster}}]{_CLUSTER}.b64", destinations=0
)
def transactions(lift: Lift, i: Instruction) -> None:
    change = lanes.expect_bytes if i.modifiers[0] == "expect_tx" else lanes.complete_bytes
    change(lift.b, _object(lift, i), lift.read(i.operands[1], "u32"))


@opcode(f"mbarrier.{{test_wait,try_wait}}[.parity]{_ACQUIRE}{_CTA}.b64", polls=True)
def wait(lift: Lift, i: Instruction) -> None:
    """Neither waits here: who needs a phase's end asks again, and gives way to others."""
    target, memory, phase = i.operands[:3]
    if "parity" in i.modifiers:
        parity = lift.read(phase, "u32")
    else:
        parity = lanes.parity_of(lift.b, lift.read(phase, "b64"))
    place = access_of(lift, memory, space_of(i), OBJECT_BYTES, record=False)
    over = lanes.has_completed(lift.b, place, parity)
    lift.write(target, over)
    if lift.stream is not None:
        lift.stream.addresses(lift.number, lanes.told(lift.b, place, over), waits=True)


@opcode("mbarrier.pending_count.b64")
def pending_count(lift: Lift, i: Instruction) -> None:
    lift.write(i.operands[0], lanes.pending_count(lift.b, lift.read(i.operands[1], "b64")))
