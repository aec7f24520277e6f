"""Calls and returns: parameters, return addresses, frames of recursive functions, services.

A call puts its arguments into registers of the callee and the block to return to into another.
Registers of different functions are different, so nothing is saved, unless a function may be
active twice in one thread: such a function saves what it needs later on the thread's stack.
"""

import struct

from llvmlite import ir

from lockstep.execution.lanes import memory as lanes
from lockstep.execution.lanes.addresses import Access
from lockstep.execution.lanes.builder import WORD
from lockstep.execution.lanes.types import I32, I64, INTEGERS, PRED, Value
from lockstep.execution.programs.program import NOWHERE, TOO_DEEP
from lockstep.execution.programs.services import TABLE
from lockstep.execution.ptx.callgraph import function_address
from lockstep.execution.ptx.graph import service_of
from lockstep.execution.ptx.lift import Lift, is_signed, type_of
from lockstep.execution.ptx.liveness import called
from lockstep.execution.ptx.opcodes import opcode
from lockstep.execution.ptx.operands import elements
from lockstep.execution.ptx.parameters import (
    RETURN,
    Passed,
    read_bytes,
    shifted,
    words_of,
    write_bytes,
)
from lockstep.execution.state import Window, result_word
from lockstep.isa.ptx.syntax import Call, Function, Instruction, Operand, Register, Sink, Variable

Words = list[tuple[str, Value]]
"""Registers and their values."""


# Words of parameters


def load_words(lift: Lift, i: Instruction) -> bool:
    """Lift an ``ld.param`` of a function's parameter or of a call's result; whether it is one."""
    access = _access(lift, i)
    if access is None:
        return False
    kind, targets = i.modifiers[-1], elements(i.operands[0])
    size = access.bytes // len(targets)
    for k, target in enumerate(targets):
        part = Passed(access.variable, access.offset + k * size, size)
        lift.write(target, read_bytes(lift.b, lift.current, part), is_signed(kind))
    return True


def store_words(lift: Lift, i: Instruction) -> bool:
    """Lift an ``st.param`` of a call's parameter or of a function's result; whether it is one."""
    access = _access(lift, i)
    if access is None:
        return False
    kind, sources = i.modifiers[-1], elements(i.operands[1])
    size = access.bytes // len(sources)
    for k, source in enumerate(sources):
        part = Passed(access.variable, access.offset + k * size, size)
        value = lift.b.cast(lift.read(source, kind), INTEGERS[8 * size])
        write_bytes(lift.b, lift.current, lift.assign, part, value)
    return True


