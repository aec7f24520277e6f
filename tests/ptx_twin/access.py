"""Loads, stores, atomics, address conversion, asynchronous copies."""

from functools import lru_cache

from ptx_twin import arithmetic, floating
from ptx_twin.clusters import STEP, async_bytes, bulk_copy, complete, owner
from ptx_twin.integer import by_lane
from ptx_twin.machine import WINDOW_SIZE, WINDOWS
from ptx_twin.memory import Fault
from ptx_twin.operands import address, elements, read, type_bits, write
from ptx_twin.table import is_float, typed

SPACES = ("global", "shared", "local", "param", "const")


@lru_cache(None)
def space_of(words):
    """The state space among the modifiers, ``::cta`` and ``::entry`` cut off."""
    return next((w.partition("::")[0] for w in words if w.partition("::")[0] in SPACES), "generic")


def resolve(thread, space, place):
    """The memory and address there."""
    if space == "generic":
        for name, start in WINDOWS.items():
            if start <= place < start + WINDOW_SIZE:
                return resolve(thread, "cluster" if name == "shared" else name, place - start)
        return thread.machine.memory, place
    if space in ("cluster", "shared"):
        return owner(thread.cta, place, space == "cluster").shared, place
    memories = {"local": thread.local, "param": thread.param}
    return memories.get(space, thread.machine.memory), place


def target(thread, operand, words):
    space, place = address(thread, operand, space_of(words))
    return resolve(thread, "cluster" if "shared::cluster" in words else space, place)


def load(thread, instruction):
    """ld, ldu."""
    words = instruction.modifiers
    kind = typed(words)[-1]
    size = type_bits(kind) // 8
    memory, place = target(thread, instruction.operands[1], words)
    parts = elements(thread, instruction.operands[0])
    check_alignment(place, size * len(parts))
    values = [memory.read(place + i * size, size) for i in range(len(parts))]
    for part, value in zip(parts, values):
        write(thread, part, value, kind)


def check_alignment(place, size):
    if place % size:
        raise Fault(f"misaligned vector of {size} bytes at {place:#x}")


def store(thread, instruction):
    words = instruction.modifiers
    kind = typed(words)[-1]
    size = type_bits(kind) // 8
    memory, place = target(thread, instruction.operands[0], words)
    parts = elements(thread, instruction.operands[1])
    check_alignment(place, size * len(parts))
    for i, part in enumerate(parts):
        memory.write(place + i * size, size, read(thread, part, kind))
    if "async" in words:
        complete(thread, instruction.operands[2], async_bytes(instruction))


def _float_add(words, kind, old, new):
    """f32 in global memory flushes subnormals, elsewhere they are kept."""
    flags = ("rn", "ftz") if kind == "f32" and "global" in words else ("rn",)
    return floating.by_lane(flags, kind, arithmetic.add, old, new)


def _float_choice(name):
    operation = {"min": floating.minimum, "max": floating.maximum}[name]
    return lambda words, kind, old, new: operation((), kind, old, new)


def _increment(words, kind, old, limit):
    return 0 if old >= limit else old + 1


def _decrement(words, kind, old, limit):
    return limit if old == 0 or old > limit else old - 1


def _integers(function):
    return lambda words, kind, old, new: by_lane(kind, function, old, new)


INTEGER = {
    "add": _integers(lambda a, b: a + b),
    "min": _integers(min),
    "max": _integers(max),
    "and": _integers(lambda a, b: a & b),
    "or": _integers(lambda a, b: a | b),
    "xor": _integers(lambda a, b: a ^ b),
    "inc": _increment,
    "dec": _decrement,
    "exch": lambda words, kind, old, new: new,
}
FLOAT = {"add": _float_add, "min": _float_choice("min"), "max": _float_choice("max")}


def combine(words, kind, old, *values):
    """The new content of memory after an atomic operation."""
    if "cas" in words:
        return values[1] if old == values[0] else old
    name = next(word for word in words if word in INTEGER)
    table = FLOAT if is_float(kind) and name in FLOAT else INTEGER
    return table[name](words, kind, old, *values)


