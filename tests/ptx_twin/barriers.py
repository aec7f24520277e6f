"""Barriers of a CTA: bar, barrier, and mbarrier objects in shared memory."""

from dataclasses import dataclass

from lockstep.isa.ptx.syntax import Memory, Sink
from ptx_twin.access import copy_async, space_of, target
from ptx_twin.clusters import members, owner
from ptx_twin.machine import Gathering
from ptx_twin.numbers import mask
from ptx_twin.operands import read, type_bits, write


@dataclass
class Arrival:
    """A thread at a barrier; ``thread`` is None if it did not stay."""

    thread: object
    expected: int  # threads; 0 = all of the CTA
    instruction: object
    value: int = 0


def barrier(thread, instruction):
    words = instruction.modifiers
    if "warp" in words:
        members = read(thread, instruction.operands[0], "b32")
        thread.waiting = Gathering(instruction, ("bar.warp.sync",), members)
    elif "cluster" in words:
        cluster(thread, instruction)
    elif "red" in words:
        reduce_arrive(thread, instruction)
    else:
        arrive(thread, instruction)


def arrive(thread, instruction):
    number, *count = (read(thread, o, "u32") for o in instruction.operands)
    expected = count[0] if count else 0
    stays = "arrive" not in instruction.modifiers
    join(thread, number, Arrival(thread if stays else None, expected, instruction))


def reduce_arrive(thread, instruction):
    _, *counts, predicate = instruction.operands
    number, *count = (read(thread, o, "u32") for o in counts)
    value = read(thread, predicate, "pred")
    join(thread, number, Arrival(thread, count[0] if count else 0, instruction, value))


def cluster(thread, instruction):
    """Whoever waits does so for the arrivals of all."""
    if "arrive" in instruction.modifiers:
        thread.came += 1
    else:
        thread.waiting = "cluster"


def join(thread, number, arrival):
    thread.cta.barriers.setdefault(number, []).append(arrival)
    if arrival.thread is not None:
        thread.waiting = "barrier"
    release(thread.cta)


def release(cta):
    """Let go every barrier at which all expected threads are."""
    present = sum(not thread.exited for thread in cta.threads)
    release_cluster(cta)
    for arrivals in cta.barriers.values():
        expected = max(arrival.expected for arrival in arrivals) if arrivals else 0
        if arrivals and len(arrivals) >= (expected or present):
            let_go(arrivals)
            arrivals.clear()


def release_cluster(cta):
    """A thread may pass when all others of its cluster have arrived as often as it has."""
    if not any(thread.waiting == "cluster" for thread in cta.threads):
        return
    threads = [t for member in members(cta) for t in member.threads if not t.exited]
    least = min(t.came for t in threads)
    for thread in cta.threads:
        if thread.waiting == "cluster" and thread.came <= least:
            thread.waiting = None


def let_go(arrivals):
    values = [arrival.value for arrival in arrivals]
    for arrival in arrivals:
        if arrival.thread is None:
            continue
        arrival.thread.waiting = None
        words = arrival.instruction.modifiers
        if "red" in words:
            kind = words[-1]
            result = {"popc": sum, "and": all, "or": any}[next(w for w in words if w in REDUCE)]
            write(arrival.thread, arrival.instruction.operands[0], int(result(values)), kind)


REDUCE = ("popc", "and", "or")


@dataclass
class Transaction:
    """An mbarrier: arrivals per phase, those still missing, bytes still to come."""

    count: int
    pending: int
    phase: int = 0
    bytes: int = 0

    def settle(self):
        if self.pending == 0 and self.bytes == 0:
            self.phase, self.pending = self.phase + 1, self.count


def place_of(thread, operand, words):
    memory, place = target(thread, operand, words)
    memory.read(place, 8)
    return place


def mbarrier(thread, instruction):
    words = instruction.modifiers
    if words[0] == "pending_count":
        state = read(thread, instruction.operands[1], "b64")
        write(thread, instruction.operands[0], state & mask(20), "u32")
        return
    operands = list(instruction.operands)
    result = None if isinstance(operands[0], Memory) else operands.pop(0)
    place = place_of(thread, operands[0], words)
    values = [
        read(thread, o, "b64" if type_bits_of(thread, o) == 64 else "b32") for o in operands[1:]
    ]
    home = owner(thread.cta, place, "shared::cluster" in words or space_of(words) == "generic")
    objects = home.transactions
    if words[0] == "init":
        objects[place] = Transaction(values[0], values[0])
        return
    if words[0] == "inval":
        del objects[place]
        return
    state = MBARRIER[words[0]](objects[place], words, *values)
    if result is not None and not isinstance(result, Sink):
        write(thread, result, state, "pred" if "wait" in words[0] else "b64")


def type_bits_of(thread, operand):
    variable = thread.frame.function.registers.get(getattr(operand, "name", ""))
    return type_bits(variable.type) if variable else 32


def _arrive(barrier, words, count=1):
    state = barrier.phase << 20 | barrier.pending
    if "expect_tx" in words:
        barrier.bytes += count
        count = 1
    if words[0] == "arrive_drop":
        barrier.count -= count
    barrier.pending -= count
    barrier.settle()
    return state


def _expect(barrier, words, count):
    barrier.bytes += count


def _complete(barrier, words, count):
    barrier.bytes -= count
    barrier.settle()


def _wait(barrier, words, state, hint=0):
    if "parity" in words:
        return int(barrier.phase & 1 != state & 1)
    return int(barrier.phase != state >> 20)


MBARRIER = {
    "arrive": _arrive,
    "arrive_drop": _arrive,
    "expect_tx": _expect,
    "complete_tx": _complete,
    "test_wait": _wait,
    "try_wait": _wait,
}


def copy(thread, instruction):
    """cp.async; its mbarrier form arrives, and without .noinc expects one arrival more first."""
    if copy_async(thread, instruction) != "mbarrier":
        return
    words = instruction.modifiers
    barrier = thread.cta.transactions[place_of(thread, instruction.operands[0], words)]
    if "noinc" in words:
        barrier.pending -= 1
        barrier.settle()


HANDLERS = {"bar": barrier, "barrier": barrier, "mbarrier": mbarrier, "cp": copy}
