"""Barriers, branches, sleep, instruction caches."""

from lockstep.isa.instruction import WARP_SIZE
from lockstep.microbench.benchmark import Argument, Benchmark, Case, Kind, Launch, Row, Target
from lockstep.microbench.measures import Slope, Word
from lockstep.microbench.suite.building import (
    OUT,
    SINK,
    Buffer,
    buffer,
    f32,
    i32,
    iterations,
    segments_case,
)

EACH = 8  # barriers, or bodies, of an iteration
BARRIERS = {
    "bar_sync": "BAR.SYNC",
    "bar_named": "BAR.SYNC of a number and a count",
    "bar_arrive_sync_pair": "two BAR.ARV and BAR.SYNC, by half of the warps each",
    "syncwarp": "NOP: converged code needs no WARPSYNC",
    "syncthreads_count": "BAR.RED + B2R",
}
BRANCHES = {
    "body_alone": "24 dependent FFMA and an FADD: what the next three are compared with",
    "taken": "the body skipped; ISETP, BRA, FADD",
    "not_taken": "the body run",
    "half_lanes": "the body by 16 lanes: BSSY, BSYNC",
    "divergent": "24 FFMA by half of the lanes, 25 by the others",
    "predicated": "FSETP, @P FADD, @!P FMUL",
    "call_ret": "CALL, FFMA, RET, moves",
    "switch4": "uniform switch: a tree of branches; bodies of 24, 25, 49, 49",
}
CODE_KB = (
    1,
    2,
    4,
    8,
    12,
    16,
    20,
    24,
    28,
    32,
    40,
    48,
    64,
    80,
    96,
    112,
    128,
    144,
    160,
    192,
    256,
    512,
)
SMALL_KB = (1, 16, 32, 48, 128)
FIRST_KB = (1, 16, 64, 128, 256)
IN_KB = 64  # instructions
SLEEPS = (0, 20, 100, 1000, 10000)


def benchmarks(target: Target) -> list[Benchmark]:
    """All of them."""
    return [
        *(_barrier(target, kind) for kind in BARRIERS),
        *_grid(target),
        *(_branch(target, kind) for kind in BRANCHES),
        _loop(target),
        _sleep(target),
        *_code(target),
    ]


def _barrier(target: Target, kind: str) -> Benchmark:
    name = f"sync.{kind}"
    cases = [
        segments_case(
            (name, f"warps={warps}", "cycles"), f"barrier.{kind}", [],
            Slope(iterations(target.full), warps, EACH), notes="back to back",
        )
        for warps in (1, 2, 4, 8, 16, 32)
        if (kind, warps) != ("bar_arrive_sync_pair", 1)
    ]  # fmt: skip
    return Benchmark(
        name, "sync", f"barriers of a CTA: {kind}", tuple(cases),
        loop=f"8 times {BARRIERS[kind]}",
    )  # fmt: skip


def _grid(target: Target) -> list[Benchmark]:
    long = 12 if target.full else 4
    segments = (1, 2, long)
    given = (buffer("out"), buffer("sink"), Argument(Kind.SEGMENTS, segments))
    own = (buffer("out"), buffer("count"), Argument(Kind.SEGMENTS, segments))
    syncs, counters = [], []
    for blocks in (1, 2, 16, target.sms) if target.full else (1, 2, 16):
        for threads in (32, 256, 1024) if target.full else (32, 1024):
            text = f"blocks={blocks} threads={threads}"
            row = Row("sync.grid", text, "cycles", Slope(segments, 1),
                      "cooperative groups grid.sync()")  # fmt: skip
            launch = Launch("grid.grid_sync", blocks, threads, given, cooperative=True)
            syncs.append(Case((row,), (launch,), (OUT, SINK)))
            row = Row("sync.grid_counter", text, "cycles", Slope(segments, 1), "no groups")
            launch = Launch("barrier.grid_counter", blocks, threads, own, cooperative=True)
            counters.append(Case((row,), (launch,), (OUT, Buffer("count", 64)), repeats=1))
    return [
        Benchmark("sync.grid", "sync", "the barrier of a cooperative grid", tuple(syncs),
                  loop="cooperative groups' grid.sync()", since=80),
        Benchmark("sync.grid_counter", "sync", "a counter that all blocks wait for",
                  tuple(counters), loop="BAR, MEMBAR, ATOMG.ADD, LDG.STRONG.SYS loop, MEMBAR, BAR"),
    ]  # fmt: skip