def atomic(thread, instruction):
    """atom (with a result) and red (without); vectors element by element."""
    words = instruction.modifiers
    kind = typed(words)[-1]
    operands = instruction.operands
    result, operands = (
        (operands[0], operands[1:]) if instruction.opcode == "atom" else (None, operands)
    )
    if "async" in words:
        complete(thread, operands[2], async_bytes(instruction))
        operands = operands[:2]
    memory, place = target(thread, operands[0], words)
    size = type_bits(kind) // 8
    scope = (*words, "global") if memory is thread.machine.memory else words
    columns = [elements(thread, operand) for operand in operands[1:]]
    check_alignment(place, size * len(columns[0]))
    results = elements(thread, result) if result else ()
    for i, values in enumerate(zip(*columns)):
        old = memory.read(place + i * size, size)
        new = combine(scope, kind, old, *(read(thread, v, kind) for v in values))
        memory.write(place + i * size, size, new)
        if result:
            write(thread, results[i], old, kind)


def convert_address(thread, instruction):
    """cvta and cvta.to."""
    words = instruction.modifiers
    start = WINDOWS.get(space_of(words), 0)
    kind = typed(words)[-1]
    source = instruction.operands[1]
    _, place = address(thread, source, space_of(words))
    write(thread, instruction.operands[0], place - start if "to" in words else place + start, kind)


def is_constant(machine, place):
    """Whether an address is in a constant variable."""
    variables = [v for v in machine.module.variables.values() if v.space == "const"]
    starts = [(machine.symbols[v.name][1], v.bytes) for v in variables]
    return any(start <= place < start + size for start, size in starts)


def allocate(thread, instruction):
    """alloca; what a function takes it loses with its frame."""
    kind = typed(instruction.modifiers)[-1]
    target, size, *rest = instruction.operands
    alignment = rest[0].value if rest else 8
    place = thread.local.allocate(read(thread, size, kind), alignment)
    write(thread, target, place, kind)


def save_stack(thread, instruction):
    kind = typed(instruction.modifiers)[-1]
    write(thread, instruction.operands[0], thread.local.next, kind)


def restore_stack(thread, instruction):
    kind = typed(instruction.modifiers)[-1]
    thread.local.release(read(thread, instruction.operands[0], kind))


def is_space(thread, instruction):
    """isspacep; whatever lies in no window is global."""
    space = space_of(instruction.modifiers)
    place = read(thread, instruction.operands[1], "b64")
    inside = {n for n, start in WINDOWS.items() if start <= place < start + WINDOW_SIZE}
    if not inside:
        inside = {"const" if is_constant(thread.machine, place) else "global"}
    answer = space in inside
    if "shared" in inside and "shared::cluster" not in instruction.modifiers:
        mine = (place - WINDOWS["shared"]) // STEP == thread.cta.rank
        answer = space == "shared" and mine
    write(thread, instruction.operands[0], int(answer), "pred")


def copy_async(thread, instruction):
    """cp.async: the copy is done at once, which any program must bear."""
    words = instruction.modifiers
    if "commit_group" in words or "wait_group" in words or "wait_all" in words:
        return None
    if "bulk" in words:
        return bulk_copy(thread, instruction)
    if "mbarrier" in words:
        return "mbarrier"
    operands = instruction.operands
    size = read(thread, operands[2], "b32")
    sources = [o for o in operands[3:]]
    count = source_bytes(thread, sources[:1], size)
    to, there = resolve(thread, *address(thread, operands[0], "shared"))
    check_alignment(there, size)
    content = b""
    if count:
        source, here = resolve(thread, *address(thread, operands[1], "global"))
        content = source.bytes_at(here, count)
    for i, value in enumerate(content.ljust(size, b"\0")):
        to.write(there + i, 1, value)
    return None


def source_bytes(thread, operand, size):
    """How much cp.async reads: all, a given number, or nothing if a predicate ignores it."""
    if not operand:
        return size
    name = getattr(operand[0], "name", "") or getattr(
        getattr(operand[0], "operand", None), "name", ""
    )
    variable = thread.frame.function.registers.get(name)
    if variable and variable.type == "pred":
        return 0 if read(thread, operand[0], "pred") else size
    return read(thread, operand[0], "b32")


def nothing(thread, instruction):
    """Fences, prefetches and hints: one thread after the other sees everything anyway."""


def policy(thread, instruction):
    write(thread, instruction.operands[0], 0, "b64")


HANDLERS = {
    "ld": load,
    "ldu": load,
    "st": store,
    "atom": atomic,
    "red": atomic,
    "cvta": convert_address,
    "isspacep": is_space,
    "createpolicy": policy,
    "alloca": allocate,
    "stacksave": save_stack,
    "stackrestore": restore_stack,
    **dict.fromkeys(
        ("prefetch", "prefetchu", "membar", "fence", "discard", "applypriority"), nothing
    ),
}
