"""Control flow: branches, calls, returns, exits, and the functions a device provides."""

from lockstep.isa.ptx.syntax import Register
from ptx_twin.machine import Frame
from ptx_twin.memory import Fault
from ptx_twin.operands import locate, read, write


def enter(thread, function, call=None, arguments=()):
    """Begin a function with its parameters given as bytes."""
    frame = Frame(function, call, mark=(thread.local.next, thread.param.next))
    thread.frames.append(frame)
    for variable in (*function.parameters, *function.returns):
        declare(thread, variable)
    for variable, content in zip(function.parameters, arguments):
        fill(thread, variable, content)
    for variable in function.variables:
        if variable.space in ("local", "param"):
            declare(thread, variable)


def declare(thread, variable):
    if variable.space == "reg":
        return
    memory = thread.local if variable.space == "local" else thread.param
    alignment = max(variable.alignment, variable.element_bytes, 1)
    place = memory.allocate(variable.bytes, alignment)
    thread.frame.addresses[variable.name] = (variable.space, place)


def fill(thread, variable, content):
    if variable.space == "reg":
        thread.frame.registers[variable.name] = int.from_bytes(content, "little")
        return
    memory, start = thread.param.find(thread.frame.addresses[variable.name][1], variable.bytes)
    memory[start : start + len(content)] = content


def content_of(thread, operand, variable):
    """The bytes of an argument or result: a register, a constant, or a parameter variable."""
    name = getattr(operand, "name", None)
    if name in thread.frame.addresses:
        return thread.param.bytes_at(locate(thread, name)[1], variable.bytes)
    kind = variable.type
    return read(thread, operand, kind).to_bytes(variable.bytes or 1, "little")


def jump(thread, label):
    labels = thread.frame.function.labels
    if label not in labels:
        raise Fault(f"no label {label}")
    thread.frame.pc = labels[label]


def branch(thread, instruction):
    jump(thread, instruction.operands[0].name)


def branch_indexed(thread, instruction):
    index = read(thread, instruction.operands[0], "u32")
    targets = thread.frame.function.tables[instruction.operands[1].name]
    if index < len(targets):
        jump(thread, targets[index])
    else:
        raise Fault("brx.idx beyond its table")


def call(thread, instruction):
    operands = instruction.operands[0]
    module = thread.machine.module
    if isinstance(operands.callee, Register):
        function = thread.machine.function_at(read(thread, operands.callee, "u64"))
    else:
        function = module.functions[operands.callee.name]
    pairs = zip(operands.arguments, function.parameters)
    arguments = [content_of(thread, argument, variable) for argument, variable in pairs]
    if function.name in BUILT_IN:
        finish_call(thread, operands, function, [BUILT_IN[function.name](thread, *arguments)])
    else:
        enter(thread, function, operands, arguments)


def finish_call(thread, call_operands, function, results):
    """Hand the results, as bytes, to the caller's operands."""
    for operand, variable, content in zip(call_operands.results, function.returns, results):
        if getattr(operand, "name", None) in thread.frame.addresses:
            place = thread.frame.addresses[operand.name][1]
            memory, start = thread.param.find(place, variable.bytes)
            memory[start : start + len(content)] = content
        else:
            write(thread, operand, int.from_bytes(content, "little"), variable.type)


def leave(thread, instruction=None):
    """ret: from a kernel it ends the thread."""
    frame = thread.frame
    symbols = frame.function.returns
    results = [_result(thread, variable) for variable in symbols]
    thread.frames.pop()
    thread.local.release(frame.mark[0])
    thread.param.release(frame.mark[1])
    if frame.call is not None:
        finish_call(thread, frame.call, frame.function, results)


def _result(thread, variable):
    if variable.space == "reg":
        value = thread.frame.registers.get(variable.name, 0)
        return value.to_bytes(variable.bytes or 1, "little")
    return thread.param.bytes_at(thread.frame.addresses[variable.name][1], variable.bytes)


def leave_thread(thread, instruction):
    thread.frames.clear()


def trap(thread, instruction):
    raise Fault("trap")


def text_at(thread, pointer):
    content, start = thread.machine.memory.find(int.from_bytes(pointer, "little"), 1)
    return bytes(content[start : content.index(0, start)]).decode()


def print_formatted(thread, text, arguments):
    thread.machine.output.append((text_at(thread, text), int.from_bytes(arguments, "little")))
    return (0).to_bytes(4, "little")


def allocate(thread, size):
    place = thread.machine.memory.allocate(int.from_bytes(size, "little"), 16)
    return place.to_bytes(8, "little")


def release(thread, pointer):
    return b""


def fail(thread, message, *where):
    raise Fault(f"assertion: {text_at(thread, message)}")


BUILT_IN = {
    "vprintf": print_formatted,
    "malloc": allocate,
    "free": release,
    "__assertfail": fail,
}
HANDLERS = {
    "bra": branch,
    "brx": branch_indexed,
    "call": call,
    "ret": leave,
    "exit": leave_thread,
    "trap": trap,
    "brkpt": trap,
}
