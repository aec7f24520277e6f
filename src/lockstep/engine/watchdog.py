"""When nothing can move any more: how that is noticed, and who waits for whom."""

from collections.abc import Iterator

import numpy as np

from lockstep.engine.kernels import KernelTable
from lockstep.engine.machine import Machine
from lockstep.gpus.spec import GPU
from lockstep.isa.instruction import OpClass
from lockstep.model.cache import l2_stalls
from lockstep.model.clock import NEVER
from lockstep.model.core.cluster import CLUSTER
from lockstep.model.core.objects import AT_OBJECT
from lockstep.model.core.state import Sm
from lockstep.model.counters import Stall
from lockstep.model.dram import standard
from lockstep.model.memory import QUEUE
from lockstep.model.partition import Memory
from lockstep.policies import place, plain

MOST_WARPS, MOST_SLICES, MOST_LINES = 8, 3, 3  # that are named
STALLED_CYCLES = 1_000_000  # without any progress are a deadlock, where no unit is slower
_LACKS = {
    l2_stalls.STALL_MSHR: "an MSHR entry",
    l2_stalls.STALL_LINE: "a way that no fill holds",
    l2_stalls.STALL_READ_QUEUE: "room in the read queue",
    l2_stalls.STALL_WRITE_QUEUE: "room in the write queue",
    l2_stalls.STALL_REPLY: "room for its reply",
}
"""What the oldest request of an L2 slice waits for."""
PROGRESS = ("warp_instructions", "noc_requests", "noc_replies", "ctas")
MEMORY_PROGRESS = ("dram_reads", "dram_writes")  # a long queue of writes drains in silence


def patience(gpu: GPU) -> int:
    """Core cycles without any progress that are a deadlock: no legal memory pauses that long."""
    commands = 4 * max(c.clocks for c in standard.resolve(gpu.dram).constraints)
    bytes_of_a_line = 4 * gpu.l2.line_bytes  # one a clock at worst
    slowest = min(gpu.l2.clock_mhz, gpu.interconnect.clock_mhz)
    pause = commands / gpu.dram.clock_mhz + bytes_of_a_line / slowest
    return STALLED_CYCLES + int(pause * gpu.clock_mhz)


def _register(sm: Sm, s: int, w: int) -> str:
    waiting = np.flatnonzero(sm.ready[s, w] >> 2 >= NEVER)
    return f" for register {waiting[0]}" if len(waiting) else ""


def _cause(sm: Sm, s: int, w: int) -> str:
    warp = sm.warps[s, w]
    if warp.barrier == AT_OBJECT:
        there = sm.objects[s, warp.cta, warp.object]
        return f"a barrier object: {there} of {warp.copies} copies have completed it"
    if warp.barrier >= 0:
        cta = sm.ctas[s, warp.cta]
        if warp.barrier == CLUSTER:
            here = f"{cta.came} of {cta.warps - cta.finished} warps of its CTA arrived"
            return f"the barrier of the cluster: {here}"
        barrier = sm.barriers[s, warp.cta, warp.barrier]
        awaited = barrier.expected or cta.warps - cta.finished
        return f"barrier {warp.barrier}: {barrier.arrived} of {awaited} warps arrived"
    name = Stall(int(sm.looks[s, w].reason)).name.lower().replace("_", " ")
    text = f"{name}{_register(sm, s, w)}"
    if warp.outstanding:
        text += f", {warp.outstanding} memory operations outstanding"
    return text


def _memory(sm: Sm, s: int) -> str:
    state, cache = sm.sms[s], sm.l1.caches[s]
    held = sm.l1.entries[s][sm.l1.entries[s]["pending"] != 0]
    parts = [f"SM {s}: {len(held)} L1 misses in flight", f"miss queue {cache.queue_count}"]
    line_bytes = int(sm.l1.spec[0].line_bytes)
    if len(held):
        named = [f"{line * line_bytes:#x}" for line in held["line"][:MOST_LINES].tolist()]
        more = f" and {len(held) - MOST_LINES} more" if len(held) > MOST_LINES else ""
        parts[0] += f" (lines at {', '.join(named)}{more})"
    if cache.waiting_count:
        line = sm.l1.waiting[s, cache.waiting_head].line * line_bytes
        parts.append(f"{cache.waiting_count} reads wait for an entry, the first for {line:#x}")
    if cache.retry_count:
        again = sm.l1.retries[s, cache.retry_head]
        parts.append(
            f"{cache.retry_count} refused requests, the first for {again.line * line_bytes:#x} "
            f"after {again.refusals} refusals"
        )
    if state.current >= 0 and state.blocked >= 0:
        parts.append(f"L1 stage blocked since cycle {state.blocked}")
    return ", ".join(parts)


