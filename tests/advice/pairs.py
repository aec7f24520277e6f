"""For each rule a kernel that is made to have its problem, and the same one made not to have it."""

from functools import cache

from lockstep import KernelBuilder
from lockstep.builder import program
from lockstep.workload import MemoryCopy

A, B, C, D = 0x7F1000000000, 0x7F1010000000, 0x7F1020000000, 0x7F1030000000
WORD, SECTOR, LINE = 4, 32, 128
SMS, FULL = 4, 32  # of the small GPU; CTAs of 256 threads that fill it
ROUNDS = 6


def mixed(
    name,
    grid=FULL,
    block=256,
    registers=32,
    shared_bytes=0,
    stride=0,
    extra=(),
    mask=None,
    loops=ROUNDS,
    work=60,
    each="FFMA",
    width="",
):
    """Loads under way together, arithmetic of independent chains, a store: all that is well-made.

    Whatever an argument changes is the problem: ``stride`` bytes between the loads of two threads,
    ``extra`` instructions of a round (text, arguments), the lanes of ``mask`` alone, ``each``
    instruction.
    """
    k = KernelBuilder(name, grid, block, registers=registers, shared_bytes=shared_bytes)
    size = {"": WORD, ".64": 2 * WORD, ".128": 4 * WORD}[width]
    step = 256 * FULL * size
    k("S2R R0, SR_TID.X")
    with k.loop(loops):
        for place in range(2):
            pattern = k.coalesced((A, B)[place], size, step)
            if stride:
                pattern = k.strided((A, B)[place], stride, stride * 256 * FULL)
            k(f"LDG.E{width} R{4 + 4 * place}, [R2]", address=pattern)
        for text, arguments in extra:
            k(text, **arguments)
        for n in range(work):
            if mask is None:
                _arithmetic(k, n, each)
            else:
                with k.lanes(mask):
                    _arithmetic(k, n, each)
        k("FADD R28, R4, R8")
        k(f"STG.E{width} [R2], R28", address=k.coalesced(C, size, step))
    return program(k, name=name)


def _arithmetic(k, n, each):
    """Two instructions whose operands lie in both register banks."""
    third = "" if each == "DADD" else ", R1"
    k(f"{each} R{12 + 2 * (n % 8)}, R{12 + 2 * (n % 8)}, R2{third}")
    k(f"IADD3 R{13 + 2 * (n % 8)}, R{13 + 2 * (n % 8)}, 0x1, RZ")


