"""Global memory: stores, fences, atomics, and the L2's lines one by one."""

from lockstep.microbench.benchmark import Benchmark, Buffer, Case, Launch, Row, Target
from lockstep.microbench.blocks import LinesOfAll, LinesOfEach
from lockstep.microbench.measures import Slope
from lockstep.microbench.suite.building import OUT, buffer, i32, i64, rate_case, segments_case

MIB = 1 << 20
STEPS = 4  # of an iteration
DATA = Buffer("data", 1 * MIB)
LATENCIES = {  # kernel: lane strides, machine code
    "store_global": ((4,), "4 STG to 4 lines: issue only"),
    "store_membar_cta": ((4,), "STG + MEMBAR.SC.CTA"),
    "store_membar_gl": ((4,), "STG + MEMBAR.SC.GPU, ERRBAR, CGAERRBAR, CCTL.IVALL"),
    "store_membar_sys": ((4,), "STG + MEMBAR.SC.SYS, ERRBAR, CGAERRBAR, CCTL.IVALL"),
    "store_fence_gpu": ((4,), "STG + MEMBAR.ALL.GPU and what follows it"),
    "atom_add": ((0, 4, 32, 128), "ATOMG.ADD + 64-bit add"),
    "atom_cas": ((0, 4), "ATOMG.CAS + 64-bit add"),
    "atom_exch": ((4,), "ATOMG.EXCH + 64-bit add"),
    "atom_fadd": ((0, 4), "ATOMG.ADD.F32 + 64-bit add"),
    "red_add": ((0, 4, 128), "REDG.ADD"),
}
PATTERNS = (
    "one word", "one word a warp", "one line, lanes apart", "a line a warp", "a sector a lane",
)  # fmt: skip
SMALL_COUNT = (4, 8, 4, 8, 2)  # atomics of a thread that a simulator runs, by pattern
ALL = 1024  # threads of a block
SECTOR = 32  # bytes


def benchmarks(target: Target) -> list[Benchmark]:
    """All of them."""
    return [
        *(_latency(target, kernel) for kernel in LATENCIES),
        _throughput(target, "thr.atom_global", "atom"),
        _throughput(target, "thr.red_global", "red"),
        *_lines(target),
    ]


def _latency(target: Target, kernel: str) -> Benchmark:
    strides, loop = LATENCIES[kernel]
    name = f"lat.{kernel}"
    segments = (2, 4, 20 if target.full else 8)
    cases = [
        segments_case(
            (name, f"lane_stride={stride}", "cycles"), f"atomics.{kernel}",
            [buffer("data"), i32(stride)], Slope(segments, 1, STEPS), buffers=(DATA,),
            notes="one warp; atomics dependent, add of zero",
        )
        for stride in strides
    ]  # fmt: skip
    return Benchmark(
        name, "atomics", f"a warp's {kernel.replace('_', ' ')}", tuple(cases),
        loop=f"4 times {loop}",
    )  # fmt: skip


def _throughput(target: Target, name: str, kernel: str) -> Benchmark:
    cases = []
    for pattern, text in enumerate(PATTERNS):
        for blocks in (1, target.sms):
            count = 64 if target.full else SMALL_COUNT[pattern]
            case = rate_case(
                target, (name, f"{text}, blocks={blocks} threads={ALL}", "Gop/s"),
                f"atomics.{kernel}", (blocks, ALL),
                lambda n, pattern=pattern: (buffer("data"), i32(pattern), i32(n), i32(1)),
                amounts=(blocks * ALL, count), buffers=(Buffer("data", blocks * ALL * SECTOR),),
                warm=True,
            )  # fmt: skip
            cases.append(case)
    return Benchmark(
        name, "atomics", "atomics of all threads, by what they share", tuple(cases),
        loop="ATOMG or REDG in a loop", caveat="ends with MEMBAR",
    )  # fmt: skip


def _lines(target: Target) -> list[Benchmark]:
    lines, blocks = (256, target.sms) if target.full else (8, 4)
    stride = 4096
    each, all_ = LinesOfEach(blocks, lines), LinesOfAll(blocks, lines)
    note = "minimum of 3 single L2 hits for each line, all SMs at once; raw: line by line"
    rows = (
        Row("lat.l2_lines", f"sm={{sm}} line_stride={stride}", "cycles", each, note),
        Row("lat.l2_lines_p05_p95", "", "cycles", all_),
    )
    arguments = (buffer("out"), buffer("data"), i32(lines), i64(stride))
    launch = Launch("atomics.l2_lines", blocks, 32, arguments)
    data = Buffer("data", lines * stride)
    cases = [Case(rows, (launch,), (OUT, data), (launch,), repeats=1)]
    loop = "CS2R, LDG.64, dependent CS2R"
    caveat = "10 to 20 cycles of clock reads: differences count"
    found = [Benchmark("lat.l2_lines", "l2", "single L2 hits by SM and line: sides, slices",
                       tuple(cases), loop=loop, caveat=caveat)]  # fmt: skip
    if not target.full:
        return found
    alone = 2048
    row = Row("lat.l2_lines_alone", "one SM, line_stride=128", "cycles", LinesOfEach(1, alone),
              "raw: line by line")  # fmt: skip
    arguments = (buffer("out"), buffer("data"), i32(alone), i64(128))
    launch = Launch("atomics.l2_lines", 1, 32, arguments)
    case = Case((row,), (launch,), (OUT, Buffer("data", alone * 128)), repeats=1)
    return [*found, Benchmark("lat.l2_lines_alone", "l2", "the same by one SM", (case,),
                              loop=loop, caveat=caveat)]  # fmt: skip
