"""Bandwidth of the L1, the L2 and the DRAM."""

from lockstep.isa.instruction import WARP_SIZE
from lockstep.microbench.benchmark import Argument, Benchmark, Buffer, Case, Fill, Target
from lockstep.microbench.measures import SEGMENTS, Slope
from lockstep.microbench.suite.building import (
    buffer,
    i32,
    i64,
    iterations,
    rate_case,
    segments_case,
)

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
LOADS = 32  # of an iteration
ALL = 1024  # threads of a block
TRAFFIC = {"read": 1, "write": 1, "copy": 2, "triad": 3}  # bytes moved for each of a vector
L1_STRIDES = {1: (0, 8, 16, 32, 64, 128, 256), 2: (16, 32, 64, 128), 4: (32, 64, 128)}
L1_SHIFTS = {1: (4, 16, 32, 64), 4: (16,)}
GLOBAL_TIMER = "the global timer may tick once in 1 us; writes end when issued, not in DRAM"


def benchmarks(target: Target) -> list[Benchmark]:
    """All of them."""
    return [_l1(target), *_l2(target), *_dram(target), *_random(target)]


def _l1(target: Target) -> Benchmark:
    counts = (1, 2, 4, 8, 16, 32) if target.full else (1, 4, 8, 32)
    points = [(words, 4 * words, 0, warps) for warps in counts for words in (1, 2, 4)]
    points += [(w, stride, 0, 32) for w, strides in L1_STRIDES.items() for stride in strides]
    points += [(w, 4 * w, shift, 32) for w, shifts in L1_SHIFTS.items() for shift in shifts]
    points += [(1, -1, 0, 32), (4, -1, 0, 32)]
    return Benchmark(
        "bw.l1_load", "l1", "L1 hits of one block by width, stride and alignment",
        tuple(_l1_case(target, *point) for point in points),
        loop="32 LDG at immediate offsets of 128 bytes, and XORs of what they bring",
        caveat="XORs: 16 LOP3 for 32 bits, 32 for 64, 64 for 128",
    )  # fmt: skip


def _l1_case(target: Target, words: int, stride: int, shift: int, warps: int) -> Case:
    text = f"bits={32 * words} warps={warps} stride={stride} misalign={shift}"
    amount = WARP_SIZE * warps * LOADS * 4 * words
    measure = Slope(iterations(target.full, 20), warps, amount=amount)
    arguments = [buffer("data"), i32(stride), i32(shift), i32(0)]
    return segments_case(
        ("bw.l1_load", text, "bytes/clk/SM"), f"stream.l1_{words}", arguments, measure,
        buffers=(Buffer("data", 1 * MIB),), notes=f"{SEGMENTS} segments of {LOADS} loads",
    )  # fmt: skip


def _stream(
    target: Target,
    name: str,
    bits: int,
    mode: str,
    size: tuple[int, int, int, int],
    measured: tuple[int, ...] = (),
) -> Case:
    """``size``: bytes, passes, blocks, threads; ``measured``: bytes and passes on hardware.

    Data that comes from DRAM is passed once, so that there it is the bytes that grow.
    """
    count, passes, *shape = size
    once = "dram" in name
    text = "bits={} {} bytes={} passes={} blocks={} threads={}"
    stands_for = text.format(bits, mode, *measured, *shape) if measured else ""
    used = {"read": "a", "write": "b", "copy": "ab", "triad": "abc"}[mode]
    room = 4 * count if once and not target.full else count
    made = tuple(Buffer(n, room, Fill.ANY) for n in used)

    def arguments(n: int) -> tuple[Argument, ...]:
        behind = count if once and n > 1 else 0  # what the shorter launch has read
        pointers = tuple(buffer(p if p in used else used[0], behind) for p in "abc")
        vectors = count * 8 // bits
        return (*pointers, i64(vectors * n if once else vectors), i32(1 if once else n))

    each = TRAFFIC[mode] * count
    row = (name, text.format(bits, mode, count, passes, *shape), "GB/s")
    return rate_case(
        target, row, f"stream.{mode}{bits}", (shape[0], shape[1]), arguments,
        amounts=(each, passes), buffers=made, warm=not once, stands_for=stands_for,
    )  # fmt: skip


def _l2(target: Target) -> list[Benchmark]:
    both = 2 * target.sms
    full, measured = target.full, (16 * MIB, 20)
    amount = measured if full else (16 * MIB, 1)
    kinds = ((32, "read"), (64, "read"), (128, "read"), (32, "write"), (128, "write"),
             (128, "copy"))  # fmt: skip
    main = [
        _stream(target, "bw.l2", bits, mode, (*amount, both, ALL), () if full else measured)
        for bits, mode in kinds
    ]
    loop = "8 LDG or STG STRONG.GPU a thread at the grid's stride, with their addresses"
    benchmarks = [
        Benchmark("bw.l2", "l2", "all SMs, by width", tuple(main), loop=loop, caveat=GLOBAL_TIMER),
        Benchmark("bw.l2_sms", "l2", "so many SMs", tuple(_l2_sms(target)), loop=loop),
        Benchmark("bw.l2_warps", "l2", "so many warps of an SM", tuple(_l2_warps(target)),
                  loop=loop),
    ]  # fmt: skip
    if full:
        benchmarks.append(
            Benchmark("bw.l2_footprint", "l2", "by footprint", tuple(_footprints(target)),
                      loop=loop)
        )  # fmt: skip
    return benchmarks


