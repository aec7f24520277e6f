"""Launches, the start of blocks, copies by the runtime, constants and textures."""

from lockstep.microbench.benchmark import (
    Argument,
    Benchmark,
    Buffer,
    Case,
    Copy,
    Fill,
    Launch,
    Row,
    Target,
)
from lockstep.microbench.blocks import BlockGap, BlockRate, BlockStarts, ResidentBlocks
from lockstep.microbench.measures import Elapsed, Hops, Word
from lockstep.microbench.suite.building import OUT, SINK, buffer, i32, i64

DEVICE = "device.sms"
KIB, MIB = 1 << 10, 1 << 20
EVENTS = "between two events, with a resolution of about 0.5 us"
DRIVER = "the driver and the host's processor"
GRIDS = (1, 132, 1056, 4224, 16896, 65536)
THREADS = (32, 128, 256, 1024)
SHARED_KIB = (0, 8, 32, 100, 226)
SPIN = 2000  # cycles
STAMPS = Buffer("out", 4 * MIB)
COPIES = (4 * KIB, 64 * KIB, 1 * MIB, 16 * MIB, 256 * MIB)


def benchmarks(target: Target) -> list[Benchmark]:
    """All of them."""
    return [
        Benchmark(DEVICE, "device", "what the driver says of the board", ()),
        *_empty(target),
        _blocks(target),
        _dependent(target),
        *_copies(),
        _constant(target),
        _texture(target),
    ]


def _timed(name: str, text: str, launches: tuple, times: int, amount: float = 0) -> Case:
    row = Row(name, text, "GB/s" if amount else "us", Elapsed(times, amount))
    return Case((row,), launches, repeats=7, timed=True, times=times)


def _empty(target: Target) -> list[Benchmark]:
    one = Launch("launch.empty", 1, 32)
    event = _timed("launch.empty_event", "1x32, one launch", (one,), 1)
    back = _timed("launch.empty_back_to_back", "1x32, of 200", (one,), 200)
    nothing = _timed("launch.nothing_event", "", (), 1)
    grids = [(b, t) for b in GRIDS for t in THREADS]
    if not target.full:
        grids = [(1, 32), (16896, 32), (16896, 256), (65536, 32)]
    times = 4 if target.full else 1
    empty = [
        _timed("launch.empty_grid", f"blocks={b} threads={t}", (Launch("launch.empty", b, t),),
               times)
        for b, t in grids
    ]  # fmt: skip
    shared = [
        _timed("launch.empty_smem", f"blocks=1056 threads=128 smem_kb={kib}",
               (Launch("launch.empty_shared", 1056, 128, shared=kib * KIB),), times)
        for kib in SHARED_KIB
        if (kib + 1) * KIB <= target.shared_bytes
    ]  # fmt: skip
    return [
        Benchmark("launch.empty_event", "launch", "one empty kernel", (event,), loop=EVENTS,
                  hardware_only=DRIVER),
        Benchmark("launch.empty_back_to_back", "launch", "empty kernels in a row", (back,),
                  loop=EVENTS, hardware_only=DRIVER),
        Benchmark("launch.nothing_event", "launch", "two events", (nothing,), loop=EVENTS,
                  hardware_only=DRIVER),
        Benchmark("launch.empty_grid", "launch", "empty kernels by grid and block", tuple(empty),
                  loop=EVENTS, caveat="small grids are the driver's: differences of large ones"),
        Benchmark("launch.empty_smem", "launch", "by shared memory", tuple(shared), loop=EVENTS),
    ]  # fmt: skip


def _blocks(target: Target) -> Benchmark:
    cases = []
    for threads in (32, 256, 1024) if target.full else (32,):
        for spin in (0, SPIN):
            blocks = 64 * target.sms if spin == 0 else 8 * target.sms
            text = f"threads={threads} spin={spin}"
            rows = [
                Row("sched.block_order", f"{text} blocks={blocks}", "ns/block", BlockRate(blocks)),
                Row("sched.block_gap_on_sm", text, "cycles", BlockGap(blocks),
                    "between starts of consecutive blocks on an SM"),
            ]  # fmt: skip
            if spin:
                note = "most blocks of an SM that start within 1 us"
                measure = ResidentBlocks(blocks)
                rows.append(Row("sched.resident_blocks", f"threads={threads}", "blocks", measure,
                                note))  # fmt: skip
            note = "raw: start of blocks 0.. after the first"
            rows.append(Row("sched.block_start_ns", text, "ns", BlockStarts(blocks), note))
            launch = Launch("launch.marks", blocks, threads, (buffer("out"), i64(spin)))
            cases.append(Case(tuple(rows), (launch,), (STAMPS,), (launch,), repeats=3))
    return Benchmark(
        "sched.block_order", "launch", "where and when blocks start", tuple(cases),
        loop="CS2R, S2UR of the global timer, perhaps a loop of clock reads",
    )  # fmt: skip


