"""Probes of latency and bandwidth: small kernels whose cycles mean one number of the GPU.

A latency is the slope of cycles over the length of a chain of dependent instructions, run by one
warp; a bandwidth is the slope of cycles over the bytes that all SMs move. Slopes leave out launch,
cold instruction caches and drain.

The builder's loops repeat instructions without a branch: the chain is fully unrolled code in a
warm instruction cache. Nothing but the named instruction is in a measured chain: no address
arithmetic and no loop counter, which a probe written in C has between two loads.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import lockstep
from lockstep.builder import KernelBuilder, program
from lockstep.gpus.spec import GPU
from lockstep.workload import MemoryCopy, Workload

BUFFER = 0x7F1000000000
LINE = 128
MIB = 1 << 20
BODY = 16  # instructions of a loop's body: two lines of instructions, read once

ARITHMETIC = {
    "FFMA": "FFMA R2, R2, R3, R4",
    "IADD3": "IADD3 R2, R2, R3, R4",
    "HFMA2": "HFMA2 R2, R2, R3, R4",
    "DFMA": "DFMA R2, R2, R6, R8",
    "MUFU": "MUFU.SQRT R2, R2",
}
CONFLICTS = (1, 2, 4, 8, 16, 32)


@dataclass(frozen=True, slots=True)
class Latency:
    """Cycles that one instruction adds to a chain: ``make(n)`` is a chain ``n`` units longer."""

    name: str
    contains: str  # what the measured chain consists of
    make: Callable[[int], Workload]
    short: int
    long: int
    instructions: int  # of one unit

    def cycles(self, gpu: GPU) -> float:
        """Cycles an instruction."""
        units = self.long - self.short
        return slope(self, gpu) / (units * self.instructions)


@dataclass(frozen=True, slots=True)
class Bandwidth:
    """Bytes that move in a cycle: ``make(n)`` moves ``n * size`` bytes."""

    name: str
    contains: str
    make: Callable[[int], Workload]
    short: int
    long: int
    size: int

    def bytes_per_cycle(self, gpu: GPU) -> float:
        """Bytes a core cycle, of the whole GPU."""
        return (self.long - self.short) * self.size / slope(self, gpu)


def slope(probe: Latency | Bandwidth, gpu: GPU) -> int:
    """Cycles by which the long run is longer than the short one."""
    return cycles(probe.make(probe.long), gpu) - cycles(probe.make(probe.short), gpu)


def cycles(workload: Workload, gpu: GPU) -> int:
    """Cycles of a workload's last kernel."""
    return lockstep.simulate(workload, gpu).run.kernels[-1].cycles


def arithmetic(name: str) -> Latency:
    """A chain in which each instruction needs the result of the one before."""

    def make(n: int) -> Workload:
        k = KernelBuilder(name, 1, 32)
        with k.loop(n):
            for _ in range(BODY):
                k(ARITHMETIC[name])
        return k.workload()

    return Latency(name, f"{ARITHMETIC[name]} alone", make, 16, 48, BODY)


def shared_load(ways: int) -> Latency:
    """A chain of shared loads, each with its address from the one before; ``ways`` lanes a bank."""

    def make(n: int) -> Workload:
        k = KernelBuilder("lds", 1, 32, shared_bytes=32 * LINE)
        with k.loop(n):
            for _ in range(BODY):
                k("LDS.U R2, [R2]", address=k.bank_conflict(ways))
        return k.workload()

    name = "shared load" if ways == 1 else f"shared load, {ways}-way conflict"
    return Latency(name, "LDS.U R2, [R2] alone", make, 8, 24, BODY)


def _chase(addresses, n: int, opcode: str, *copies: MemoryCopy) -> Workload:
    k = KernelBuilder("chase", 1, 32)
    with k.loop(n):
        k(f"{opcode} R2, [R2]", address=k.pointer_chase(addresses), mask=1)
    return k.workload(*copies)


def l1_chase() -> Latency:
    """A pointer chase of one thread through 4 KiB, over and over: all but the first pass hits."""
    lines = 4096 // LINE
    addresses = [BUFFER + LINE * i for i in range(lines)]
    make = partial(_chase, addresses, opcode="LDG.E.64.SYS")
    return Latency("L1 hit", "LDG.E.64.SYS R2, [R2] of one thread alone", make, 64, 320, 1)


def l2_chase() -> Latency:
    """A pointer chase of one thread once through 1 MiB that a host copy left in the L2.

    Each load is of another line, so that none hits in the L1.
    """
    addresses = [BUFFER + LINE * (37 * i % 8192) for i in range(8192)]
    copy = MemoryCopy(BUFFER, MIB)
    make = lambda n: _chase(addresses, n, "LDG.E.64.SYS", copy)  # noqa: E731
    return Latency("L2 hit", "LDG.E.64.SYS R2, [R2] of one thread alone", make, 64, 576, 1)


def l2_bypass_chase() -> Latency:
    """A pointer chase past the L1 through 4 KiB of the L2."""
    addresses = [BUFFER + LINE * i for i in range(32)]
    copy = MemoryCopy(BUFFER, MIB)
    make = lambda n: _chase(addresses, n, "LDG.E.64.STRONG.GPU", copy)  # noqa: E731
    contains = "LDG.E.64.STRONG.GPU R2, [R2] of one thread alone"
    return Latency("L2 hit, past the L1", contains, make, 64, 320, 1)