def _l2_sms(target: Target) -> list[Case]:
    counts: tuple[int, ...] = (1, 2, 4, 8, 16, 32, 66, 99, target.sms)
    if not target.full:
        counts = (1, min(16, target.sms))
    cases = []
    for count in dict.fromkeys(counts):
        measured = (2 * MIB if count < 16 else 16 * MIB, 20)
        amount = measured if target.full else (measured[0], 1)
        near = () if target.full else measured
        kinds = [(128, "read"), (128, "write"), (32, "read")]
        for bits, mode in kinds:
            if mode == "write" and count != 1 and not target.full:
                continue
            cases.append(_stream(target, "bw.l2_sms", bits, mode, (*amount, count, ALL), near))
    return cases


def _l2_warps(target: Target) -> list[Case]:
    cases = []
    for threads in (32, 64, 128, 256, 512) if target.full else (32, 256):
        amount = (2 * MIB, 20) if target.full else (256 * KIB, 1)
        near = () if target.full else (2 * MIB, 20)
        cases.append(_stream(target, "bw.l2_warps", 128, "read", (*amount, 1, threads), near))
        if target.full:
            size = (16 * MIB, 20, target.sms, threads)
            cases.append(_stream(target, "bw.l2_warps", 128, "read", size))
    return cases


def _footprints(target: Target) -> list[Case]:
    cases = []
    for footprint in (1 * MIB << k for k in range(9)):
        passes = max(1, GIB // footprint)
        between = (5, 6) if 16 * MIB <= footprint <= 64 * MIB else ()
        for quarters in (4, *between):
            size = (footprint * quarters // 4, passes, 2 * target.sms, ALL)
            cases.append(_stream(target, "bw.l2_footprint", 128, "read", size))
    return cases


def _dram(target: Target) -> list[Benchmark]:
    both, full = 2 * target.sms, target.full
    kinds = [(32, "read"), (128, "read")]  # writes end in the L2 in what a simulator can run
    if full:
        kinds += [(128, "write"), (128, "copy"), (64, "read"), (32, "write"), (32, "copy"),
                  (128, "triad"), (32, "triad")]  # fmt: skip
    loop = "8 LDG or STG STRONG.GPU a thread at the grid's stride, each byte once"
    size = GIB if full else 8 * MIB
    near = () if full else (GIB, 1)
    main = [
        _stream(target, "bw.dram", bits, mode, (size, 1, both, ALL), near) for bits, mode in kinds
    ]
    found = [Benchmark("bw.dram", "dram", "all SMs, by width", tuple(main), loop=loop,
                       caveat=GLOBAL_TIMER)]  # fmt: skip
    if not full:
        return found
    counts = (1, 2, 4, 8, 16, 32, 48, 66, 99, target.sms)
    sms = [
        _stream(target, "bw.dram_sms", 128, mode, (_share(count), 1, count, ALL))
        for count in dict.fromkeys(counts)
        for mode in ("read", "write")
    ]
    warps = [
        _stream(target, "bw.dram_warps", 128, "read", (GIB // 2, 1, target.sms, threads))
        for threads in (32, 64, 128, 256, 512)
    ]
    return [
        *found,
        Benchmark("bw.dram_sms", "dram", "so many SMs", tuple(sms), loop=loop),
        Benchmark("bw.dram_warps", "dram", "so many warps of each SM", tuple(warps), loop=loop),
    ]


def _share(sms: int) -> int:
    return max(min(GIB, sms * 32 * MIB), 128 * MIB)


def _random(target: Target) -> list[Benchmark]:
    full = target.full
    loop = "4 LDG.128 in flight a thread at the hash of a counter, or at a stride"
    mask = GIB - 1
    cases = [
        _sectors(target, "bw.dram_random", "32-byte sectors", 32, mask),
        _sectors(target, "bw.dram_random", "64-byte pairs of sectors", 64, mask),
    ]
    l2 = _sectors(target, "bw.l2_random", "32-byte sectors of 4 MB", 32, 4 * MIB - 1, warm=True)
    found = [
        Benchmark("bw.dram_random", "dram", "sectors at random", tuple(cases), loop=loop,
                  caveat="bytes used, not moved"),
        Benchmark("bw.l2_random", "l2", "sectors at random", (l2,), loop=loop),
    ]  # fmt: skip
    strides = (64, 128, 256, 512, 1024, 2048, 4096) if full else (64, 128, 512)
    strided = [
        _sectors(target, "bw.dram_stride", f"32-byte sectors, one each {stride} bytes", 32,
                 2 * GIB - 1, stride)
        for stride in strides
    ]  # fmt: skip
    caveat = "bytes used, not moved; from 1 KB on lines come again"
    last = Benchmark("bw.dram_stride", "dram", "sectors at a stride", tuple(strided), loop=loop,
                     caveat=caveat)  # fmt: skip
    return [*found, last]


def _sectors(
    target: Target, name: str, text: str, each: int, mask: int, stride: int = 0, warm: bool = False
) -> Case:
    per, blocks = (32, 2 * target.sms) if target.full else (4, target.sms)
    room = mask + 1 if target.full or warm else 2 * (mask + 1)

    def arguments(n: int) -> tuple[Argument, ...]:
        # A simulator's longer launch reads other data than the shorter one.
        behind = mask + 1 if n > per and not warm else 0
        return (buffer("a", behind), i64(mask), i64(stride), i32(n))

    return rate_case(
        target, (name, text, "GB/s"), f"stream.sectors{each}", (blocks, ALL), arguments,
        amounts=(blocks * ALL * 16, per), buffers=(Buffer("a", room, Fill.ANY),), warm=warm,
        notes=f"{blocks} blocks",
    )  # fmt: skip
