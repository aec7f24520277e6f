"""Calls of the host, such as printf and malloc, with the registers of the calling convention.

Arguments are in R4 and up, 64-bit ones in even pairs; the result is in R4; R20 and R21 hold the
return address (seen in code that nvcc makes for sm_70 to sm_90).
"""

from lockstep.execution.lanes.integer import resize
from lockstep.execution.lanes.types import I32, I64, Value
from lockstep.execution.programs.program import Ending
from lockstep.execution.sass.graph import Block
from lockstep.execution.sass.lift import Lift
from lockstep.execution.state import result_word, return_word

_ARGUMENTS = {  # register and words of each argument, by service
    0: ((4, 2), (6, 2)),
    1: ((4, 2),),
    2: ((4, 2),),
    3: ((4, 2), (6, 2), (8, 1), (10, 2), (12, 2)),
    4: ((4, 2), (6, 1)),
}
_RESULT_WORDS = {0: 1, 1: 2, 2: 0, 3: 0, 4: 0}
_RESULT, _RETURN = 4, 20


def emit_service(lift: Lift, block: Block) -> None:
    """Hand over the arguments; or, where lanes come back, take the result and return."""
    if block.ending == Ending.HOST:
        _ask(lift, block.service)
    else:
        _answer(lift, block.service)


def _ask(lift: Lift, service: int) -> None:
    b = lift.b
    for k, (register, count) in enumerate(_ARGUMENTS[service]):
        words = [lift.register("R", register + n) for n in range(count)]
        word = resize(b, lift.join(words), I64)
        b.store_vector(b.offset(b.scratch(), 8 * b.lanes * k), word)
    b.store_vector(b.offset(b.scratch(), 8 * return_word(b.lanes)), _return(lift))


def _answer(lift: Lift, service: int) -> None:
    b = lift.b
    result = b.load_vector(b.offset(b.scratch(), 8 * result_word(b.lanes)), I64)
    for k, word in enumerate(lift.split(result)[: _RESULT_WORDS[service]]):
        lift.assign(f"R{_RESULT + k}", b.cast(word, I32))
    lift.go_to(_return(lift))


def _return(lift: Lift) -> Value:
    """The pc to return to."""
    pc = lift.join([lift.register("R", _RETURN + k) for k in range(2)])
    return Value(pc.ir, I64)