def dram_chase() -> Latency:
    """A pointer chase of one thread once through cold memory, 120 MiB as the hardware's.

    Loads are far apart in an order without pattern: each finds its bank idle and its row closed,
    or another one open.
    """
    lines = 120 * MIB // LINE
    addresses = [BUFFER + LINE * (i * 611953 % lines) for i in range(4096)]
    make = partial(_chase, addresses, opcode="LDG.E.64.SYS")
    return Latency("DRAM", "LDG.E.64.SYS R2, [R2] of one thread alone", make, 64, 576, 1)


def barrier(warps: int = 1) -> Latency:
    """Barriers of a CTA one after the other; nothing between."""

    def make(n: int) -> Workload:
        k = KernelBuilder("barrier", 1, 32 * warps)
        with k.loop(n):
            k("BAR.SYNC 0x0")
        return k.workload()

    return Latency(f"barrier, {warps} warps", "BAR.SYNC 0x0 alone", make, 64, 192, 1)


def latencies() -> list[Latency]:
    """All latency probes."""
    probes = [arithmetic(name) for name in ARITHMETIC]
    probes += [shared_load(ways) for ways in CONFLICTS]
    return probes + [l1_chase(), l2_chase(), l2_bypass_chase(), dram_chase(), barrier()]


def _stream(opcode: str, width: int, gpu: GPU, warps: int, address, n: int, *copies, **needs):
    """Each warp of a full GPU loads ``n`` times; 8 destinations in turn, so that loads overlap."""
    k = KernelBuilder("stream", gpu.sm.count, 32 * warps, **needs)
    step = width // 4
    with k.loop(n):
        for i in range(8):
            k(f"{opcode} R{16 + step * i}, [R2]", address=lambda at, i=i: address(at, i))
    return k.workload(*copies)


def shared_bandwidth(gpu: GPU, width: int) -> Bandwidth:
    """All SMs load from shared memory without conflicts."""
    opcode = {4: "LDS.U", 8: "LDS.U.64", 16: "LDS.U.128"}[width]
    address = lambda at, i: width * at.lane + 0 * at.thread + 0 * at.execution  # noqa: E731
    make = lambda n: _stream(opcode, width, gpu, 16, address, n, shared_bytes=4096)  # noqa: E731
    size = gpu.sm.count * 16 * 8 * 32 * width
    return Bandwidth(f"shared, {8 * width} bits", f"{opcode} alone", make, 2, 6, size)


def l1_bandwidth(gpu: GPU, width: int) -> Bandwidth:
    """All SMs load the same few KiB over and over, which are in each L1 after the first time."""
    opcode = {4: "LDG.E.SYS", 8: "LDG.E.64.SYS", 16: "LDG.E.128.SYS"}[width]
    address = lambda at, i: (  # noqa: E731
        BUFFER + width * at.thread % 8192 + 0 * at.execution
    )
    copy = MemoryCopy(BUFFER, MIB)
    make = lambda n: _stream(opcode, width, gpu, 16, address, n, copy)  # noqa: E731
    size = gpu.sm.count * 16 * 8 * 32 * width
    return Bandwidth(f"L1, {8 * width} bits", f"{opcode} alone, all hit", make, 4, 8, size)


def l2_bandwidth(gpu: GPU) -> Bandwidth:
    """All SMs read 2 MiB that a host copy left in the L2, past their L1s, each from elsewhere."""
    warps, width = 32, 4
    copy = MemoryCopy(BUFFER, 2 * MIB)

    def address(at, i):
        turn = (at.cta * 7919 + at.warp + warps * (at.execution * 8 + i)) * LINE % (2 * MIB)
        return BUFFER + turn + width * at.lane

    make = lambda n: _stream("LDG.E.STRONG.GPU", width, gpu, warps, address, n, copy)  # noqa: E731
    size = gpu.sm.count * warps * 8 * 32 * width
    return Bandwidth("L2", "LDG.E.STRONG.GPU alone, all hit", make, 2, 4, size)


def dram_bandwidth(gpu: GPU) -> Bandwidth:
    """All SMs read cold memory from one end to the other, each word once."""
    warps, width = 32, 4

    def address(at, i):
        step = gpu.sm.count * at.threads * width
        return BUFFER + width * at.global_thread + step * (at.execution * 8 + i)

    make = lambda n: _stream("LDG.E.SYS", width, gpu, warps, address, n)  # noqa: E731
    size = gpu.sm.count * warps * 8 * 32 * width
    return Bandwidth("DRAM read", "LDG.E.SYS alone, all miss", make, 1, 3, size)


def bandwidths(gpu: GPU) -> list[Bandwidth]:
    """All bandwidth probes."""
    probes = [l1_bandwidth(gpu, 8), l1_bandwidth(gpu, 16)]
    probes += [shared_bandwidth(gpu, 4), shared_bandwidth(gpu, 8)]
    return probes + [l2_bandwidth(gpu), dram_bandwidth(gpu)]


def dram_peak(gpu: GPU) -> float:
    """Bytes a core cycle that the DRAM's pins carry."""
    d = gpu.dram
    return d.channels * d.bus_bytes * d.beats_per_clock * d.clock_mhz / gpu.clock_mhz


__all__ = ["bandwidths", "dram_peak", "latencies", "program"]
