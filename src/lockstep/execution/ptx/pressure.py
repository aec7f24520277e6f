"""How many registers ptxas would give a thread of a PTX kernel: what occupancy counts.

The most registers that are live together, in the order that needs fewest and in the one that
loads early (orders.py), with what machine code needs beside them. Compared with ptxas 13.0 for
sm_80 and sm_90 on 415 kernels (the built-in ones, those of the tests, random programs, Triton's),
one half of their files fitted, the other one judged: of that half, half of all estimates are
within 14 % and nine in ten within 39 %. Counting what is live in PTX's own order, 20 % and 67 %.
"""

import math
from collections.abc import Callable, Iterable

from lockstep.execution.flow.liveness import Uses, live
from lockstep.execution.ptx.graph import Block, blocks_of
from lockstep.execution.ptx.orders import Orders
from lockstep.execution.ptx.values import Values
from lockstep.isa.ptx.syntax import Call, Function, Instruction, Module, Symbol

MOST = 255  # of a thread, since Kepler
LEAST = 8  # what ptxas gives the smallest kernels
FILE = 65536  # registers of an SM, which launch bounds divide; Volta to Hopper
FULL = 32  # with more of them, an SM of 2,048 threads is not full
ABI = 24  # of a kernel that calls: ptxas gives it what any callee may use
STEP = 8  # what registers are allocated in: a limit is a multiple
# Fitted to the half of the kernels above, as the numbers of _beside are:
OVERHEAD, OVERHEAD_EARLY = 6, 4  # stack pointer, temporaries
SPREAD = 1.05  # what neighbours and alignment cost


def estimate(module: Module, functions: list[Function]) -> int:
    """Registers of a thread; the first of the functions is the kernel, the others it may call."""
    demands = {f.name: _Demand(module, f) for f in functions}
    kernel = functions[0]
    late, calls = _with_callees(demands, kernel.name, lambda d: d.late)
    early, _ = _with_callees(demands, kernel.name, lambda d: d.early)
    count = max(OVERHEAD + SPREAD * late, min(OVERHEAD_EARLY + SPREAD * early, FULL))
    even = 2 * math.ceil(round(count) / 2)
    return min(max(even, ABI if calls else LEAST), limit(kernel))


def limit(kernel: Function) -> int:
    """The most registers that a kernel's directives leave a thread."""
    directives = kernel.directives
    threads = math.prod(directives.get("reqntid", directives.get("maxntid", (1,))))
    warps = -(-threads // 32) * directives.get("minnctapersm", (1,))[0]
    fitting = FILE // (32 * warps) // STEP * STEP if warps else MOST
    return min(MOST, max(fitting, STEP), *directives.get("maxnreg", (MOST,)))


class _Demand:
    """Of one function: live registers in both orders, and at each call what lives across it."""

    def __init__(self, module: Module, function: Function):
        values = Values(module, function)
        blocks = [b for b in blocks_of(module, function) if b.resumes is None]
        self.calls: list[tuple[str, int]] = []  # callee, "" if it is not known, and registers
        written = early = late = 0
        for block, out in zip(blocks, _live_out(values, blocks), strict=True):
            orders = Orders(values, block)
            written = max(written, self._most(values, range(block.first, block.end), out, True))
            early = max(early, self._most(values, orders.early(), out))
            late = max(late, self._most(values, orders.late(), out))
        self.late, self.early = min(written, late), max(written, early)

    def _most(
        self, values: Values, order: Iterable[int], out: set[str], note_calls: bool = False
    ) -> int:
        """The most registers that an order of a block needs at once."""
        live, words = set(out), values.words
        count = sum(words[n] for n in live)
        most = count
        for place in reversed(list(order)):
            i, writes, reads = (
                values.instructions[place],
                values.writes[place],
                values.reads[place],
            )
            count += sum(words[n] for n in writes - live)
            there = count
            live |= writes
            if i.guard is None:
                count -= sum(words[n] for n in writes)
                live -= writes
            if note_calls and i.opcode == "call":
                self.calls.append((_callee(i), count))
            count += sum(words[n] for n in reads - live)
            live |= reads
            most = max(most, max(there, count) + _beside(i))
        return most


def _callee(i: Instruction) -> str:
    call = i.operands[0]
    assert isinstance(call, Call)
    return call.callee.name if isinstance(call.callee, Symbol) else ""


def _with_callees(
    demands: dict[str, _Demand],
    name: str,
    pick: Callable[[_Demand], int],
    callers: tuple[str, ...] = (),
) -> tuple[int, bool]:
    """What a function needs with those that it calls, and whether any is called for good.

    ptxas copies callees to where they are called, unless they are recursive or not known.
    """
    most, calls = pick(demands[name]), False
    for callee, across in demands[name].calls:
        if callee not in demands or callee in (name, *callers):
            calls = True
            continue
        own, deeper = _with_callees(demands, callee, pick, (*callers, name))
        most, calls = max(most, across + own), calls or deeper
    return most, calls


def _live_out(values: Values, blocks: list[Block]) -> list[set[str]]:
    """Values that are live where each block ends."""
    place, uses = {b: k for k, b in enumerate(blocks)}, []
    for block in blocks:
        reads, writes = set[str](), set[str]()
        for k in range(block.first, block.end):
            reads |= values.reads[k] - writes
            if values.instructions[k].guard is None:
                writes |= values.writes[k]
        uses.append(Uses(reads, writes))
    return [out for _, out in live(uses, [[place[s] for s in _after(b)] for b in blocks])]


def _after(block: Block) -> list[Block]:
    """What follows a block; where a call returns to has no instructions of its own."""
    found = []
    for after in block.successors:
        found += [after] if after.resumes is None else after.successors
    return found


def _beside(i: Instruction) -> int:
    """Registers that machine code needs within what is one instruction of PTX."""
    words = set(i.modifiers)
    if i.opcode in ("tex", "tld4"):
        return 3  # coordinates side by side, aligned
    if i.opcode in ("suld", "sust", "sured"):
        return 2
    if i.opcode in ("div", "rem") and words & {"u64", "s64"}:
        return 16  # a routine
    if i.opcode in ("div", "rem") and words & {"u16", "s16", "u32", "s32"}:
        return 5
    if i.opcode in ("div", "rcp", "sqrt") and "f64" in words:
        return 12
    if i.opcode in ("div", "rcp", "sqrt") and {"rn", "f32"} <= words:
        return 6
    return 0
