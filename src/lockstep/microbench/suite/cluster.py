"""Clusters: barriers, distributed shared memory; mbarriers; copies to shared memory."""

from dataclasses import replace

from lockstep.isa.instruction import WARP_SIZE
from lockstep.microbench.benchmark import Benchmark, Buffer, Case, Fill, Target
from lockstep.microbench.measures import Slope
from lockstep.microbench.suite.building import buffer, i32, i64, iterations, segments_case

KIB, MIB = 1 << 10, 1 << 20
EACH = 8  # barriers or accesses of an iteration
SHARED = 200 * KIB
STAGED = 64 * KIB  # most bytes in flight
CHUNKS = (16, 128, 512, 1024, 2048, 4096, 8192, 16384, 32768)
SMALL_CHUNKS = (16, 128, 1024, 4096, 16384, 32768)
WARMED = (64, 2, 22)  # iterations: what is timed is in the L2 before
WARMED_BEFORE = (1, 2, 4)  # of a launch after another one of the same addresses
SPAN, LONG_SPAN, BLOCK_SPAN = 32 * KIB, 256 * KIB, 4 * MIB
KINDS = {
    "cp_async16": "LDGSTS of 16 bytes a thread",
    "cp_async4": "LDGSTS of 4 bytes a thread",
    "ldg_sts": "LDG, STS of 16 bytes a thread",
}


def benchmarks(target: Target) -> list[Benchmark]:
    """All of them."""
    return [
        *_barriers(target),
        *_remote(target),
        *_mbarriers(target),
        *_bulk(target),
        *(b for kind in KINDS for b in _copies(target, kind)),
        _all_sms(target),
    ]


def _barriers(target: Target) -> list[Benchmark]:
    loops = {
        "cluster_barrier": "MEMBAR.ALL.GPU, UCGABAR_ARV, UCGABAR_WAIT, CCTL.IVALL, BAR.SYNC",
        "cluster_barrier_relaxed": "UCGABAR_ARV, UCGABAR_WAIT",
    }
    found = []
    for kind, loop in loops.items():
        name = f"sync.{kind}"
        cases = [
            segments_case(
                (name, f"ctas={ctas} warps={warps}", "cycles"), f"cluster.{kind}", [],
                Slope(iterations(target.full), warps, EACH), grid=ctas, cluster=ctas,
            )
            for ctas in (1, 2, 4, 8)
            for warps in (1, 8, 32)
        ]  # fmt: skip
        found.append(
            Benchmark(name, "cluster", "the barrier of a cluster", tuple(cases),
                      loop=f"8 times {loop}", since=90)
        )  # fmt: skip
    return found


def _remote(target: Target) -> list[Benchmark]:
    segments = iterations(target.full)

    def case(name: str, kernel: str, text: str, size: int, peer: int, measure: Slope, unit: str):
        arguments = [i32(peer), i32(0)]
        return segments_case((name, text, unit), f"cluster.{kernel}", arguments, measure,
                             grid=size, cluster=size)  # fmt: skip

    chains = [
        case("lat.dsm_load", "dsm_chain", f"cluster={size} distance={peer}", size, peer,
             Slope(segments, 1, EACH), "cycles")
        for size in (2, 4, 8)
        for peer in (range(size) if size == 8 and target.full else (0, size - 1))
    ]  # fmt: skip
    atomic = case("lat.dsm_atomic", "dsm_atomics", "cluster=2", 2, 1, Slope(segments, 1, EACH),
                  "cycles")  # fmt: skip

    def rates(name: str, kernel: str, who: str) -> tuple[Case, ...]:
        return tuple(
            case(name, kernel, f"cluster={size} warps={warps} one {who}", size, 1,
                 Slope(segments, warps, amount=WARP_SIZE * warps * EACH * 16), "bytes/clk/SM")
            for size in (2, 4, 8)
            for warps in (1, 8, 32)
            if target.full or (size != 4 and warps != 8)
        )  # fmt: skip

    caveat = "addresses take MOV + IADD"
    return [
        Benchmark("lat.dsm_load", "cluster", "loads of another CTA's shared memory",
                  tuple(chains), loop="8 LD.E on a mapa address, each on the last", since=90,
                  caveat=f"{caveat}; distance 0 is a CTA's own memory through the window"),
        Benchmark("lat.dsm_atomic", "cluster", "atomics on it", (atomic,),
                  loop="8 ATOM.E on a mapa address", since=90, caveat=caveat),
        Benchmark("bw.dsm_load", "cluster", "independent loads of it",
                  rates("bw.dsm_load", "dsm_loads", "reader"), loop="8 LD.E.128", since=90,
                  caveat=caveat),
        Benchmark("bw.dsm_store", "cluster", "stores to it",
                  rates("bw.dsm_store", "dsm_stores", "writer"), loop="8 ST.128", since=90,
                  caveat="issue side only"),
    ]  # fmt: skip


