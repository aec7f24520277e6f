"""Geometry and policies of caches, by single accesses and what each of them takes.

A probe is a script of loads, stores and atomics by one thread, each timed. Its rows are cycles of
single steps: near the latency of the L1 or of the L2, or far above, says where the data was.
"""

from collections.abc import Iterable, Sequence

from lockstep.microbench.benchmark import Benchmark, Buffer, Case, Fill, Launch, Row, Target
from lockstep.microbench.measures import Slope, Word
from lockstep.microbench.suite.building import (
    OUT,
    SINK,
    buffer,
    i32,
    iterations,
    segments_case,
)

KIB, MIB = 1 << 10, 1 << 20
LOAD, PAST_L1, STORE, ATOMIC = range(4)
LINE, SECTOR = 128, 32
LOOP = "the clock, one access, the clock when its result is there"
CAVEAT = "clock reads and the script's branches: differences count"

Step = tuple[int, int]
"""A byte offset and a kind of access."""


def benchmarks(target: Target) -> list[Benchmark]:
    """All of them."""
    return [
        _l1_sectors(), _l1_writes(), *_l1_sets(), _l2_sectors(), _l2_writes(), _dram_rows(),
        _shared_pipe(target), _uniform(target),
    ]  # fmt: skip


def _probe(name: str, script: Sequence[Step], shown: Iterable[tuple[str, int]]) -> Case:
    """``shown``: parameters of a row and the step that it is of."""
    words = tuple(offset << 2 | kind for offset, kind in script)
    extent = max(offset for offset, _ in script) + LINE
    arguments = (buffer("out"), buffer("sink"), buffer("data"), buffer("script"), i32(len(words)))
    rows = tuple(Row(name, text, "cycles", Word(step)) for text, step in shown)
    buffers = (
        OUT, SINK, Buffer("data", extent),
        Buffer("script", 8 * len(words), Fill.WORDS, words=words),
    )  # fmt: skip
    return Case(rows, (Launch("probe.probe", 1, 1, arguments),), buffers, repeats=3, cold=True)


def _benchmark(name: str, group: str, what: str, cases: Iterable[Case]) -> Benchmark:
    return Benchmark(name, group, what, tuple(cases), loop=LOOP, caveat=CAVEAT)


def _l1_sectors() -> Benchmark:
    """The first load brings its sector: what else of the line is there then?"""
    name = "probe.l1_sector"
    offsets = (0, 4, 28, 32, 64, 96, 128)
    cases = [
        _probe(name, [(8 * KIB, LOAD), (0, LOAD), (offset, LOAD)], [(f"offset={offset}", 2)])
        for offset in offsets
    ]
    return _benchmark(name, "l1", "what a miss of the L1 brings: sectors of a line", cases)


def _l1_writes() -> Benchmark:
    """Whether a store brings its line, or takes it away."""
    name = "probe.l1_write"
    scripts = {
        "load after a store to an absent line": [(0, STORE), (0, LOAD), (0, LOAD)],
        "load after a store to a present line": [(0, LOAD), (0, STORE), (0, LOAD)],
        "the same sector, another word": [(0, LOAD), (0, STORE), (8, LOAD)],
        "load after an atomic on a present line": [(0, LOAD), (0, ATOMIC), (0, LOAD)],
        "load after a load past the L1": [(0, PAST_L1), (0, LOAD), (0, LOAD)],
    }
    cases = [
        _probe(name, script, [(text, 1 if "absent" in text or "past" in text else 2)])
        for text, script in scripts.items()
    ]
    return _benchmark(name, "l1", "the write policy of the L1", cases)


def _l1_sets() -> list[Benchmark]:
    """Lines at a stride are loaded, then once more: how many of them stay?"""
    name = "probe.l1_sets"
    cases = []
    for stride in (4 * KIB, 16 * KIB, 64 * KIB):
        for count in (4, 16, 64, 128, 256):
            lines = [(k * stride, LOAD) for k in range(count)]
            text = f"lines={count} stride={stride}"
            shown = [(f"{text} first", count), (f"{text} last", 2 * count - 1)]
            cases.append(_probe(name, lines + lines, shown))
    return [_benchmark(name, "l1", "sets, ways and hash of the L1: which lines stay", cases)]


def _l2_sectors() -> Benchmark:
    """What a miss of the L2 brings from DRAM."""
    name = "probe.l2_sector"
    offsets = (0, 32, 64, 96, 128, 256, 512, 1024)
    cases = [
        _probe(name, [(64 * KIB, PAST_L1), (0, PAST_L1), (offset, PAST_L1)],
               [(f"offset={offset}", 2)])
        for offset in offsets
    ]  # fmt: skip
    return _benchmark(name, "l2", "what a miss of the L2 brings: sectors, atoms of DRAM", cases)


def _l2_writes() -> Benchmark:
    """Whether a store of a part of a sector reads the rest, and when."""
    name = "probe.l2_write"
    scripts = {
        "load of the stored word": [(0, STORE), (0, PAST_L1), (0, PAST_L1)],
        "load of another word of the sector": [(0, STORE), (4, PAST_L1), (0, PAST_L1)],
        "load of the next sector": [(0, STORE), (SECTOR, PAST_L1), (0, PAST_L1)],
        "atomic on an absent line": [(LINE, STORE), (0, ATOMIC), (0, PAST_L1)],
        "load after that atomic": [(LINE, STORE), (0, ATOMIC), (0, PAST_L1)],
    }
    cases = [
        _probe(name, script, [(text, 2 if "after" in text else 1)])
        for text, script in scripts.items()
    ]
    return _benchmark(name, "l2", "the write policy of the L2", cases)


def _dram_rows() -> Benchmark:
    """Pairs of misses at a distance: the same row, another one, another bank, another channel."""
    name = "probe.dram_pair"
    cases = []
    for distance in (1 << k for k in range(9, 25)):
        script = [(0, PAST_L1), (distance, PAST_L1)]
        cases.append(_probe(name, script, [(f"distance={distance}", 1)]))
    return _benchmark(name, "dram", "rows, banks and channels: a miss after a miss", cases)


def _shared_pipe(target: Target) -> Benchmark:
    name = "bw.l1_and_shared"
    cases = [
        segments_case(
            (name, f"warps={warps}", "bytes/clk/SM"), "probe.l1_and_shared", [buffer("data")],
            Slope(iterations(target.full), warps, amount=2 * 8 * LINE * warps),
            buffers=(Buffer("data", 64 * KIB),),
        )
        for warps in (8, 32)
    ]  # fmt: skip
    return Benchmark(name, "l1", "L1 hits and shared memory in turn", tuple(cases),
                     loop="8 LDG and 8 LDS, XORs")  # fmt: skip


def _uniform(target: Target) -> Benchmark:
    name = "lat.uniform"
    case = segments_case(
        (name, "warps=1", "cycles"),
        "probe.uniform",
        [i32(3)],
        Slope(iterations(target.full), 1, 32),
    )
    return Benchmark(name, "integer", "a chain on what is the same for a warp", (case,),
                     loop="32 times a shift and a multiply-add, in uniform registers if the "
                          "compiler takes them")  # fmt: skip
