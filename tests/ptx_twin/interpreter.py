"""Run a kernel thread by thread: threads take turns, so that locks and barriers end."""

from lockstep.isa.ptx.syntax import Immediate, Symbol
from ptx_twin import (
    access,
    barriers,
    carry,
    clusters,
    compare,
    control,
    conversion,
    floating,
    matrix,
    sparse,
    video,
    warp,
)
from ptx_twin.machine import Cta, Gathering, Machine, Thread
from ptx_twin.memory import Fault, Memory
from ptx_twin.numbers import convert
from ptx_twin.operands import read, type_bits, write, write_all
from ptx_twin.signatures import name_of, signature
from ptx_twin.table import OPERATIONS, typed

TURN = 64  # instructions before the next thread gets its turn
COLLECTIVES = warp.COLLECTIVES | matrix.COLLECTIVES | sparse.COLLECTIVES
MODULES = (compare, conversion, floating)  # imported for what they register


def move(thread, instruction):
    """mov, with the packing and unpacking of vectors."""
    kind = typed(instruction.modifiers)[-1]
    write(thread, instruction.operands[0], read(thread, instruction.operands[1], kind), kind)


def nothing(thread, instruction):
    """Waiting and notes to tools mean nothing to results."""


HANDLERS = {
    **access.HANDLERS,
    **barriers.HANDLERS,
    **clusters.HANDLERS,
    **control.HANDLERS,
    **dict.fromkeys(warp.COLLECTIVES.keys() - barriers.HANDLERS.keys(), warp.gather),
    **dict.fromkeys(matrix.COLLECTIVES, warp.gather_warp),
    **video.HANDLERS,
    "mov": move,
    **dict.fromkeys(("nanosleep", "pmevent", "griddepcontrol", "setmaxnreg"), nothing),
}


def run(module, entry, grid, block, arguments, memory, shared_bytes=0, limit=1_000_000, cluster=1):
    """Launch a kernel; ``memory`` is changed as the kernel does. Returns the Machine.

    ``arguments`` are ints or bytes, one a parameter. Raises Fault for a bad access, a trap, a
    deadlock, or a thread of more than ``limit`` instructions.
    """
    machine = Machine(module, triple(grid), triple(block), memory, cluster=triple(cluster))
    place_variables(machine)
    function = module.functions[entry]
    for index in indices(machine.grid):
        cta = make_cta(machine, index, function, arguments, shared_bytes)
        machine.ctas.append(cta)
        machine.clusters.setdefault(clusters.place(index, machine.cluster)[0], []).append(cta)
    while step_all(machine, limit):
        pass
    return machine


def triple(extents):
    extents = (extents,) if isinstance(extents, int) else tuple(extents)
    return extents + (1,) * (3 - len(extents))


def indices(extents):
    x, y, z = extents
    return [(i, j, k) for k in range(z) for j in range(y) for i in range(x)]


def place_variables(machine):
    """Global and constant variables, with their first contents."""
    functions = machine.module.functions.values()
    inner = [v for f in functions for v in f.variables if v.space in ("global", "const")]
    variables = [*machine.module.variables.values(), *inner]
    for variable in variables:
        if variable.space in ("global", "const"):
            size = variable.bytes or len(variable.initial) * variable.element_bytes
            place = machine.memory.allocate(size, max(variable.alignment, 16))
            machine.symbols[variable.name] = (variable.space, place)
    for variable in variables:
        if variable.name in machine.symbols:
            initialise(machine, variable)


def initialise(machine, variable):
    place = machine.symbols[variable.name][1]
    size = variable.element_bytes // variable.vector
    for i, item in enumerate(variable.initial):
        machine.memory.write(place + i * size, size, initial_value(machine, variable.type, item))


def initial_value(machine, kind, item):
    if isinstance(item, Symbol):
        if item.name in machine.module.functions:
            return machine.function_address(item.name)
        return machine.symbols[item.name][1] + item.offset
    if isinstance(item, Immediate) and item.bits == 64 and kind == "f32":
        return convert(item.value, "f64", "f32")
    return item.value % (1 << type_bits(kind))


def make_cta(machine, index, function, arguments, shared_bytes):
    rank = clusters.place(index, machine.cluster)[2]
    cta = Cta(machine, index, Memory(rank * clusters.STEP), rank, dynamic_bytes=shared_bytes)
    place_shared(cta, shared_bytes)
    x, y, z = machine.block
    for number, place in enumerate(indices((x, y, z))):
        thread = Thread(cta, place, number)
        contents = [as_bytes(a, v) for a, v in zip(arguments, function.parameters, strict=True)]
        control.enter(thread, function, None, contents)
        cta.threads.append(thread)
    return cta


