"""Memory-level parallelism: what an SM keeps in flight, past the L1 and past the L2."""

from lockstep.isa.instruction import WARP_SIZE
from lockstep.microbench.benchmark import Benchmark, Buffer, Case, Fill, Launch, Row, Target
from lockstep.microbench.measures import Rounds
from lockstep.microbench.suite.building import OUT, SINK, buffer, i32, i64

MIB = 1 << 20
SECTOR = 32
ROUNDS = 12
HITS = ((1, 4), (2, 4), (4, 4), (8, 4), (16, 4), (32, 4), (1, 32), (4, 32), (16, 32))
MISSES = ((1, 4), (4, 4), (16, 4), (32, 4), (4, 32), (16, 32))


def benchmarks(target: Target) -> list[Benchmark]:
    """All of them."""
    loop = "K LDG at immediate offsets, then their XORs"
    counts = (1, 4, 8, 16, 32) if target.full else (1, 8, 32)
    hits = [_case(target, "mlp.l2", k, warps, spread) for warps in counts for k, spread in HITS]
    misses = [
        _case(target, "mlp.dram", k, warps, spread)
        for warps in counts
        for k, spread in MISSES
        if target.full or (k, spread) != (16, 32)
    ]
    return [
        Benchmark("mlp.l2", "parallelism", "loads in flight that hit the L2", tuple(hits),
                  loop=loop,),
        Benchmark("mlp.dram", "parallelism", "loads in flight that miss the L2", tuple(misses),
                  loop=loop, caveat="lines that nothing read before"),
    ]  # fmt: skip


def _case(target: Target, name: str, loads: int, warps: int, spread: int) -> Case:
    cold = name == "mlp.dram"
    span = 16 * MIB if cold else 2 * MIB
    reach = span + loads * 1024 * spread  # the last round may go on behind the span
    measure = Rounds(ROUNDS, warps, loads * warps * WARP_SIZE * min(spread, SECTOR) / SECTOR)
    text = f"loads={loads} warps={warps} lane_stride={spread}"
    notes = "from the first load of any warp to the last use"
    arguments = (buffer("out"), buffer("sink"), buffer("data"), i64(span), i32(ROUNDS))
    launch = Launch(f"stream.loads{loads}_{spread}", 1, WARP_SIZE * warps, arguments)
    buffers = (OUT, SINK, Buffer("data", reach, Fill.ANY))
    warm = () if cold else (launch,)
    repeats = 3 if cold else 1
    row = Row(name, text, "cycles", measure, notes)
    return Case((row,), (launch,), buffers, warm, repeats=repeats, cold=cold)
