"""Latency and throughput of one operation, or of a short sequence, by chains of it."""

from dataclasses import dataclass

from lockstep.isa.instruction import WARP_SIZE
from lockstep.microbench.benchmark import Argument, Benchmark, Case, Kind, Target
from lockstep.microbench.measures import Slope
from lockstep.microbench.suite.building import segments_case

WARPS = (1, 2, 4, 8, 16, 32)
SMALL_ALONE, SMALL_FOUR = (4, 32), (4, 16, 32)  # warps that a simulator runs with 1 and 4 chains
STEPS = {1: 64, 4: 32}  # of each chain in an iteration, by chains a thread
SEQUENCE_STEPS = {1: 16, 4: 4}  # of what takes many instructions
ITERATIONS = (2, 2, 10)
WORD = (Kind.I32, 0x51ED270B, 13)
FLOAT, SLOW_FLOAT = (Kind.F32, 0.999, 0.001), (Kind.F32, 1.01, 3.0)
DOUBLE, SLOW_DOUBLE = (Kind.F64, 0.999, 0.001), (Kind.F64, 1.01, 3.0)
HALVES = (Kind.I32, 0x3BFF3BFF, 0x10001000)


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation: its kernels, what they are in machine code, their two further operands.

    ``per``: how many of the named instructions a step has.
    """

    name: str
    what: str
    operands: tuple[Kind, float, float] = WORD
    per: int = 1
    sequence: bool = False
    since: int = 70
    caveat: str = ""

    @property
    def steps(self) -> dict[int, int]:
        """Of an iteration, by chains a thread."""
        return SEQUENCE_STEPS if self.sequence else STEPS


ALTERNATES = "ptxas alternates two pipes, half each: a mean of both"
INTEGER = (
    Operation("iadd3", "IADD3 of three registers"),
    Operation("imad", "IMAD"),
    Operation("imad_hi", "IMAD.HI"),
    Operation("imad_wide", "IMAD.WIDE", (Kind.I64, 0x51ED270B, 13)),
    Operation("lop3", "LOP3"),
    Operation("shf", "SHF.L.W"),
    Operation("shl_var", "LOP3 + SHF", per=2),
    Operation("isetp_sel", "ISETP + SEL", per=2),
    Operation("prmt", "PRMT"),
    Operation("popc", "POPC"),
    Operation("flo", "FLO"),
    Operation("brev", "BREV"),
    Operation("lea", "LEA"),
    Operation("vimnmx", "VIMNMX max then min", per=2),
    Operation("dp4a", "IDP.4A"),
    Operation("i2f_f2i", "I2F + F2I", per=2, caveat="I2FP on the ALU and F2I: their mean"),
    Operation("shfl_idx", "SHFL.IDX"),
    Operation("shfl_bfly", "SHFL.BFLY"),
    Operation("vote_sel", "ISETP + VOTE.ANY", per=2),
    Operation("match_any", "MATCH.ANY", sequence=True),
    Operation("redux_add", "REDUX.SUM + move from UR", since=80, caveat="a pair as one"),
    Operation("redux_max", "REDUX.MAX (CREDUX/REDUX) + move from UR", since=80,
              caveat="a pair as one"),
    Operation("s2r_warpid", "S2R VIRTID + extraction + IADD3"),
    Operation("s2r_clock", "S2UR/CS2R.32 CLOCK + IADD3",
              caveat="alternately S2UR + NOP and CS2R.32, and one IADD3 for two"),
    Operation("cs2r_clock64", "CS2R CLOCK + 2 LOP3", (Kind.I64, 1, 2)),
    Operation("iadd64", "IADD3 + IADD3.X", (Kind.I64, 0x51ED270B123, 13)),
    Operation("imul64", "64-bit multiply-add sequence", (Kind.I64, 0x51ED270B123, 13),
              sequence=True),
    Operation("udiv32", "unsigned 32-bit division sequence", sequence=True),
    Operation("urem32", "unsigned 32-bit remainder sequence", sequence=True),
    Operation("udiv64", "unsigned 64-bit division (call)", (Kind.I64, 0x51ED270B, 13),
              sequence=True),
    Operation("sync_warp", "WARPSYNC/NOP + IADD3", (Kind.I32, 1, 1),
              caveat="NOP and IMAD or LEA for pairs of adds: converged code needs no WARPSYNC"),
)  # fmt: skip
FLOATING = (
    Operation("fadd", "FADD", FLOAT),
    Operation("fmul", "FMUL", FLOAT),
    Operation("ffma", "FFMA", FLOAT),
    Operation("fmnmx", "FMNMX max then min", FLOAT, per=2),
    Operation("fset", "FSETP + FSEL", FLOAT, per=2),
    Operation("mufu_rcp", "MUFU.RCP + FADD (a pair as one)", FLOAT),
    Operation("mufu_rsq", "MUFU.RSQ", FLOAT),
    Operation("mufu_ex2", "MUFU.EX2", FLOAT),
    Operation("mufu_lg2", "MUFU.LG2", FLOAT),
    Operation("mufu_sqrt", "MUFU.SQRT", FLOAT),
    Operation("mufu_tanh", "MUFU.TANH", FLOAT, since=80),
    Operation("mufu_sin", "FMUL + MUFU.SIN", FLOAT),
    Operation("cvt_f32_f16", "F2F f32->f16 + HADD2.F32", FLOAT, per=2,
              caveat="four chains pack two conversions: 25 % more instructions are counted"),
    Operation("cvt_f32_f64", "F2F f32->f64 + F2F f64->f32", FLOAT, per=2),
    Operation("frnd", "FRND", FLOAT),
    Operation("dadd", "DADD", DOUBLE),
    Operation("dmul", "DMUL", DOUBLE),
    Operation("dfma", "DFMA", DOUBLE),
    Operation("dsetp_sel", "DSETP + 2 FSEL", DOUBLE),
    Operation("hadd2", "HADD2", HALVES, caveat=ALTERNATES),
    Operation("hmul2", "HMUL2", HALVES, caveat=ALTERNATES),
    Operation("hfma2", "HFMA2", HALVES, caveat=ALTERNATES),
    Operation("hfma2_bf16", "HFMA2.BF16", HALVES, since=80),
    Operation("hmnmx2", "HMNMX2 max then min", HALVES, per=2, since=80),
    Operation("div_rn", "correctly rounded f32 division sequence", SLOW_FLOAT, sequence=True),
    Operation("div_fast", "__fdividef", SLOW_FLOAT, sequence=True),
    Operation("sqrt_rn", "correctly rounded f32 sqrt sequence", SLOW_FLOAT, sequence=True),
    Operation("rcp_rn", "correctly rounded f32 reciprocal", SLOW_FLOAT, sequence=True),
    Operation("ddiv_rn", "f64 division sequence", SLOW_DOUBLE, sequence=True),
    Operation("dsqrt_rn", "f64 sqrt sequence", SLOW_DOUBLE, sequence=True),
    Operation("expf_full", "expf", SLOW_FLOAT, sequence=True),
    Operation("sinf_full", "sinf small arguments", SLOW_FLOAT, sequence=True),
)  # fmt: skip


def benchmarks(target: Target) -> list[Benchmark]:
    """A latency and a throughput of each operation."""
    files = {"integer": INTEGER, "floating": FLOATING}
    return [
        make(target, file, operation)
        for file, operations in files.items()
        for operation in operations
        for make in (_latency, _throughput)
    ]


def _latency(_: Target, file: str, operation: Operation) -> Benchmark:
    name = f"lat.{operation.name}"
    steps = operation.steps[1]
    notes = f"{operation.what}; {operation.per} a step, {steps} steps an iteration"
    measure = Slope(ITERATIONS, 1, steps * operation.per)
    case = segments_case(
        (name, "warps=1 ilp=1", "cycles"),
        f"{file}.{operation.name}_1",
        _operands(operation),
        measure,
        notes=notes,
    )
    return Benchmark(
        name, file, f"latency of {operation.what}", (case,),
        loop=f"{steps} times, each on the result of the last; UIADD3, ISETP, BRA of the loop",
        caveat=operation.caveat or "the loop's end: 1 to 3 cycles of an iteration",
        since=operation.since,
    )  # fmt: skip


def _throughput(target: Target, file: str, operation: Operation) -> Benchmark:
    name = f"thr.{operation.name}"
    small = {1: SMALL_ALONE, 4: SMALL_FOUR}
    cases = tuple(
        _rate(file, operation, warps, chains)
        for chains in (1, 4)
        for warps in (WARPS if target.full else small[chains])
        if (warps, chains) != (1, 1)  # the latency
    )
    return Benchmark(
        name, file, f"throughput of {operation.what} by one SM", cases,
        loop="one chain a thread as for the latency, or four chains",
        caveat=operation.caveat or "the loop: 3 of 67 issue slots (one chain), 3 of 131 (four)",
        since=operation.since,
    )  # fmt: skip


def _rate(file: str, operation: Operation, warps: int, chains: int) -> Case:
    amount = WARP_SIZE * warps * operation.steps[chains] * chains * operation.per
    return segments_case(
        (f"thr.{operation.name}", f"warps={warps} ilp={chains}", "lanes/clk/SM"),
        f"{file}.{operation.name}_{chains}",
        _operands(operation),
        Slope(ITERATIONS, warps, amount=amount),
        notes=operation.what,
    )


def _operands(operation: Operation) -> list[Argument]:
    kind, b, c = operation.operands
    return [Argument(kind, b), Argument(kind, c)]