def as_bytes(argument, variable):
    if isinstance(argument, bytes):
        return argument
    return (argument % (1 << (8 * variable.bytes))).to_bytes(variable.bytes, "little")


def place_shared(cta, shared_bytes):
    """Sized variables first; all open ones lie where the dynamic part begins."""
    module = cta.machine.module
    variables = [*module.variables.values()]
    variables += [v for f in module.functions.values() for v in f.variables]
    shared = [v for v in variables if v.space == "shared"]
    for variable in shared:
        if variable.bytes:
            place = cta.shared.allocate(variable.bytes, max(variable.alignment, 16))
            cta.symbols[variable.name] = ("shared", place)
    start = cta.shared.allocate(shared_bytes, 128)
    for variable in shared:
        if not variable.bytes:
            cta.symbols[variable.name] = ("shared", start)


def step_all(machine, limit):
    """One turn of every thread. False once all have ended."""
    moved = alive = False
    for cta in machine.ctas:
        for thread in cta.threads:
            moved |= turn(thread, limit)
        barriers.release(cta)
        moved |= meet(cta)
        alive |= any(not thread.exited for thread in cta.threads)
        moved |= any(not t.exited and t.waiting is None for t in cta.threads)
    if alive and not moved and not any(meet(cta, converged=True) for cta in machine.ctas):
        raise Fault("every thread waits")
    return alive


def turn(thread, limit):
    count = 0
    while not thread.exited and thread.waiting is None and count < TURN:
        step(thread)
        count += 1
    thread.steps += count
    if thread.steps > limit:
        raise Fault("the instruction limit is reached")
    return count > 0


def step(thread):
    frame = thread.frame
    thread.machine.clock += 1
    if frame.pc >= len(frame.function.instructions):
        control.leave(thread)
        return
    instruction = frame.function.instructions[frame.pc]
    frame.pc += 1
    if instruction.guard is not None and not read(thread, instruction.guard, "pred"):
        return
    try:
        execute(thread, instruction)
    except (Fault, KeyError, StopIteration, ValueError, IndexError) as error:
        where = f"{instruction.name}, line {instruction.position.line}, thread {thread.number}"
        raise Fault(f"{where}: {error!r}") from error


def execute(thread, instruction):
    if instruction.opcode in HANDLERS:
        HANDLERS[instruction.opcode](thread, instruction)
    else:
        compute(thread, instruction)


def compute(thread, instruction):
    """A pure instruction: read patterns, apply the operation, write."""
    words = instruction.modifiers
    result, *sources = instruction.operands
    kind, targets, types = signature(instruction.opcode, words, len(sources))
    values = [read(thread, operand, t) for operand, t in zip(sources, types)]
    if carry.applies(instruction.opcode, words):
        frame = thread.frame
        value, frame.carry = carry.execute(instruction.opcode, words, kind, frame.carry, *values)
    else:
        name = name_of(instruction.opcode, words)
        if name is None:
            raise Fault("unknown instruction")
        value = OPERATIONS[name](words, kind, *values)
    write_all(thread, result, value if isinstance(value, tuple) else (value,), targets)


def meet(cta, converged=False):
    """Execute warp-wide instructions at which everyone has arrived. True if any was.

    ``converged``: no thread can run, so those without a member list will not become more.
    """
    moved = False
    for first in range(0, len(cta.threads), 32):
        lanes = cta.threads[first : first + 32]
        group = complete_group(lanes, converged)
        while group:
            for thread in group:
                instruction, thread.waiting = thread.waiting.instruction, None
            COLLECTIVES[instruction.opcode](group, instruction)
            moved = True
            group = complete_group(lanes, converged)
    return moved


def complete_group(lanes, converged):
    """The threads of some warp-wide instruction that lacks none, by lane; else None."""
    waiting = [t for t in lanes if isinstance(t.waiting, Gathering)]
    for leader in sorted(waiting, key=lambda t: t.waiting.place[1:2]):
        want = leader.waiting
        group = [
            t for t in waiting if (t.waiting.place, t.waiting.members) == (want.place, want.members)
        ]
        if want.members is None:
            if converged or len(group) == sum(not t.exited for t in lanes):
                return group
        elif all(t.exited or t in group for t in lanes if want.members >> t.lane & 1):
            return group
    return None
