"""Probes of latency and throughput: small kernels whose cycles mean one number of the GPU.

Each measures a slope between two lengths, which leaves out launch, cold instruction caches and
drain. A latency is cycles over the length of a chain of dependent instructions, run by one warp.
A rate is what all SMs, or one of them, get done in a cycle.

The builder's loops repeat instructions without a branch: what is measured is fully unrolled code
in a warm instruction cache. Nothing but the named instructions is in it: no address arithmetic
and no loop counter, which a probe written in C has between two loads.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lockstep import api
from lockstep.builder import KernelBuilder
from lockstep.builder.patterns import Pattern, Site
from lockstep.gpus.library import totals
from lockstep.gpus.spec import GPU
from lockstep.isa.instruction import WARP_SIZE
from lockstep.workload import MemoryCopy, Workload

BUFFER = 0x7F1000000000
LINE = 128
WORD, DOUBLE = 4, 8
KIB, MIB = 1 << 10, 1 << 20
APART = 1026 * MIB  # between the arrays of a stream; as in RRZE gpu-benches, gpu-stream
BODY = 16  # instructions of a loop's body

ARITHMETIC = {
    "FFMA": "FFMA R{0}, R{0}, R3, R4",
    "IADD3": "IADD3 R{0}, R{0}, R3, R4",
    "HFMA2": "HFMA2 R{0}, R{0}, R3, R4",
    "DFMA": "DFMA R{0}, R{0}, R4, R6",
    "MUFU": "MUFU.SQRT R{0}, R{0}",
}
CONFLICTS = (1, 2, 4, 8, 16, 32)
CHAINS = 8  # independent chains of a throughput probe
FULL = 32  # warps that keep an SM busy


@dataclass(frozen=True, slots=True)
class Probe:
    """``make(n)`` is a workload of ``n`` units, ``size`` (instructions, bytes, ...) each."""

    name: str
    contains: str  # what a unit consists of
    make: Callable[[int], Workload]
    short: int
    long: int
    size: int

    def cycles_each(self, gpu: GPU) -> float:
        """Core cycles that one more of what ``size`` counts takes."""
        return 1 / self.rate(gpu)

    def rate(self, gpu: GPU) -> float:
        """How much of what ``size`` counts a core cycle brings."""
        more = cycles(self.make(self.long), gpu) - cycles(self.make(self.short), gpu)
        return (self.long - self.short) * self.size / more


def cycles(workload: Workload, gpu: GPU) -> int:
    """Cycles of a workload's last kernel."""
    return api.simulate(workload, gpu).run.kernels[-1].cycles


# Latencies


def arithmetic_latency(name: str) -> Probe:
    """A chain in which each instruction needs the result of the one before."""
    text = ARITHMETIC[name].format(2)

    def make(n: int) -> Workload:
        k = KernelBuilder(name, 1, WARP_SIZE)
        with k.loop(n):
            for _ in range(BODY):
                k(text)
        return k.workload()

    return Probe(name, text, make, 16, 48, BODY)


def shared_latency(ways: int = 1) -> Probe:
    """A chain of shared loads, each with its address from the one before; ``ways`` lanes a bank."""

    def make(n: int) -> Workload:
        k = KernelBuilder("shared", 1, WARP_SIZE, shared_bytes=WARP_SIZE * LINE)
        with k.loop(n):
            for _ in range(BODY):
                k("LDS.U R2, [R2]", address=k.bank_conflict(ways))
        return k.workload()

    name = "shared load" + (f", {ways}-way conflict" if ways > 1 else "")
    return Probe(name, "LDS.U R2, [R2]", make, 8, 24, BODY)


def _chase(
    name: str, opcode: str, addresses: list[int], copied: int, steps: tuple[int, int]
) -> Probe:
    """A pointer chase of one thread: each load has its address from the one before."""

    def make(n: int) -> Workload:
        k = KernelBuilder("chase", 1, WARP_SIZE)
        with k.loop(n):
            k(f"{opcode} R2, [R2]", address=k.pointer_chase(addresses), mask=1)
        return k.workload(MemoryCopy(BUFFER, copied)) if copied else k.workload()

    return Probe(name, f"{opcode} R2, [R2]", make, *steps, 1)


