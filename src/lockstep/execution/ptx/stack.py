"""alloca, stacksave, stackrestore: memory of a function that is taken while it runs.

It grows down from the end of a thread's local memory, towards the frames of recursive functions.
PTX ISA, "Stack Manipulation Instructions".
"""

from llvmlite import ir
from msgspec.structs import replace

from lockstep.execution.lanes.integer import resize
from lockstep.execution.lanes.types import I32, PRED, Value
from lockstep.execution.ptx.lift import Lift, type_of
from lockstep.execution.ptx.opcodes import opcode
from lockstep.isa.ptx.syntax import Function, Immediate, Instruction, Register, Variable

_ALIGNMENT = 8  # bytes, if alloca names none
_NOWHERE = 1 << 31  # no thread has so much local memory: every access ends the launch
_KEPT = "%stack"  # the register that keeps what a function found on the stack


def frees_on_return(function: Function) -> None:
    """Make a function that is called give back on each return what it has taken."""
    if function.is_entry or _KEPT in function.registers:
        return
    code = function.instructions
    if all(i.opcode != "alloca" for i in code):
        return
    kept = Register(_KEPT)
    function.registers[_KEPT] = Variable(_KEPT, "reg", "b32", function.position)
    first = Instruction("stacksave", ("u32",), (kept,), function.position)
    function.instructions, places = [first], []
    for instruction in code:
        places.append(len(function.instructions))
        if instruction.opcode == "ret":
            restore = replace(
                instruction, opcode="stackrestore", modifiers=("u32",), operands=(kept,)
            )
            function.instructions.append(restore)
        function.instructions.append(instruction)
    places.append(len(function.instructions))
    function.labels = {name: places[k] for name, k in function.labels.items()}


def _top(lift: Lift) -> Value:
    """Where the stack ends (i32, in local memory)."""
    b = lift.b
    return Value(b.ir.sub(_end(lift).ir, lift.taken().ir), I32)


def _end(lift: Lift) -> Value:
    return lift.b.splat(lift.b.ir.trunc(lift.b.field("launch", "local_bytes"), ir.IntType(32)), I32)


def _set_top(lift: Lift, top: Value) -> None:
    lift.take(Value(lift.b.ir.sub(_end(lift).ir, top.ir), I32))


@opcode("alloca.{u32,u64}")
def allocate(lift: Lift, i: Instruction) -> None:
    """What does not fit gets an address that no access may use, as PTX has it."""
    b, kind = lift.b, i.modifiers[-1]
    target, size, *rest = i.operands
    alignment = rest[0].value if rest and isinstance(rest[0], Immediate) else _ALIGNMENT
    if alignment < 1 or alignment & alignment - 1:
        raise lift.refuse(f"{i.name} cannot align to {alignment} bytes")
    wanted, top = resize(b, lift.read(size, kind), I32), _top(lift)
    start = b.ir.and_(b.ir.sub(top.ir, wanted.ir), b.constant(I32, -alignment).ir)
    room = b.ir.sub(top.ir, lift.frames_end().ir)
    fits = b.ir.and_(
        b.ir.icmp_unsigned("<=", wanted.ir, room),
        b.ir.icmp_unsigned(">=", start, lift.frames_end().ir),
    )
    start = b.select(Value(fits, PRED), Value(start, I32), top)
    _set_top(lift, start)
    address = b.select(Value(fits, PRED), start, b.constant(I32, _NOWHERE))
    lift.write(target, resize(b, address, type_of(kind)))


@opcode("stacksave.{u32,u64}")
def save(lift: Lift, i: Instruction) -> None:
    lift.write(i.operands[0], resize(lift.b, _top(lift), type_of(i.modifiers[-1])))


@opcode("stackrestore.{u32,u64}", destinations=0)
def restore(lift: Lift, i: Instruction) -> None:
    _set_top(lift, resize(lift.b, lift.read(i.operands[0], i.modifiers[-1]), I32))