def _access(lift: Lift, i: Instruction) -> Passed | None:
    access = lift.layout.passed[lift.function.name].access(i)
    if access is None:
        return None
    if access.offset < 0 or access.offset + access.bytes > access.variable.bytes:
        raise lift.refuse(f"{i.name} reaches outside {access.variable.name}")
    if access.offset % min(access.bytes // len(elements(_value_of(i))), 16):
        raise lift.refuse(f"{i.name} is misaligned")
    return access


def _value_of(i: Instruction) -> Operand:
    return i.operands[0 if i.opcode == "ld" else 1]


# Entry of functions whose parameters have addresses


def enter(lift: Lift) -> None:
    """At the start of a function: copy parameters whose address is taken to local memory."""
    inputs = lift.function.parameters
    for variable in lift.layout.passed[lift.function.name].addressed:
        if variable in inputs:
            for word in words_of(variable):
                access = _local(lift, variable, word.offset, word.bytes)
                lanes.store(lift.b, access, [lift.current(word.register)])


def _local(lift: Lift, variable: Variable, offset: int, size: int) -> Access:
    address = lift.address(variable.name, offset)
    address = Value(lift.b.ir.trunc(address.ir, lift.b.vector(I32)), I32)
    return Access(Window.LOCAL, address, size, ir.Constant(WORD, lift.site(Window.LOCAL)))


# Calls


def take_results(lift: Lift, i: Instruction) -> None:
    """Where lanes come back from a call: results, and what a recursive function had saved."""
    call: Call = i.operands[0]
    if service_of(lift.module, i) is not None:
        _take_service_result(lift, call)
        return
    if lift.function.name in lift.layout.frames:
        _restore(lift)
    callees = lift.layout.calls.callees(lift.function, i)
    for nth, operand in enumerate(call.results):
        if not isinstance(operand, Sink):
            _take_result(lift, operand, [(f, f.returns[nth]) for f in callees])


@opcode("call[.uni]", destinations=0, resume=take_results)
def call(lift: Lift, i: Instruction) -> None:
    if service_of(lift.module, i) is not None:
        _ask_service(lift, i)
        return
    callees = lift.layout.calls.callees(lift.function, i)
    operands: Call = i.operands[0]
    target = None
    if isinstance(operands.callee, Register):
        target = lift.read(operands.callee, "u64")
        lift.assign(called(lift.block), target)
    passed = [_arguments(lift, operands, f) for f in callees]
    recursive = lift.function.name in lift.layout.frames
    if recursive:
        _save(lift)
    lift.store_live(lift.block.live_out)  # a function may overwrite its own parameters
    block = lift.b.constant(I32, lift.block.taken.number)
    for function, words in zip(callees, passed, strict=True):
        with lift.b.guarded(_enters(lift, target, function)):
            for register, value in [*words, (RETURN, block)]:
                lift.put(function.name, register, value)
    if target is not None or recursive:
        _go(lift, _entries(lift, target, callees), recursive)


def _enters(lift: Lift, target: Value | None, function: Function) -> Value:
    """The lanes that enter a function, if all call an address."""
    if target is None:
        return lift.b.active
    address = lift.b.constant(I64, function_address(lift.module, function.name))
    return Value(lift.b.ir.icmp_unsigned("==", target.ir, address.ir), PRED)


def _entries(lift: Lift, target: Value | None, callees: list[Function]) -> Value:
    """The blocks (i64) that lanes go to."""
    entries = lift.b.constant(I64, NOWHERE)
    for function in callees:
        entry = lift.b.constant(I64, lift.layout.entries[function.name])
        entries = lift.b.select(_enters(lift, target, function), entry, entries)
    return entries


def _go(lift: Lift, blocks: Value, recursive: bool) -> None:
    """Leave for blocks, in a new frame if the function may be entered again."""
    b, layout = lift.b, lift.layout
    if recursive:
        lift.move_frame(layout.frames[lift.function.name].bytes)
        end = lift.frame_address(layout.deepest)
        limit = b.splat(b.ir.trunc(b.field("launch", "local_bytes"), ir.IntType(32)), I32)
        limit = Value(b.ir.sub(limit.ir, lift.taken().ir), I32)
        fits = Value(b.ir.icmp_unsigned("<=", end.ir, limit.ir), PRED)
        blocks = b.select(fits, blocks, b.constant(I64, TOO_DEEP))
    b.ir.store(blocks.ir, b.scratch(), align=64)


def _arguments(lift: Lift, call: Call, function: Function) -> Words:
    """The words of a function's parameters and their values at a call."""
    if len(call.arguments) != len(function.parameters):
        count = len(function.parameters)
        raise lift.refuse(f"{function.name} takes {count} arguments, not {len(call.arguments)}")
    words: Words = []
    for operand, variable in zip(call.arguments, function.parameters, strict=True):
        words += _argument(lift, operand, variable)
    return words


def _argument(lift: Lift, operand: Operand, variable: Variable) -> Words:
    source = lift.layout.passed[lift.function.name].variables.get(getattr(operand, "name", ""))
    if source is None or source.space == "reg":
        return [(words_of(variable)[0].register, lift.read(operand, variable.type))]
    return _copied(lift, lift.current, source, variable)


def _copied(lift: Lift, get, source: Variable, target: Variable) -> Words:
    """The words of one variable from those of another."""
    words: Words = []
    for word in words_of(target):
        size = min(word.bytes, source.bytes - word.offset)
        if size > 0:
            value = read_bytes(lift.b, get, Passed(source, word.offset, _power_of_two(size)))
            words.append((word.register, shifted(lift.b, value, 0, INTEGERS[8 * word.bytes])))
    return words


def _power_of_two(size: int) -> int:
    return 1 << (size - 1).bit_length()


def _take_result(lift: Lift, operand: Operand, sources: list[tuple[Function, Variable]]) -> None:
    """Give an operand of a call what the called functions returned."""
    own = lift.layout.passed[lift.function.name].variables.get(getattr(operand, "name", ""))
    to_register = own is None or own.space == "reg"
    values: dict[str, Value] = {}
    for function, variable in sources:
        words = _returned(lift, function, variable, variable if to_register else own)
        for register, value in words:
            if to_register:
                register = operand.name
                value = _as_type(lift, value, variable.type)
            if register in values:
                value = lift.b.select(_was_called(lift, function), value, values[register])
            values[register] = value
    for register, value in values.items():
        if to_register:
            lift.write(operand, value, is_signed(sources[0][1].type))
        else:
            lift.assign(register, value)


def _returned(lift: Lift, function: Function, source: Variable, target: Variable) -> Words:
    if source.space == "reg":
        return [(words_of(target)[0].register, lift.slot(function.name, source.name))]
    return _copied(lift, lambda name: lift.slot(function.name, name), source, target)


def _as_type(lift: Lift, value: Value, kind: str) -> Value:
    wanted = type_of(kind)
    return value if value.type == wanted else lift.b.cast(value, wanted)


def _was_called(lift: Lift, function: Function) -> Value:
    return _enters(lift, lift.current(called(lift.block)), function)


@opcode("ret[.uni]", destinations=0)
def leave(lift: Lift, i: Instruction) -> None:
    """From the kernel, the end of the thread: nothing is computed."""
    if lift.function.is_entry:
        return
    results = lift.function.returns
    for variable in lift.layout.passed[lift.function.name].addressed:
        if variable in results:
            for word in words_of(variable):
                access = _local(lift, variable, word.offset, word.bytes)
                kind = INTEGERS[8 * word.bytes]
                lift.assign(word.register, lanes.load(lift.b, access, kind)[0])
    block = lift.b.ir.zext(lift.current(RETURN).ir, lift.b.vector(I64))
    lift.b.ir.store(block, lift.b.scratch(), align=64)


# The stack of recursive functions


def _saved(lift: Lift, live: set[str]) -> list[tuple[str, int]]:
    """Registers that a recursive function needs after a call, and where they are in its frame."""
    layout, function = lift.layout, lift.function.name
    sizes = {name: layout.register_size(function, name) for name in live}
    places, place = [], layout.frames[function].variables
    for name in sorted(live, key=lambda n: (-sizes[n], n)):
        places.append((name, place))
        place += sizes[name]
    return places


def _stack(lift: Lift, offset: int, size: int) -> Access:
    address = lift.frame_address(offset)
    return Access(Window.LOCAL, address, size, ir.Constant(WORD, lift.site(Window.LOCAL)))


def _save(lift: Lift) -> None:
    b = lift.b
    for name, offset in _saved(lift, lift.block.taken.live_in):
        value = lift.current(name)
        if value.type == PRED:
            value = Value(b.ir.zext(value.ir, b.vector(I32)), I32)
        lanes.store(b, _stack(lift, offset, value.type.bytes), [value])


def _restore(lift: Lift) -> None:
    b, layout = lift.b, lift.layout
    lift.move_frame(-layout.frames[lift.function.name].bytes)
    for name, offset in _saved(lift, lift.block.live_in):
        kind = lift.type(name)
        stored = I32 if kind == PRED else kind
        value = lanes.load(b, _stack(lift, offset, stored.bytes), stored)[0]
        if kind == PRED:
            value = Value(b.ir.trunc(value.ir, b.vector(PRED)), PRED)
        lift.assign(name, value)


# Services of the host


def _ask_service(lift: Lift, i: Instruction) -> None:
    """Put the arguments, as 64-bit words, where the host finds them."""
    b, call = lift.b, i.operands[0]
    function = lift.module.functions[call.callee.name]
    service = TABLE[function.name]
    sizes = [struct.calcsize(form) for form in service.arguments]
    if sizes != [variable.bytes for variable in function.parameters]:
        raise lift.refuse(f"{function.name} is declared with other parameters than CUDA's")
    values = [value for _, value in _arguments(lift, call, function)]
    for size, place in zip(sizes, service.places):
        for k in range(0, size, 8):
            word = _take_word(lift, values, min(size - k, 8))
            b.ir.store(word.ir, b.offset(b.scratch(), b.lanes * (8 * place + k)), align=64)


def _take_word(lift: Lift, values: list[Value], size: int) -> Value:
    """The first bytes of what a list of values holds, as a 64-bit word; they leave the list."""
    b, word, taken = lift.b, lift.b.constant(I64, 0), 0
    while taken < size:
        value = values.pop(0)
        part = shifted(b, b.cast(value, INTEGERS[value.type.bits]), taken, I64)
        word, taken = Value(b.ir.or_(word.ir, part.ir), I64), taken + value.type.bits // 8
    return word


def _take_service_result(lift: Lift, call: Call) -> None:
    if not call.results:
        return
    function = lift.module.functions[call.callee.name]
    word = lift.b.load_vector(lift.b.offset(lift.b.scratch(), 8 * result_word(lift.b.lanes)), I64)
    variable, operand = function.returns[0], call.results[0]
    own = lift.layout.passed[lift.function.name].variables.get(getattr(operand, "name", ""))
    value = shifted(lift.b, word, 0, INTEGERS[8 * variable.bytes])
    if own is None or own.space == "reg":
        lift.write(operand, value)
    else:
        lift.assign(words_of(own)[0].register, value)
