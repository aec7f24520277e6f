"""Shared memory: latency, conflicts, widths, stores, atomics, matrices."""

from lockstep.microbench.benchmark import Benchmark, Target
from lockstep.microbench.measures import Slope
from lockstep.microbench.suite.building import i32, iterations, segments_case

STRIDES = {1: (0, 4, 8, 16, 32, 64, 128), 2: (8, 16, 64, 128), 4: (16, 32, 64, 128)}
CHAIN = 32  # loads of an iteration


WIDTHS = {1: (0, 4, 8, 16, 32, 64, 128), 2: (0, 8, 16, 32, 64, 128), 4: (0, 16, 32, 64, 128)}
WARPS = (1, 4, 8, 16, 32)
ATOMICS = ("add", "red_add", "cas", "exch", "fadd")
ATOMS = 8  # of an iteration
MATRICES = (1, 2, 4)


def benchmarks(target: Target) -> list[Benchmark]:
    """All of them."""
    return [
        *(_latency(target, words) for words in STRIDES),
        _store_load(target),
        _throughput(target, "thr.lds", "loads"),
        _throughput(target, "thr.sts", "stores"),
        *(b for kind in ATOMICS for b in _atomics(target, kind)),
        *_matrices(target),
    ]


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
    )  # fmt: skip


def _store_load(target: Target) -> Benchmark:
    name = "lat.sts_lds"
    measure = Slope(iterations(target.full), 1, 16)
    row = (name, "same word", "cycles")
    case = segments_case(
        row, "shared.store_load", [], measure, notes="STS then LDS of the same word"
    )
    return Benchmark(
        name, "shared", "a store, then a load of the same word", (case,), loop="16 pairs"
    )


def _throughput(target: Target, name: str, kernel: str) -> Benchmark:
    cases = []
    for words in STRIDES:
        for warps in WARPS if target.full else (1, 8, 32):
            for stride in WIDTHS[words]:
                if warps != 32 and stride != 4 * words:
                    continue
                row = (
                    name,
                    f"width={4 * words} warps={warps} stride_bytes={stride}",
                    "cycles/warp-instruction",
                )
                measure = Slope(iterations(target.full), warps, CHAIN * warps)
                cases.append(
                    segments_case(row, f"shared.{kernel}{4 * words}", [i32(stride)], measure)
                )
    return Benchmark(
        name, "shared", f"independent {kernel} of one SM by width, warps and stride", tuple(cases),
        loop="32 LDS or STS at one address a lane; LDS: 16 LOP3",
        caveat="all warps the same addresses",
    )  # fmt: skip


def _atomics(target: Target, kind: str) -> list[Benchmark]:
    segments = iterations(target.full)
    chains, rates = [], []
    name = f"lat.atoms_{kind}"
    for text, stride in (("distinct words", 4), ("one word by 32 lanes", 0)):
        row = (name, text, "cycles")
        kernel = f"shared_atomics.atoms_{kind}_chain"
        measure = Slope(segments, 1, ATOMS)
        chains.append(segments_case(row, kernel, [i32(stride), i32(0)], measure, notes="dependent"))
    rate = f"thr.atoms_{kind}"
    for warps in (1, 8, 32):
        for stride in (4, 0) if warps == 8 else (4, 0, 8, 128):
            row = (rate, f"warps={warps} stride_bytes={stride}", "cycles/warp-instruction")
            measure = Slope(segments, warps, ATOMS * warps)
            notes = "stride 0: one word; all warps the same words"
            kernel = f"shared_atomics.atoms_{kind}"
            rates.append(segments_case(row, kernel, [i32(stride), i32(0)], measure, notes=notes))
    if not target.full and kind == "fadd":  # loops of compare and swap
        rates = [r for r in rates if "warps=32" not in r.rows[0].parameters]
    loop = "ATOMS.ADD, CAS or EXCH; fadd is a loop of LDS, FADD, ATOMS.CAST.SPIN"
    latency = Benchmark(
        name, "shared_atomics", f"a chain of atomics on shared memory: {kind}", tuple(chains),
        loop=f"8 {loop}", caveat="an IADD each",
    )  # fmt: skip
    throughput = Benchmark(
        rate, "shared_atomics", f"independent atomics on shared memory: {kind}", tuple(rates),
        loop=f"8 {loop}", caveat="half a LOP3 each",
    )  # fmt: skip
    return [throughput] if kind == "red_add" else [latency, throughput]


def _matrices(target: Target) -> list[Benchmark]:
    segments = iterations(target.full)
    chains = [
        segments_case(
            ("lat.ldmatrix", f"x{count}", "cycles"), f"shared.ldmatrix{count}_chain", [],
            Slope(segments, 1, ATOMS), notes="dependent LDSM + IADD3 (the address)",
        )
        for count in MATRICES
    ]  # fmt: skip
    rates = [
        segments_case(
            ("thr.ldmatrix", f"x{count} warps={warps}", "cycles/warp-instruction"),
            f"shared.ldmatrix{count}", [], Slope(segments, warps, ATOMS * warps),
        )
        for count in MATRICES
        for warps in (4, 16, 32)
    ]  # fmt: skip
    return [
        Benchmark(
            "lat.ldmatrix", "shared", "a chain of ldmatrix", tuple(chains),
            loop="8 LDSM + IADD", since=80,
        ),
        Benchmark(
            "thr.ldmatrix", "shared", "independent ldmatrix", tuple(rates),
            loop="8 LDSM of 8 different 512 bytes", since=80,
        ),
    ]  # fmt: skip