def chase(name, warps):
    """Loads that wait for each other, with few warps or many."""
    k = KernelBuilder(name, SMS * max(1, warps // 8), min(warps, 8) * 32)
    with k.loop(12):
        k("LDG.E R4, [R4]", address=k.coalesced(A, step=1 << 14))
        if warps > 8:
            for n in range(40):
                _arithmetic(k, n, "FFMA")
        k("IADD3 R4, R4, R4, RZ")
    k("STG.E [R2], R4", address=k.coalesced(C))
    return program(MemoryCopy(A, 12 << 14), k, name=name)


def shared(name, pattern, **changes):
    """Stores to shared memory and loads from there."""
    extra = [("STS [R6], R4", {"address": pattern}), ("LDS R9, [R6]", {"address": pattern})] * 4
    return mixed(name, shared_bytes=8192, extra=extra, **changes)


def atomics(name, pattern, every=1):
    """Atomic additions of all lanes, of ``every`` n-th warp."""
    k = KernelBuilder(name, FULL, 256)
    with k.loop(ROUNDS):
        k("LDG.E R4, [R2]", address=k.coalesced(A, step=FULL * 1024))
        for n in range(14):
            _arithmetic(k, n, "FFMA")
        with k.lanes(lambda at: (at.warp % every == 0) & (at.lane >= 0)):
            k("RED.E.ADD.F32.FTZ.RN.STRONG.GPU [R16], R4", address=pattern)
    return program(MemoryCopy(A, ROUNDS * FULL * 1024), k, name=name)


def code(name, length):
    """A loop over so many instructions: few warps, so that they do not share what they fetch."""
    k = KernelBuilder(name, SMS, 128 if length > 1000 else 512)
    with k.loop(3 if length > 1000 else 20):
        for n in range(length):
            _arithmetic(k, n, "FFMA")
    return program(k, name=name)


def many(name, kernels, rounds):
    """So many launches of a kernel."""
    small = [mixed(name, loops=rounds).kernels[0] for _ in range(kernels)]
    return program(*small, name=name)


def again(name, lines, passes, work=6):
    """Each warp reads the same lines, pass after pass."""
    k = KernelBuilder(name, FULL, 256)
    with k.loop(lines * passes):
        where = lambda at: A + (at.i % lines) * 8 * LINE + at.warp % 8 * LINE + at.lane * WORD  # noqa: E731
        k("LDG.E R4, [R2]", address=where)
        for n in range(work):
            _arithmetic(k, n, "FFMA")
    k("STG.E [R2], R28", address=k.coalesced(C))
    return program(MemoryCopy(A, lines * 8 * LINE), k, name=name)


def sweep(name, size, passes, work=0):
    """All CTAs together read an array, pass after pass; it does not go into any L1."""
    k = KernelBuilder(name, FULL, 256)
    step = FULL * 256 * 16
    rounds = size // step
    with k.loop(rounds * passes):
        where = lambda at: A + (at.i % rounds) * step + at.global_thread * 16  # noqa: E731
        k(f"LDG.E.128 R{4}, [R2]", address=where)
        for n in range(work):
            _arithmetic(k, n, "FFMA")
        k("FADD R28, R4, R5")
    k("STG.E [R2], R28", address=k.coalesced(C))
    return program(MemoryCopy(A, size), k, name=name)


def synchronized(name, barriers):
    """Barriers behind work that one warp of a CTA has more of."""
    k = KernelBuilder(name, FULL, 256)
    with k.loop(ROUNDS):
        k("LDG.E R4, [R2]", address=k.coalesced(A, step=FULL * 1024))
        with k.lanes(lambda at: (at.warp % 8 == 0) & (at.lane >= 0) if barriers else at.lane >= 0):
            for n in range(40):
                _arithmetic(k, n % 2, "FFMA")
        for _ in range(barriers):
            k("BAR.SYNC 0x0")
        k("STG.E [R2], R12", address=k.coalesced(C, step=FULL * 1024))
    return program(k, name=name)


def operands(name, banks):
    """Sums of three registers: of one bank of two, or of both."""
    k = KernelBuilder(name, FULL, 256)
    with k.loop(30):
        for n in range(8):
            first = 8 + 2 * n
            second, third = (first + 16, first + 32) if banks == 1 else (first + 17, first + 32)
            k(f"FFMA R{first}, R{first}, R{second}, R{third}")
    return program(k, name=name)


def constants(name, span):
    """Operands in constant memory: more lines than the cache of a sub-core has, or one."""
    k = KernelBuilder(name, FULL, 256)
    with k.loop(20):
        for n in range(16):
            k(f"FFMA R{8 + n}, R{8 + n}, c[0x3][{hex(n * span)}], R1")
            k(f"IADD3 R{24 + n}, R{24 + n}, 0x1, RZ")
    return program(k, name=name)


def product(name, tensor):
    """Products of what lies in shared memory: on the FMA units, or the tensor units."""
    k = KernelBuilder(name, FULL, 256, shared_bytes=4096)
    with k.loop(20):
        k("LDS.128 R8, [R6]", address=lambda at: at.lane * 16)
        for n in range(24):
            if not tensor:
                k(f"FFMA R{16 + n}, R8, R9, R{16 + n}")
            elif n % 12 == 0:
                k(f"HMMA.884.F32.F32.STEP0 R{16 + n}, R8, R13, R{16 + n}")
            elif n % 2:
                k("IADD3 R4, R4, 0x1, RZ")
    return program(k, name=name)


def few_loads(name, work):
    """Loads from the L2 of 16 SMs, with some arithmetic for each."""
    k = KernelBuilder(name, 4 * FULL, 256)
    with k.loop(16):
        where = lambda at: A + (at.global_thread + at.i * 1024) % 8192 * 16  # noqa: E731
        k("LDG.E.128.STRONG.GPU R4, [R2]", address=where)
        for n in range(work):
            _arithmetic(k, n, "FFMA")
    return program(MemoryCopy(A, 8192 * 16), k, name=name)


GPUS = {"cache_bandwidth": {"sm.count": 4 * SMS}, "launches": {"launch.overhead": 2000}}
"""By rule: what its GPU has otherwise than the small one."""
CONFLICT_FREE = KernelBuilder.bank_conflict(1)
SAME = KernelBuilder.broadcast(D)
SPREAD = KernelBuilder.coalesced(D)
QUARTER = 0xFF

PAIRS = {
    "launches": (lambda: many("launches", 8, 1), lambda: many("launches", 8, 12)),
    "small_grid": (lambda: mixed("small_grid", grid=2), lambda: mixed("full_grid")),
    "tail_wave": (
        lambda: mixed("tail_wave", grid=2 * SMS + 1, block=1024),
        lambda: mixed("whole_waves", grid=4 * SMS, block=1024),
    ),
    "unequal_ctas": (
        lambda: mixed("unequal", loops=lambda at: 4 + 60 * (at.cta == 3) + 0 * at.thread),
        lambda: mixed("equal", loops=lambda at: 6 + 0 * at.thread),
    ),
    "occupancy": (
        lambda: mixed("registers", registers=200, loops=20),
        lambda: mixed("fewer_registers", registers=32, loops=20),
    ),
    "latency": (lambda: chase("chase", 4), lambda: chase("many_chases", 64)),
    "uncoalesced": (
        lambda: mixed("strided", stride=LINE, work=14),
        lambda: mixed("wide", width=".128", work=240),
    ),
    "partial_sectors": (
        lambda: mixed("every_other", stride=2 * WORD, work=14),
        lambda: mixed("every", width=".64", work=120),
    ),
    "l1_thrash": (lambda: again("thrash", 200, 4, 2), lambda: again("fits", 60, 12, 2)),
    "l2_thrash": (lambda: sweep("sweeps", 2 << 20, 4), lambda: sweep("fits_l2", 1 << 18, 8, 24)),
    "local_memory": (
        lambda: mixed(
            "spills",
            extra=[
                ("STL [R1], R9", {"address": lambda at: at.i * WORD + 0 * at.thread}),
                ("LDL R9, [R1]", {"address": lambda at: at.i * WORD + 0 * at.thread}),
            ],
        ),
        lambda: mixed("in_registers"),
    ),
    "atomics": (lambda: atomics("one_word", SAME), lambda: atomics("own_words", SPREAD, 8)),
    "bank_conflicts": (
        lambda: shared("conflicts", KernelBuilder.bank_conflict(16)),
        lambda: shared("no_conflicts", CONFLICT_FREE),
    ),
    "barriers": (lambda: synchronized("barriers", 2), lambda: synchronized("no_barriers", 0)),
    "divergence": (
        lambda: mixed("few_lanes", mask=QUARTER),
        lambda: mixed("all_lanes", mask=(1 << 32) - 1),
    ),
    "partial_warps": (lambda: mixed("odd", block=33, grid=128), lambda: mixed("even", block=128,
                                                                              grid=64)),
    "slow_units": (lambda: mixed("doubles", each="DADD"), lambda: mixed("singles")),
    "register_banks": (lambda: operands("one_bank", 1), lambda: operands("both_banks", 2)),
    "instruction_cache": (lambda: code("long_loop", 6000), lambda: code("short_loop", 100)),
    "constants": (lambda: constants("many_constants", 64), lambda: constants("one_line", 4)),
    "dram_bandwidth": (
        lambda: mixed("stream", width=".128", work=1),
        lambda: mixed("balanced", work=100),
    ),
    "cache_bandwidth": (lambda: few_loads("from_l2", 0), lambda: few_loads("from_l2_less", 250)),
    "compute": (lambda: code("sums", 300), lambda: mixed("half", work=14)),
    "tensor": (lambda: product("fma", False), lambda: product("hmma", True)),
}  # fmt: skip
"""By rule: makes the kernel with the problem; makes the one without."""


@cache
def made(rule, clean):
    """The workload with the problem of a rule, or the clean one."""
    return PAIRS[rule][clean]()