def l1_latency() -> Probe:
    """Through 4 KiB over and over: all loads but those of the first pass hit."""
    addresses = [BUFFER + LINE * i for i in range(4 * KIB // LINE)]
    return _chase("L1 hit", "LDG.E.64.SYS", addresses, 0, (64, 320))


def l2_latency() -> Probe:
    """Once through 1 MiB that a host copy left in the L2: no line is met twice, none is in the L1.

    The microbenchmark finds the same after a copy as after a first pass: 213.7 and 211.1 cycles.
    """
    lines = MIB // LINE
    addresses = [BUFFER + LINE * (37 * i % lines) for i in range(lines)]
    return _chase("L2 hit", "LDG.E.64.SYS", addresses, MIB, (64, 576))


def l2_bypass_latency() -> Probe:
    """Through 4 KiB of the L2, over and over, with loads that the L1 may not serve."""
    addresses = [BUFFER + LINE * i for i in range(4 * KIB // LINE)]
    return _chase("L2 hit, past the L1", "LDG.E.64.STRONG.GPU", addresses, MIB, (64, 320))


def dram_latency() -> Probe:
    """Once through lines scattered over 120 MiB of cold memory.

    Banks are idle; rows are closed, by a refresh long before, or open at another place.
    """
    lines = 120 * MIB // LINE
    addresses = [BUFFER + LINE * (611953 * i % lines) for i in range(4096)]
    return _chase("DRAM", "LDG.E.64.SYS", addresses, 0, (64, 576))


def barrier_latency(warps: int = 1) -> Probe:
    """Barriers of one CTA, one after the other."""

    def make(n: int) -> Workload:
        k = KernelBuilder("barrier", 1, WARP_SIZE * warps)
        with k.loop(n):
            k("BAR.SYNC 0x0")
        return k.workload()

    return Probe(f"barrier, warps: {warps}", "BAR.SYNC 0x0", make, 64, 192, 1)


def latencies() -> list[Probe]:
    """All latency probes."""
    probes = [arithmetic_latency(name) for name in ARITHMETIC]
    probes += [shared_latency(ways) for ways in CONFLICTS]
    probes += [l1_latency(), l2_latency(), l2_bypass_latency(), dram_latency()]
    return probes + [barrier_latency(1), barrier_latency(8)]


# Rates


def arithmetic_rate(name: str) -> Probe:
    """Lanes a cycle on one SM: a full SM with independent chains in each warp."""

    def make(n: int) -> Workload:
        k = KernelBuilder(name, 1, WARP_SIZE * FULL)
        with k.loop(n):
            for i in range(2 * CHAINS):
                k(ARITHMETIC[name].format(16 + 2 * (i % CHAINS)))
        return k.workload()

    text = ARITHMETIC[name].format("n")
    return Probe(name, f"{CHAINS} chains of {text}", make, 2, 6, 2 * CHAINS * FULL * WARP_SIZE)


def _loads(
    name: str,
    opcode: str,
    width: int,
    gpu: GPU,
    address: Callable[[Site, int], np.ndarray],
    steps: tuple[int, int],
    **needs: int,
) -> Probe:
    """All SMs full of warps load, into several registers in turn so that loads overlap."""
    copied = needs.pop("copied", 0)

    def of_chain(i: int) -> Pattern:
        return lambda at: address(at, i)

    def make(n: int) -> Workload:
        k = KernelBuilder("loads", gpu.sm.count, WARP_SIZE * FULL, **needs)
        with k.loop(n):
            for i in range(CHAINS):
                register = 16 + width // WORD * i
                k(f"{opcode} R{register}, [R2]", address=of_chain(i))
        return k.workload(MemoryCopy(BUFFER, copied)) if copied else k.workload()

    size = gpu.sm.count * FULL * CHAINS * WARP_SIZE * width
    return Probe(name, f"{opcode} R, [R2]", make, *steps, size)


def shared_rate(gpu: GPU, width: int) -> Probe:
    """All SMs load from shared memory without conflicts."""
    opcode = {4: "LDS.U", 8: "LDS.U.64", 16: "LDS.U.128"}[width]
    address = lambda at, i: width * at.lane + 0 * at.thread + 0 * at.execution  # noqa: E731
    name = f"shared, {8 * width}-bit loads"
    return _loads(name, opcode, width, gpu, address, (1, 3), shared_bytes=4 * KIB)


def l1_rate(gpu: GPU, width: int) -> Probe:
    """All SMs load the same 8 KiB over and over, which are in each L1 after the first time."""
    opcode = {4: "LDG.E.SYS", 8: "LDG.E.64.SYS", 16: "LDG.E.128.SYS"}[width]
    address = lambda at, i: BUFFER + width * at.thread % (8 * KIB) + 0 * at.execution  # noqa: E731
    return _loads(f"L1, {8 * width}-bit loads", opcode, width, gpu, address, (8, 16), copied=MIB)


def l1_loop_rate(gpu: GPU) -> Probe:
    """The same with 32-bit loads that each have their address computed, and their data added up.

    What a compiler makes of ``sum += a[(t + 32 * j) % n / 8]``, four rounds overlapped: eight
    neighbours read one word, so that a load needs 16 bytes. It counts as 128.
    """
    overlapped = 4

    def make(n: int) -> Workload:
        k = KernelBuilder("loop", gpu.sm.count, WARP_SIZE * FULL)
        with k.loop(n):
            for i in range(overlapped):
                k(f"IADD3 R{8 + i}, R2, {WARP_SIZE * i:#x}, RZ")
                k(f"LOP3.LUT R{8 + i}, R{8 + i}, 0x1fff8, RZ, 0xc0, !PT")
                k(f"SHF.R.U32.HI R{8 + i}, RZ, 0x3, R{8 + i}")
                k(f"IMAD.WIDE.U32 R{16 + 2 * i}, R{8 + i}, R3, c[0x0][0x160]")
                eighths = lambda at, i=i: BUFFER + WORD * ((at.thread + WARP_SIZE * i) // 8)  # noqa: E731
                k(f"LDG.E.SYS R{24 + i}, [R{16 + 2 * i}]", address=eighths)
            for i in range(overlapped):
                k(f"FADD R28, R28, R{24 + i}")
        return k.workload(MemoryCopy(BUFFER, MIB))

    size = gpu.sm.count * FULL * overlapped * WARP_SIZE * WORD
    text = "IADD3, LOP3, SHF, IMAD.WIDE, LDG.E.SYS, FADD"
    return Probe("L1, 32-bit loads in a loop", text, make, 8, 24, size)


def l1_shared_rate(gpu: GPU) -> Probe:
    """32-bit loads from the L1 and from shared memory in turn; they use one data array."""

    def make(n: int) -> Workload:
        k = KernelBuilder("both", gpu.sm.count, WARP_SIZE * FULL, shared_bytes=4 * KIB)
        with k.loop(n):
            for i in range(CHAINS):
                k(f"LDG.E.SYS R{16 + i}, [R2]", address=k.coalesced(BUFFER))
                k(f"LDS.U R{32 + i}, [R4]", address=lambda at: WORD * at.lane + 0 * at.execution)
        return k.workload(MemoryCopy(BUFFER, MIB))

    size = gpu.sm.count * FULL * 2 * CHAINS * WARP_SIZE * WORD
    name = "L1 and shared, 32-bit loads in turn"
    return Probe(name, "LDG.E.SYS R, [R2]; LDS.U R, [R4]", make, 2, 6, size)


def l2_rate(gpu: GPU) -> Probe:
    """All SMs read 2 MiB that a host copy left in the L2, past their L1s, each from elsewhere."""

    def address(at, i):
        turn = at.cta * 7919 + at.warp + FULL * (at.execution * CHAINS + i)
        return BUFFER + turn * LINE % (2 * MIB) + WORD * at.lane

    return _loads("L2", "LDG.E.STRONG.GPU", WORD, gpu, address, (2, 6), copied=2 * MIB)


def _stream(name: str, text: str, reads: int, gpu: GPU, write: str = "") -> Probe:
    """Arrays of doubles in cold memory, an element a thread: some are read, one may be written.

    ``n`` is CTAs of 1024 threads for each SM. With writes it begins where three times the L2 has
    gone by, so that the L2 writes back as fast as it is written to.
    """
    arrays = reads + bool(write)

    def make(n: int) -> Workload:
        k = KernelBuilder(name, n * gpu.sm.count, WARP_SIZE * FULL)
        for a in range(reads):
            k(f"LDG.E.64.SYS R{8 + 2 * a}, [R2]", address=k.coalesced(BUFFER + APART * a, DOUBLE))
        k(write or "DSETP.NEU.AND P0, PT, R8, R16, PT")
        if write:
            k("STG.E.64.SYS [R4], R24", address=k.coalesced(BUFFER + APART * reads, DOUBLE))
        return k.workload()

    size = DOUBLE * gpu.sm.count * FULL * WARP_SIZE * arrays
    short = 3 * totals(gpu).l2_bytes // size + 1 if write else 8
    return Probe(name, text, make, short, short + 48 // arrays, size)


def dram_read_rate(gpu: GPU) -> Probe:
    """Reads alone."""
    return _stream("DRAM, read", "LDG.E.64.SYS", 1, gpu)


def dram_init_rate(gpu: GPU) -> Probe:
    """``a = s``: writes alone."""
    return _stream("DRAM, init", "MOV, STG.E.64.SYS", 0, gpu, "MOV R25, R3")


def dram_scale_rate(gpu: GPU) -> Probe:
    """``a = s b``."""
    text = "LDG.E.64.SYS, DMUL, STG.E.64.SYS"
    return _stream("DRAM, scale", text, 1, gpu, "DMUL R24, R8, R16")


def dram_triad_rate(gpu: GPU) -> Probe:
    """``a = b + s c``."""
    text = "2 LDG.E.64.SYS, DFMA, STG.E.64.SYS"
    return _stream("DRAM, triad", text, 2, gpu, "DFMA R24, R10, R16, R8")


def rates(gpu: GPU) -> list[Probe]:
    """All throughput probes of the memory system, in bytes a cycle."""
    probes = [shared_rate(gpu, 4), shared_rate(gpu, 8), l1_shared_rate(gpu)]
    probes += [l1_loop_rate(gpu), l1_rate(gpu, 4), l1_rate(gpu, 8), l1_rate(gpu, 16)]
    return probes + [l2_rate(gpu), *dram_rates(gpu)]


def dram_rates(gpu: GPU) -> list[Probe]:
    """Streams through memory, in bytes a cycle."""
    makers = (dram_init_rate, dram_read_rate, dram_scale_rate, dram_triad_rate)
    return [make(gpu) for make in makers]


def peak(probe: Probe, gpu: GPU) -> float:
    """The bytes a core cycle at which the hardware's paths are full."""
    level = probe.name.split(",")[0]
    d, count = gpu.dram, gpu.dram.channels
    return {
        "shared": gpu.sm.count * gpu.shared.banks * gpu.shared.bank_bytes,
        "L1": gpu.sm.count * gpu.l1.bytes_per_cycle,
        "L1 and shared": gpu.sm.count * gpu.l1.bytes_per_cycle,
        "L2": count
        * gpu.l2.slices_per_channel
        * gpu.l2.bytes_per_cycle
        * gpu.l2.clock_mhz
        / gpu.clock_mhz,
        "DRAM": count * d.bus_bytes * d.beats_per_clock * d.clock_mhz / gpu.clock_mhz,
    }[level]