def _mbarriers(target: Target) -> list[Benchmark]:
    segments = iterations(target.full)
    all_ = [
        segments_case(
            ("sync.mbarrier_all", f"warps={warps}", "cycles"), "bulk.mbarrier_all", [],
            Slope(segments, warps, 4), notes="every thread arrives, all wait",
        )
        for warps in (1, 4, 8, 32)
    ]  # fmt: skip
    one = segments_case(
        ("sync.mbarrier_one", "one thread", "cycles"), "bulk.mbarrier_one", [],
        Slope(segments, 1, 4), block=1, notes="a thread arrives and waits",
    )  # fmt: skip
    loop = "4 times SYNCS.ARRIVE and a loop of SYNCS.PHASECHK"
    return [
        Benchmark("sync.mbarrier_all", "cluster", "mbarrier by all threads", tuple(all_),
                  loop=loop, since=90),
        Benchmark("sync.mbarrier_one", "cluster", "mbarrier by one", (one,), loop=loop, since=90),
    ]  # fmt: skip


def _copy(target: Target, kernel: str, threads: int, chunk: int, stages: int, span: int) -> Case:
    """A latency if one is in flight, else bytes a clock."""
    one = stages == 1
    name = f"{'lat' if one else 'bw'}.copy_{kernel.partition('.')[2]}"
    text = f"threads={threads} chunk={chunk} in_flight={stages} span={span}"
    segments = WARMED if target.full else WARMED_BEFORE
    measure = Slope(segments, threads // WARP_SIZE, amount=0 if one else chunk * stages)
    arguments = [buffer("data"), i32(chunk), i32(stages), i64(span)]
    case = segments_case(
        (name, text, "cycles" if one else "bytes/clk/SM"), kernel, arguments, measure,
        buffers=(Buffer("data", span),), shared=SHARED,
        notes="one SM; issue, then wait for all; wraps in its span (L2 hits once warm)",
    )  # fmt: skip
    return case if target.full else replace(case, warm=case.launches)


def _bulk(target: Target) -> list[Benchmark]:
    chunks = CHUNKS if target.full else SMALL_CHUNKS
    loop = "UBLKCP by one thread in a loop of R2UR, elect"
    found = []
    for kernel, least in (("bulk", 16), ("bulk_store", 1024)):
        singles = [_copy(target, f"bulk.{kernel}", WARP_SIZE, chunk, 1, SPAN) for chunk in chunks]
        several = [
            _copy(target, f"bulk.{kernel}", WARP_SIZE, chunk, min(16, STAGED // chunk), LONG_SPAN)
            for chunk in chunks
            if least <= chunk <= 16384
        ]
        what = "to" if kernel == "bulk" else "from"
        found += [
            Benchmark(f"lat.copy_{kernel}", "copies", f"a bulk copy {what} shared memory",
                      tuple(singles), loop=loop, since=90),
            Benchmark(f"bw.copy_{kernel}", "copies", f"bulk copies {what} shared memory",
                      tuple(several), loop=loop, since=90),
        ]  # fmt: skip
    return found


def _copies(target: Target, kind: str) -> list[Benchmark]:
    sizes = (512, 4096, 16384, 32768)
    singles = [
        _copy(target, f"copies.{kind}", WARP_SIZE if chunk == 512 else 256, chunk, 1, SPAN)
        for chunk in sizes
    ]
    several = [
        _copy(target, f"copies.{kind}", 256, chunk, 4, LONG_SPAN)
        for chunk in (sizes[:3] if target.full else sizes[2:3])
    ]
    return [
        Benchmark(f"lat.copy_{kind}", "copies", "a copy to shared memory by all threads",
                  tuple(singles), loop=KINDS[kind], since=80),
        Benchmark(f"bw.copy_{kind}", "copies", "copies to shared memory by all threads",
                  tuple(several), loop=KINDS[kind], since=80),
    ]  # fmt: skip


def _all_sms(target: Target) -> Benchmark:
    name = "bw.copy_all_sms"
    cases = []
    for blocks in (8, 32, 66, 132) if target.full else ():
        for kernel, text, threads in (
            ("copies.cp_async16", "cp_async16", 256),
            ("bulk.bulk", "bulk", WARP_SIZE),
        ):
            arguments = [buffer("data"), i32(8192), i32(16), i64(BLOCK_SPAN)]
            measure = Slope((8, 2, 22), threads // WARP_SIZE, amount=8192 * 16)
            case = segments_case(
                (name, f"{text} blocks={blocks}, 4 MB each", "bytes/clk/SM"), kernel, arguments,
                measure, buffers=(Buffer("data", BLOCK_SPAN * blocks, Fill.ANY),), shared=SHARED,
                grid=blocks, block=threads, notes="128 KB in flight; the last writer's clocks",
            )  # fmt: skip
            cases.append(case)
    return Benchmark(name, "copies", "copies by many SMs", tuple(cases), since=90,
                     loop="as bw.copy_bulk and bw.copy_cp_async16",
                     hardware_only="clocks of whichever block wrote last")  # fmt: skip
