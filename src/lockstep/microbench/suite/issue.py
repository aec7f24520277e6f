"""What an SM does between warps: mixes of pipes, registers, sub-cores, spills."""

from lockstep.isa.instruction import WARP_SIZE
from lockstep.microbench.benchmark import Benchmark, Buffer, Case, Launch, Row, Target
from lockstep.microbench.measures import Slope, Word
from lockstep.microbench.suite.building import (
    OUT,
    SINK,
    buffer,
    f32,
    i32,
    iterations,
    segments_case,
)

MIXES = ("ffma_alone", "ffma_imad", "ffma_lds", "ffma_mufu", "ffma_lop3", "ffma_dfma", "lop3_imad")
EACH = 64  # of each kind in an iteration
SUB_CORES = 4
FFMAS = 32
MUFUS = 2048
SPILLS = {24: "no spill", 64: "LDL/STL, one block", 96: "LDL/STL, one block"}
LOCAL = 16  # loads of an iteration


def benchmarks(target: Target) -> list[Benchmark]:
    """All of them."""
    return [
        *(_mix(target, kind) for kind in MIXES),
        _three_registers(target),
        _pairs(target),
        _spills(target),
        _local(target),
    ]


def _mix(target: Target, kind: str) -> Benchmark:
    name = f"mix.{kind}"
    cases = []
    for warps in (4, 8, 16, 32) if target.full else (4, 16, 32):
        measure = Slope((2, 2, 10), warps, amount=EACH * warps / SUB_CORES)
        row = (name, f"warps={warps}", "pairs/clk/sub-core")
        notes = "64 of each per iteration and warp"
        arguments = [f32(1.0), f32(0.5), i32(3)]
        cases.append(segments_case(row, f"mix.{kind}", arguments, measure, notes=notes))
    return Benchmark(
        name, "mix", f"two kinds of operations side by side: {kind}", tuple(cases),
        loop="64 of each in four chains, interleaved; 0.5 is one issue a cycle",
    )  # fmt: skip


def _three_registers(target: Target) -> Benchmark:
    name = "issue.ffma_three_registers"
    cases = []
    for variant in (0, 1, 2):
        for warps in (4, 8):
            measure = Slope(iterations(target.full), warps, FFMAS * warps / SUB_CORES)
            row = (name, f"variant={variant} warps={warps}", "cycles/FFMA and sub-core")
            kernel = f"issue.three_registers{variant}"
            notes = "see SASS for registers"
            cases.append(segments_case(row, kernel, [f32(1.0)], measure, notes=notes))
    return Benchmark(
        name, "issue", "FFMA of three different registers: banks and ports", tuple(cases),
        loop="32 FFMA in 8 chains", caveat="the compiler chooses the registers",
    )  # fmt: skip


def _pairs(target: Target) -> Benchmark:
    name = "sched.subcore_pair"
    cases = []
    for other in range(1, 9):
        arguments = (buffer("out"), buffer("sink"), f32(1.0), f32(1.0), i32(0), i32(other))
        notes = f"{MUFUS} MUFU of warp 0 while the other does the same"
        row = Row(name, f"warps 0 and {other}", "cycles", Word(1, less=0), notes)
        launch = Launch("issue.pairs", 1, 32 * WARP_SIZE, arguments)
        cases.append(Case((row,), (launch,), (OUT, SINK), repeats=1))
    shown = cases if target.full else [cases[0], cases[1], cases[3], cases[7]]
    return Benchmark(
        name, "issue", "which warps share a sub-core", tuple(shown),
        loop="32 MUFU.EX2 in four chains, 64 times; the other warps of 32 wait",
    )  # fmt: skip


def _spills(target: Target) -> Benchmark:
    name = "local.spill"
    cases = []
    for values, notes in SPILLS.items():
        measure = Slope(iterations(target.full), 8, values)
        row = (name, f"values={values} of 32 registers", "cycles/value and 8 warps")
        given = Buffer("in", 256 * 128 * 4)
        case = segments_case(
            row, f"issue.spill{values}", [buffer("in")], measure, notes=notes, buffers=(given,)
        )
        cases.append(case)
    return Benchmark(
        name, "issue", "more values than registers: local memory", tuple(cases),
        loop="STL + LDL.LU + FFMA for each value that is spilled",
    )  # fmt: skip


def _local(target: Target) -> Benchmark:
    name = "lat.local"
    cases = [
        segments_case(
            (name, f"warps={warps}", "cycles"), "issue.local_chase", [i32(1)],
            Slope((8, 2, 12), warps, LOCAL),
            notes="dependent LDL with index arithmetic",
        )
        for warps in (1, 8)
    ]  # fmt: skip
    return Benchmark(
        name, "issue", "an array of a thread under a computed index", tuple(cases),
        loop="16 times LDL and the arithmetic of its address",
    )  # fmt: skip