def _slices(memory: Memory) -> Iterator[str]:
    """The L2 slices whose oldest request cannot go on."""
    slices = memory.l2.slices
    stuck = [n for n, why in enumerate(slices["stalled"].tolist()) if why != l2_stalls.RUNNING]
    for n in stuck[:MOST_SLICES]:
        cache = slices[n]
        oldest = memory.l2.entries[cache.head[QUEUE]]
        address = int(oldest.line) * int(memory.l2.spec[0].line_bytes.value)
        here = oldest.source < memory.l2.spec[0].sources
        asker = f"SM {oldest.source}" if here else "another GPU"
        yield (
            f"L2 slice {n}: {cache.count[QUEUE]} requests, the first for {address:#x} of "
            f"{asker} waits for {_LACKS[int(cache.stalled)]} since cycle "
            f"{cache.stalled_since}; {cache.mshrs} sectors in flight"
        )
    if len(stuck) > MOST_SLICES:
        yield f"... and {len(stuck) - MOST_SLICES} more slices"


def _refusals(sm: Sm, memory: Memory, policies: dict) -> Iterator[str]:
    """The user's policies that choose nothing though they could."""
    if "scheduler" in policies:
        sms, subcores, warps = sm.order.shape
        there = np.arange(warps) < sm.subcores["count"][:, :, None]
        ready = int((sm.candidates["ready"].reshape(sms, subcores, warps)[there] == 1).sum())
        if ready:
            yield f"{_name(policies, 'scheduler')} chose none of {ready} warps that can issue"
    if "dram_scheduler" in policies:
        waiting = int(memory.l2.dram.channels["waiting"].sum())
        if waiting:
            yield f"{_name(policies, 'dram_scheduler')} chose none of {waiting} requests"


def _name(policies: dict, kind: str) -> str:
    function = plain(policies[kind])
    return f"the {kind} policy {function.__name__} ({place(function)})"


def explain(
    table: KernelTable, memory: Memory, policies: dict, now: int, protocol: str = "none"
) -> str:
    """One line for what happened, then one for each of the first waiting warps."""
    sm = table.streams.sm
    lines = [f"deadlock at cycle {now}: no unit can move", *_refusals(sm, memory, policies)]
    for run in table.running.values():
        left = run.expected - run.done
        lines.append(f"kernel {run.kernel.id} ({run.kernel.title}): {left} CTAs unfinished")
    listed = list(zip(*np.nonzero((sm.warps["active"] == 1) & (sm.warps["left"] != 0))))
    for s, w in listed[:MOST_WARPS]:
        warp = sm.warps[s, w]
        run = table.running[int(warp.kernel)]
        code = run.kernel.code.instructions[int(warp.static)]
        text = run.kernel.code.texts[code["text"]]
        lines.append(
            f"SM {s} warp {w} (CTA {sm.ctas[s, warp.cta].cta}, next pc {code['pc']:#x} {text}, "
            f"{OpClass(int(code['op'])).name}) waits: {_cause(sm, s, w)}"
        )
    if len(listed) > MOST_WARPS:
        lines.append(f"... and {len(listed) - MOST_WARPS} more warps")
    for s in sorted({int(s) for s, _ in listed[:MOST_WARPS]}):
        lines.append(_memory(sm, s))
        if protocol != "none":
            from lockstep.engine import protocol_waits  # a report is seldom wanted

            lines[-1] += ", " + protocol_waits.of_l1(sm, s, protocol)
    lines += _slices(memory)
    if protocol != "none":
        from lockstep.engine import protocol_waits

        lines += protocol_waits.of_homes(memory, protocol)
    return "\n".join(lines)


class Watchdog:
    """Looks every so often whether anything has been issued, sent or received since."""

    def __init__(self, gpu: GPU, machine: Machine, table: KernelTable, policies: dict):
        self._machine, self._table, self._policies = machine, table, policies
        self._patience = patience(gpu)
        self._next_look = 0
        self._moved = -1

    def rest(self, cycle: int) -> None:
        """Nothing needs to move before a cycle."""
        self._next_look = cycle + self._patience

    def look(self, now: int) -> str:
        """Who waits for whom if nothing moves any more; empty if something may."""
        if now < self._next_look:
            return ""
        self._machine.share_counters()
        counters, memory = self._machine.sm.counters, self._machine.memory.counters
        moved = sum(int(counters[name].sum()) for name in PROGRESS)
        moved += sum(int(memory[name].sum()) for name in MEMORY_PROGRESS)
        stuck = moved == self._moved
        self._moved = moved
        self._next_look = now + self._patience
        launching = all(run.ready > now for run in self._table.running.values())
        return self.deadlock(now) if stuck and not launching else ""

    def deadlock(self, now: int) -> str:
        """Who waits for whom."""
        self._machine.share_waits()
        protocol = self._machine.gpu.coherence.table
        return explain(self._table, self._machine.memory, self._policies, now, protocol)

    def freeze(self) -> dict:
        """When it looks again, and what it saw."""
        return {"next_look": self._next_look, "moved": self._moved}

    def thaw(self, frozen: dict) -> None:
        """Go on where ``freeze`` was called."""
        self._next_look, self._moved = frozen["next_look"], frozen["moved"]
