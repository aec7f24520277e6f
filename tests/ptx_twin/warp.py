"""Warp-wide instructions: each function gets the threads that take part, by lane."""

from ptx_twin import arithmetic
from ptx_twin.integer import reader
from ptx_twin.machine import Gathering
from ptx_twin.numbers import NAN, decode, encode, mask
from ptx_twin.operands import read, write, write_all


def source_lane(words, lane, b, c):
    """``(lane to read, whether it is in range)`` of a shuffle."""
    b, limit, segment = b & 31, c & 31, c >> 8 & 31
    last = (lane & segment) | (limit & ~segment)
    if "up" in words:
        j = lane - b
        return (j, 1) if j >= last else (lane, 0)
    if "down" in words:
        j = lane + b
    elif "bfly" in words:
        j = lane ^ b
    else:
        j = (lane & segment) | (b & ~segment & 31)
    return (j, 1) if j <= last else (lane, 0)


def shuffle(threads, instruction):
    """A lane that does not take part is read as the own one (PTX: undefined)."""
    result, a, b, c = instruction.operands[:4]
    values = {thread.lane: read(thread, a, "b32") for thread in threads}
    for thread in threads:
        step, limits = read(thread, b, "b32"), read(thread, c, "b32")
        lane, valid = source_lane(instruction.modifiers, thread.lane, step, limits)
        value = values.get(lane, values[thread.lane])
        write_all(thread, result, (value, valid), ("b32", "pred"))


def vote(threads, instruction):
    truths = {t.lane: read(t, instruction.operands[1], "pred") for t in threads}
    words = instruction.modifiers
    if "ballot" in words:
        value = sum(truth << lane for lane, truth in truths.items())
    elif "uni" in words:
        value = int(len(set(truths.values())) == 1)
    else:
        value = int(all(truths.values()) if "all" in words else any(truths.values()))
    for thread in threads:
        write(thread, instruction.operands[0], value, words[-1])


def match(threads, instruction):
    words = instruction.modifiers
    values = {t.lane: read(t, instruction.operands[1], words[-1]) for t in threads}
    everyone = sum(1 << lane for lane in values)
    for thread in threads:
        same = sum(1 << lane for lane, v in values.items() if v == values[thread.lane])
        if "all" in words:
            agree = int(same == everyone)
            pair = (everyone if agree else 0, agree)
            write_all(thread, instruction.operands[0], pair, ("b32", "pred"))
        else:
            write(thread, instruction.operands[0], same, "b32")


def reduce(threads, instruction):
    words = instruction.modifiers
    kind = words[-1]
    patterns = [read(t, instruction.operands[1], kind) for t in threads]
    value = reduce_floats(words, patterns) if kind == "f32" else reduce_integers(words, patterns)
    for thread in threads:
        write(thread, instruction.operands[0], value, kind)


def reduce_integers(words, patterns):
    read_number, bits = reader(words[-1])
    values = [read_number(pattern) for pattern in patterns]
    total = values[0]
    for value in values[1:]:
        total = REDUCTIONS[next(w for w in words if w in REDUCTIONS)](total, value)
    return total & mask(bits)


REDUCTIONS = {
    "add": lambda a, b: a + b,
    "min": min,
    "max": max,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
}


def reduce_floats(words, patterns):
    numbers = [decode(pattern, "f32") for pattern in patterns]
    if "abs" in words:
        numbers = [arithmetic.absolute(number) for number in numbers]
    known = [number for number in numbers if not number.is_nan]
    if not known or ("NaN" in words and len(known) < len(numbers)):
        return encode(NAN, "f32")
    best = known[0]
    for number in known[1:]:
        smaller = arithmetic.less(number, best)
        best = number if smaller == ("min" in words) and number != best else best
    return encode(best, "f32")


def active(threads, instruction):
    value = sum(1 << thread.lane for thread in threads)
    for thread in threads:
        write(thread, instruction.operands[0], value, "b32")


def elect(threads, instruction):
    """The lowest lane leads."""
    leader = threads[0].lane
    for thread in threads:
        pair = (leader, int(thread.lane == leader))
        write_all(thread, instruction.operands[0], pair, ("b32", "pred"))


def nothing(threads, instruction):
    """bar.warp.sync: meeting was all."""


COLLECTIVES = {
    "shfl": shuffle,
    "vote": vote,
    "match": match,
    "redux": reduce,
    "activemask": active,
    "elect": elect,
    "bar": nothing,
    "barrier": nothing,
}


def gather(thread, instruction):
    """Wait at a warp-wide instruction; the last operand of .sync forms names the members."""
    members = None
    if instruction.opcode == "elect" or "sync" in instruction.modifiers:
        members = read(thread, instruction.operands[-1], "b32")
    place = (thread.frame.function.name, thread.frame.pc, len(thread.frames))
    thread.waiting = Gathering(instruction, place, members)


def gather_warp(thread, instruction):
    """Wait at an .aligned matrix instruction: the whole warp takes part."""
    place = (thread.frame.function.name, thread.frame.pc, len(thread.frames))
    thread.waiting = Gathering(instruction, place, mask(32))