def _branch(target: Target, kind: str) -> Benchmark:
    name = f"branch.{kind}"
    cases = [
        segments_case(
            (name, f"warps={warps}", "cycles"), f"barrier.{kind}", [f32(0.5), i32(0)],
            Slope(iterations(target.full), warps, EACH), notes=BRANCHES[kind],
        )
        for warps in (1, 4, 16)
    ]  # fmt: skip
    return Benchmark(
        name, "branch", f"branches: {kind}", tuple(cases), loop=f"8 times: {BRANCHES[kind]}",
        caveat="subtract branch.body_alone where a body runs",
    )  # fmt: skip


def _loop(target: Target) -> Benchmark:
    name = "branch.loop_of_one"
    cases = [
        segments_case(
            (name, f"warps={warps}", "cycles/iteration"), "barrier.loop_of_one", [i32(3)],
            Slope((8, 8, 72), warps), notes="IADD3, counter, ISETP, BRA",
        )
        for warps in (1, 4, 16)
    ]  # fmt: skip
    return Benchmark(name, "branch", "a backward branch", tuple(cases),
                     loop="IADD3, UIADD3, ISETP, BRA")  # fmt: skip


def _sleep(target: Target) -> Benchmark:
    name = "sync.nanosleep"
    cases = [
        segments_case((name, f"ns={ns}", "cycles"), "barrier.sleep_ns", [i32(ns)],
                      Slope(iterations(target.full), 1))
        for ns in (SLEEPS if target.full else SLEEPS[:4])
    ]  # fmt: skip
    return Benchmark(name, "sync", "nanosleep", tuple(cases), loop="NANOSLEEP of a register")


def _code(target: Target) -> list[Benchmark]:
    loops = [
        segments_case(
            ("icache.loop", f"kb={kb} warps={warps}", "cycles/instruction"), f"icache.code{kb}",
            [f32(1.0), f32(0.5)], Slope((2, 2, 10 if target.full else 4), warps, kb * IN_KB),
            notes="FFMA, four chains a warp; warps run in step or not as they like",
        )
        for kb in (CODE_KB if target.full else SMALL_KB)
        for warps in ((1, 4, 8) if target.full else (1, 4))
    ]  # fmt: skip
    found = [
        Benchmark("icache.loop", "icache", "loops of straight-line code by size", tuple(loops),
                  loop="N KB of FFMA, 16 bytes each",)
    ]  # fmt: skip
    firsts = []
    for kb in FIRST_KB if target.full else FIRST_KB[:2]:
        row = Row("icache.first_pass", f"kb={kb} blocks={target.sms} warps=4", "cycles/instruction",
                  Word(1, less=0, steps=kb * IN_KB),
                  "first pass over the code in a launch (first value: after other kernels)",
                  )  # fmt: skip
        arguments = (buffer("out"), buffer("sink"), f32(1.0), f32(0.5),
                     Argument(Kind.SEGMENTS, (1, 0, 0)))  # fmt: skip
        launch = Launch(f"icache.code{kb}", target.sms, 4 * WARP_SIZE, arguments)
        firsts.append(Case((row,), (launch,), (OUT, SINK), (launch,), repeats=5))
    found.append(
        Benchmark("icache.first_pass", "icache", "the first pass of a launch", tuple(firsts),
                  loop="N KB of FFMA, once", caveat="all blocks write the same words: any block's")
    )  # fmt: skip
    return found