def _dependent(target: Target) -> Benchmark:
    cases = []
    for early in (0, 1):
        for wait in (0, 1):
            first = Launch("dependent.first", 1, 32, (buffer("out"), i32(early), i64(20000)))
            second = Launch("dependent.second", 1, 32, (buffer("out"), i32(wait)),
                            early=bool(early))  # fmt: skip
            text = f"early={early} wait={wait}"
            note = "the first spins 20000 cycles; negative is before its end"
            rows = (
                Row("launch.dependent_start", text, "ns", Word(1, less=0), note),
                Row("launch.dependent_after_wait", text, "ns", Word(2, less=0)),
            )
            cases.append(Case(rows, (first, second), (OUT,), repeats=7))
    return Benchmark(
        "launch.dependent_start", "launch", "programmatic launches", tuple(cases),
        loop="griddepcontrol", since=90, hardware_only="the driver's queue",
    )  # fmt: skip


def _copies() -> list[Benchmark]:
    found = []
    for name, kind, pinned, moved in (
        ("h2d_pinned", "h2d", True, 1),
        ("d2h_pinned", "d2h", True, 1),
        ("h2d_pageable", "h2d", False, 1),
        ("d2h_pageable", "d2h", False, 1),
        ("d2d", "d2d", True, 2),
        ("memset", "memset", True, 1),
    ):
        cases = []
        for size in COPIES:
            times = 3 if size > 32 * MIB else 10
            step = (Copy(kind, size, pinned),)
            cases.append(_timed(f"copy.{name}", f"bytes={size}", step, times, moved * size))
        found.append(
            Benchmark(f"copy.{name}", "copy", f"copies by the runtime: {name}", tuple(cases),
                      loop=EVENTS, hardware_only="PCIe, the host's memory and the driver")
        )  # fmt: skip
    return found


def _chain(target: Target, row: tuple[str, str], kernel: str, data: Buffer, warm: int,
           last: tuple[Argument, ...] = ()) -> Case:  # fmt: skip
    hops = 1024 if target.full else 256
    lead = () if data.symbol else (buffer(data.name),)
    arguments = (buffer("out"), buffer("sink"), *lead, i32(warm), i32(hops), *last)
    launch = Launch(kernel, 1, 1, arguments)
    made = Row(*row, "cycles", Hops(hops))
    return Case((made,), (launch,), (OUT, SINK, data), repeats=3)


def _constant(target: Target) -> Benchmark:
    name = "lat.constant_chase"
    sizes = [256 << k for k in range(9)] if target.full else [1024, 2048, 16384, 65536]
    cases = []
    for stride in (8, 64):
        for size in sizes:
            nodes = size // stride
            data = Buffer("constants", 64 * KIB, Fill.INDICES, stride, nodes,
                          symbol="chase.constants")  # fmt: skip
            text = f"footprint={size} stride={stride}"
            cases.append(_chain(target, (name, text), "chase.constant", data, nodes, (i32(0),)))
    return Benchmark(
        name, "constant", "the constant caches", tuple(cases),
        loop="16 times LDC and SHF or IMAD.SHL", caveat="4 to 6 cycles of the shift",
    )  # fmt: skip


def _texture(target: Target) -> Benchmark:
    name = "lat.texture_chase"
    cases = []
    for size in (4 * KIB, 32 * KIB, 1 * MIB, 16 * MIB) if target.full else (4 * KIB, 32 * KIB):
        nodes = size // 128
        data = Buffer("texels", size, Fill.INDICES, 128, nodes, texture=True)
        text = f"footprint={size} stride=128"
        cases.append(_chain(target, (name, text), "chase.texture", data, min(nodes, 32768)))
    return Benchmark(name, "texture", "the texture path", tuple(cases), loop="16 TLD.LZ")
