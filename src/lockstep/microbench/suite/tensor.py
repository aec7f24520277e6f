"""Products of matrices: mma.sync by a warp, wgmma by a warpgroup."""

from lockstep.microbench.benchmark import Benchmark, Target
from lockstep.microbench.measures import Slope
from lockstep.microbench.suite.building import i32, iterations, segments_case

SHAPES = {  # multiply-adds of a product
    "m16n8k16_f16_f32": 2048,
    "m16n8k16_bf16_f32": 2048,
    "m16n8k16_f16_f16": 2048,
    "m16n8k8_f16_f32": 1024,
    "m16n8k8_tf32": 1024,
    "m16n8k32_s8": 4096,
    "m8n8k4_f64": 256,
}
VOLTA = {"m8n8k4_f16_f32": 1024}  # four products of 8 x 8 x 4
STEPS = 16
NOT_ZERO = 0x3C003C01  # two halves near 1
ROWS = 64  # of a warpgroup's product
GROUP = 8
SHARED = 65536
REGISTERS = "A in registers"
WARPGROUPS = {  # kernel: type, columns, depth, where A is
    "n8": ("f16", 8, 16, "A in shared memory"),
    "n64": ("f16", 64, 16, "A in shared memory"),
    "n128": ("f16", 128, 16, "A in shared memory"),
    "n256": ("f16", 256, 16, "A in shared memory"),
    "n64_registers": ("f16", 64, 16, REGISTERS),
    "n128_registers": ("f16", 128, 16, REGISTERS),
    "n128_e4m3": ("e4m3", 128, 32, "A in shared memory"),
    "n128_tf32": ("tf32", 128, 8, "A in shared memory"),
}


def benchmarks(target: Target) -> list[Benchmark]:
    """All of them."""
    shapes = [(name, macs, 80, 999) for name, macs in SHAPES.items()]
    shapes += [(name, macs, 70, 75) for name, macs in VOLTA.items()]
    kinds = dict.fromkeys(kind for kind, *_ in WARPGROUPS.values())
    return [
        *(b for shape in shapes for b in _warp(target, *shape)),
        *(b for kind in kinds for b in _warpgroup(target, kind)),
        _mix(target),
    ]


def _mix(target: Target) -> Benchmark:
    """Whether other operations are in the way of products: accumulators take register ports."""
    name = "mix.wgmma"
    segments = iterations(target.full)
    cases = []
    for kind in ("ffma", "mufu"):
        row = (name, f"m64n64k16 beside {kind}", "cycles")
        measure = Slope(segments, 12)
        notes = "8 products of one warpgroup, 128 FFMA or 16 MUFU a warp of two more"
        kernel = f"wgmma.n64_{kind}"
        cases.append(
            segments_case(row, kernel, [i32(0)], measure, shared=SHARED, notes=notes)
        )  # fmt: skip
    return Benchmark(
        name, "mix", "products of a warpgroup beside operations of two others", tuple(cases),
        loop="one group of 8 HGMMA; 64 x 2 FFMA of three registers, or 8 x 2 MUFU", since=90,
    )  # fmt: skip


def _warp(target: Target, shape: str, macs: int, since: int, until: int) -> list[Benchmark]:
    segments = iterations(target.full)

    def case(warps: int, chains: int, value: int = 0):
        text = f"warps={warps} ilp={chains}" + " operands not zero" * bool(value)
        amount = macs * STEPS * chains * warps
        products = STEPS * chains * max(warps // 4, 1)
        row = (f"thr.mma_{shape}", text, "MAC/clk/SM")
        return segments_case(
            row, f"tensor.{shape}_{chains}", [i32(value)],
            Slope(segments, warps, amount=amount),
            notes=f"{products} products of each sub-core an iteration",
        )  # fmt: skip

    latency = segments_case(
        (f"lat.mma_{shape}", "warps=1 ilp=1", "cycles"), f"tensor.{shape}_1", [i32(0)],
        Slope(segments, 1, STEPS), notes="accumulator chain, all zero operands",
    )  # fmt: skip
    counts = (1, 4, 8, 16, 32) if target.full else (1, 4, 8, 32)
    rates = [*(case(warps, 4) for warps in counts), case(4, 1), case(4, 4, NOT_ZERO)]
    return [
        Benchmark(
            f"lat.mma_{shape}", "tensor", f"a chain of mma.sync {shape}", (latency,),
            loop="16 HMMA, IMMA or DMMA in one chain", since=since, until=until,
            caveat="ptxas puts NOPs between dependent ones",
        ),
        Benchmark(
            f"thr.mma_{shape}", "tensor", f"rate of mma.sync {shape} by one SM", tuple(rates),
            loop="64 in four chains, or 16 in one", since=since, until=until,
        ),
    ]  # fmt: skip


def _warpgroup(target: Target, kind: str) -> list[Benchmark]:
    latencies, rates = [], []
    segments = iterations(target.full)
    for kernel, (type_, columns, depth, where) in WARPGROUPS.items():
        if type_ != kind:
            continue
        shape = f"m64n{columns}k{depth}"
        row = (f"lat.wgmma_{kind}", f"{shape} {where}", "cycles")
        latencies.append(
            segments_case(row, f"wgmma.{kernel}_1", [i32(0)], Slope(segments, 4, GROUP),
                          shared=SHARED, notes="fence, wgmma, commit, wait for each")
        )  # fmt: skip
        for groups in (1, 2, 4):
            if columns == 256 and groups == 4:
                continue
            row = (f"thr.wgmma_{kind}", f"{shape} warpgroups={groups} {where}", "MAC/clk/SM")
            amount = ROWS * columns * depth * GROUP * groups
            rates.append(
                segments_case(row, f"wgmma.{kernel}_8", [i32(0)],
                              Slope(segments, 4 * groups, amount=amount),
                              shared=SHARED, notes="8 in a group, then a wait")
            )  # fmt: skip
    caveat = "A in registers: 31 moves an iteration; operands are zero and not swizzled"
    return [
        Benchmark(
            f"lat.wgmma_{kind}", "tensor", f"a product of a warpgroup, {kind}", tuple(latencies),
            loop="WARPGROUP.ARRIVE, HGMMA, WARPGROUP.DEPBAR.LE each", caveat=caveat, since=90,
        ),
        Benchmark(
            f"thr.wgmma_{kind}", "tensor", f"rate of a warpgroup's products, {kind}", tuple(rates),
            loop="8 HGMMA on one accumulator, one wait", caveat=caveat, since=90,
        ),
    ]  # fmt: skip
