"""Shared memory: latency, conflicts, widths, stores, atomics, matrices."""

from lockstep.microbench.benchmark import Benchmark, Target
from lockstep.microbench.measures import Slope
from lockstep.microbench.suite.building import i32, iterations, segments_case

STRIDES = {1: (0, 4, 8, 16, 32, 64, 128), 2: (8, 16, 64, 128), 4: (16, 32, 64, 128)}
CHAIN = 32  # loads of an iteration


def benchmarks(target: Target) -> list[Benchmark]:
    """All of them."""
    return [_latency(target, words) for words in STRIDES]


def _latency(target: Target, words: int) -> Benchmark:
    bits = 32 * words
    name = f"lat.lds{bits}"
    cases = []
    for stride in STRIDES[words]:
        conflict = f" conflict={stride // 4}" if words == 1 else ""
        notes = f"dependent LDS{f'.{bits}' if words > 1 else ''}"
        notes += "; conflict 0 is a broadcast" if words == 1 else ""
        row = (name, f"stride_bytes={stride}{conflict}", "cycles")
        measure = Slope(iterations(target.full), 1, CHAIN)
        cases.append(segments_case(row, f"shared.lds{bits}", [i32(stride)], measure, notes=notes))
    return Benchmark(
        name, "shared", f"dependent loads of {bits} bits, lanes at a stride", tuple(cases),
        loop="32 LDS, each at the address that the last one loaded; 128 bits: LOP3 between",
        direct=("shared.latency", "shared.pass_latency"),
    )  # fmt: skip
