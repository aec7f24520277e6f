"""Execution units of a configuration: their counts, latencies and initiation intervals."""

from lockstep.frontend.accelsim.config_options import Option, Options
from lockstep.isa.instruction import WARP_SIZE

STAGES = 5  # cycles that a dependent instruction waits beyond the latency of the option
Table = dict[str, tuple[object, Option | None]]
Warnings = list[tuple[Option, str]]

ALU = ("INT32", "IMAD", "MOVE", "CONVERT", "SHUFFLE", "VOTE", "SPECIAL_REGISTER")
TENSOR = ("HMMA", "IMMA", "DMMA")
SPECIAL = {
    "BRA": ("BRANCH", "CONVERGENCE"),
    "TEX": ("TEXTURE", "SURFACE"),
    "TENSOR": TENSOR,
    "UDP": ("UNIFORM",),
}
# unit: operations, option of the count, options of the latency in traces and in PTX, defaults
UNITS = {
    "sp": (("FP32", "FP16"), "gpgpu_num_sp_units", "sp", "fp", (4, 1)),
    "int": (ALU, "gpgpu_num_int_units", "int", "int", (4, 1)),
    "dp": (("FP64",), "gpgpu_num_dp_units", "dp", "dp", (8, 4)),
    "sfu": (("SFU",), "gpgpu_num_sfu_units", "sfu", "sfu", (20, 8)),
    "tensor": (TENSOR, "gpgpu_num_tensor_core_units", "tensor", "tensor", (64, 64)),
}
SHARED_WITH = {"int": "sp", "dp": "sfu"}  # where the operations go if there is no such unit


def units(options: Options, shared: int) -> tuple[Table, Warnings]:
    """The parameters ``sm.units.*`` with the option each is from, and the warnings.

    ``shared``: sub-cores that the units are divided among; 1 if they belong to the whole SM.
    """
    table: Table = {}
    warnings: Warnings = []
    special = _special(options, table, warnings, shared)
    for name, (operations, count, trace, ptx, default) in UNITS.items():
        operations = tuple(op for op in operations if op not in special)
        latency, interval, source = _timing(options, trace, ptx, default)
        number = options.integer(count, 1 if name in ("sp", "sfu") else 0)
        owner = name if number else SHARED_WITH.get(name)
        if owner is None or not operations:
            continue
        if number:
            _unit(table, name, number, shared, options.get(count))
        for op in operations:
            _operation(table, owner, op, latency, interval, source)
    return table, warnings


def _special(options: Options, table: Table, warnings: Warnings, shared: int) -> set[str]:
    """Add the specialised units; returns the operations that they take from the others."""
    taken: set[str] = set()
    for index in range(1, 9):
        option = options.get(f"specialized_unit_{index}")
        if option is None:
            continue
        parts = option.value.split(",")
        if len(parts) != 6 or not all(part.isascii() and part.isdigit() for part in parts[:5]):
            option.fail("<enabled>,<units>,<latency>,<in>,<out>,<name>")
        timing = options.get(f"trace_opcode_latency_initiation_spec_op_{index}")
        if parts[0] == "0" or parts[1] == "0":
            continue
        if parts[5] not in SPECIAL:
            warnings.append((option, f"unit {parts[5][:20]} has no counterpart"))
            continue
        latency, interval = timing.integers(",", (2,)) if timing else (int(parts[2]), 1)
        name = parts[5].lower()
        _unit(table, name, int(parts[1][:9]), shared, option)
        for op in SPECIAL[parts[5]]:
            _operation(table, name, op, latency, interval, timing or option)
            taken.add(op)
    return taken


def _timing(
    options: Options, trace: str, ptx: str, default: tuple[int, int]
) -> tuple[int, int, Option | None]:
    """Latency and interval: of trace.config, else of the first PTX operation, else a default."""
    option = options.get(f"trace_opcode_latency_initiation_{trace}")
    names = [ptx] if ptx != "tensor" else ["tensor", "tesnor"]
    latency = options.get(*(f"ptx_opcode_latency_{name}" for name in names))
    interval = options.get(*(f"ptx_opcode_initiation_{name}" for name in names))
    if option:
        cycles, pause = option.integers(",", (2,))
        return cycles, pause, option
    first = latency.integers(",")[0] if latency else default[0]
    return first, interval.integers(",")[0] if interval else default[1], latency


def _unit(table: Table, name: str, number: int, shared: int, option: Option | None) -> None:
    table[f"sm.units.{name}.lanes"] = (WARP_SIZE, None)  # the intervals say how often one starts
    table[f"sm.units.{name}.count"] = (max(1, number // shared), option)
    table[f"sm.units.{name}.scope"] = ("subcore" if shared > 1 else "sm", None)


def _operation(
    table: Table, unit: str, op: str, latency: int, interval: int, option: Option | None
) -> None:
    """An operation class of a unit; two half-precision operations start in the time of one."""
    interval = -(-interval // 2) if op == "FP16" else interval
    stages = 0 if unit == "bra" else STAGES  # a branch needs its latency and no more
    table[f"sm.units.{unit}.operations.{op}"] = (max(1, latency + stages), option)
    table[f"sm.units.{unit}.intervals.{op}"] = (max(1, interval), option)
