"""Calls of the host, such as printf and malloc, with the registers of the calling convention.

Of arguments on the stack, whose place is in R1, the address is handed over. The result is in R4;
R20 and R21 hold the return address (seen in code that nvcc makes for sm_70 to sm_90).
"""

import struct

from lockstep.execution.lanes.integer import resize
from lockstep.execution.lanes.types import I32, I64, Value
from lockstep.execution.programs.program import Ending
from lockstep.execution.programs.services import SERVICES, TABLE, Home
from lockstep.execution.sass.graph import Block
from lockstep.execution.sass.lift import Lift
from lockstep.execution.state import result_word, return_word

_STACK, _RESULT, _RETURN = 1, 4, 20


def emit_service(lift: Lift, block: Block) -> None:
    """Hand over the arguments; or, where lanes come back, take the result and return."""
    if block.ending == Ending.HOST:
        _ask(lift, SERVICES[block.service])
    else:
        _answer(lift, SERVICES[block.service])


def _ask(lift: Lift, name: str) -> None:
    b, service = lift.b, TABLE[name]
    for form, place, home in zip(service.arguments, service.places, service.homes):
        for k, word in enumerate(_argument(lift, struct.calcsize(form) // 4, home)):
            b.store_vector(b.offset(b.scratch(), 8 * b.lanes * (place + k)), word)
    b.store_vector(b.offset(b.scratch(), 8 * return_word(b.lanes)), _return(lift))


def _argument(lift: Lift, count: int, home: Home) -> list[Value]:
    """The 64-bit words of an argument of ``count`` registers, or its address on the stack."""
    if home.register is None:
        stack = lift.register("R", _STACK)
        offset = lift.b.constant(I32, home.offset)
        return [resize(lift.b, Value(lift.b.ir.add(stack.ir, offset.ir), I32), I64)]
    words = [lift.register("R", home.register + n) for n in range(count)]
    return [resize(lift.b, lift.join(words[k : k + 2]), I64) for k in range(0, count, 2)]


def _answer(lift: Lift, name: str) -> None:
    b, size = lift.b, struct.calcsize(TABLE[name].result)
    result = b.load_vector(b.offset(b.scratch(), 8 * result_word(b.lanes)), I64)
    for k, word in enumerate(lift.split(result)[: size // 4]):
        lift.assign(f"R{_RESULT + k}", b.cast(word, I32))
    lift.go_to(_return(lift))


def _return(lift: Lift) -> Value:
    """The pc to return to."""
    pc = lift.join([lift.register("R", _RETURN + k) for k in range(2)])
    return Value(pc.ir, I64)
