"""Memory operands: their state space, address, and the access that the builder checks."""

from llvmlite import ir

from lockstep.execution.lanes.addresses import Access
from lockstep.execution.lanes.builder import WORD
from lockstep.execution.lanes.types import I32, I64, Value
from lockstep.execution.ptx.lift import Lift
from lockstep.execution.state import SHARED_WINDOW, Window
from lockstep.isa.ptx.syntax import (
    Immediate,
    Instruction,
    Memory,
    Operand,
    Register,
    Symbol,
    Vector,
)

SPACES = ("global", "shared", "cluster", "local", "param", "const")
_WINDOWS = {
    "shared": Window.SHARED,
    "cluster": Window.CLUSTER,
    "local": Window.LOCAL,
    "param": Window.PARAMETER,
}

_SPACE_OF = {"shared::cluster": "cluster", "cluster": "scope"}


def space_of(i: Instruction, nth: int = 0) -> str:
    """The nth state space that an instruction names, or generic; cluster for shared::cluster."""
    words = [_SPACE_OF.get(word, word.partition("::")[0]) for word in i.modifiers]
    spaces = [word for word in words if word in SPACES]
    return spaces[nth] if nth < len(spaces) else "generic"


def window_of(lift: Lift, operand: Memory, space: str) -> Window:
    """The window of an operand; variables have that of their declaration.

    Parameters of functions, and those that a call passes, are a thread's own memory.
    """
    if isinstance(operand.base, Symbol) and space in ("param", "generic"):
        return lift.layout.window(lift.function, operand.base.name)
    return _WINDOWS.get(space, Window.GLOBAL)


def address_of(lift: Lift, operand: Memory, window: Window) -> Value:
    """The address that an operand names: 32-bit in a window, else 64-bit.

    In shared memory, relative to the CTA's own.
    """
    b, base = lift.b, operand.base
    if isinstance(base, Register) and (lift.function.name, base.name) not in lift.layout.registers:
        raise lift.refuse(f"an address in {base.name}; move it to a register of its own first")
    bits = 64 if not isinstance(base, Register) else lift.type(base.name).bits
    if bits not in (32, 64):
        raise lift.refuse(f"an address in a register of {bits} bits; 32 or 64 are read")
    value = lift.read(base, f"u{bits}")
    if window == Window.GLOBAL and value.type == I32:
        value = Value(b.ir.zext(value.ir, b.vector(I64)), I64)
    if window != Window.GLOBAL and value.type == I64:
        wide = value.ir
        value = b.once(("low", wide), lambda: Value(b.ir.trunc(wide, b.vector(I32)), I32))
    if window in (Window.SHARED, Window.CLUSTER) and not isinstance(base, Immediate):
        value = lift.untagged(value)
    address = value.ir
    if operand.offset:
        address = b.ir.add(address, b.constant(value.type, operand.offset).ir)
    return Value(address, value.type, sum=(value, operand.offset))


def access_of(lift: Lift, operand: Operand, space: str, size: int, record: bool = True) -> Access:
    """An access of ``size`` bytes a lane at a memory operand; it goes to the stream."""
    if not isinstance(operand, Memory):
        raise lift.refuse(f"{lift.instruction.name} needs an address in brackets")
    window = window_of(lift, operand, space)
    address = address_of(lift, operand, window)
    if record and window != Window.PARAMETER:
        lift.record_addresses(generic(lift, address) if window == Window.CLUSTER else address)
    site = ir.Constant(WORD, lift.site(window))
    return Access(window, address, size, site, strength=lift.b.strength)


def generic(lift: Lift, address: Value) -> Value:
    """The generic address of what is relative to the CTA's own shared memory."""
    b = lift.b
    tagged = lift.tagged(address) if lift.layout.clustered else address
    wide = b.ir.zext(tagged.ir, b.vector(I64))
    return Value(b.ir.add(wide, b.constant(I64, SHARED_WINDOW).ir), I64)


def elements(operand: Operand) -> tuple[Operand, ...]:
    """The elements of a vector operand, or the operand alone."""
    return operand.elements if isinstance(operand, Vector) else (operand,)
