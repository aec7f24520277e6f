"""From specification and static code to the records that the SMs execute."""

from collections.abc import Mapping, Sequence

import numpy as np

from lockstep.errors import WorkloadError
from lockstep.gpus.sm import Operands
from lockstep.gpus.spec import GPU
from lockstep.gpus.units import Operation, by_opcode, opcodes, operations
from lockstep.isa.instruction import (
    CONSTANT_BANK,
    LONGEST_SLEEP,
    MAX_DESTINATIONS,
    MAX_SOURCES,
    NO_BARRIER,
    NO_CONSTANT,
    NO_CONTROL,
    ORDERING,
    PREDICATES,
    SLOT_BITS,
    SLOT_SHIFT,
    SLOTS,
    UNIFORM_REGISTERS,
    OpClass,
    Space,
)
from lockstep.model.core import code_lines, kinds, release_state
from lockstep.model.core.state import (
    AT_ISSUE,
    BANK_BITS,
    FIXED,
    ISSUE,
    LATE,
    LONG,
    MAX_READS,
    MAX_WRITES,
    OFFSET_PLACE,
    SHORT,
    SLACK_PLACE,
    SLOT_PLACE,
    UNIT_BITS,
    WRITE_BITS,
)
from lockstep.workload.kernel import Kernel

PIPELINED = (
    OpClass.LOAD, OpClass.STORE, OpClass.ATOMIC, OpClass.REDUCTION, OpClass.ASYNC_COPY,
    OpClass.BULK_COPY, OpClass.BULK_STORE, OpClass.TILE_COPY, OpClass.TILE_STORE,
    OpClass.TEXTURE, OpClass.SURFACE,
)  # fmt: skip
SYNCHRONISERS = [
    OpClass.FENCE, OpClass.LOCAL_FENCE, OpClass.WAIT_GROUP, OpClass.COMMIT_GROUP, OpClass.GMMA_WAIT,
]  # fmt: skip
"""What waits for more than its unit: see ``issue.synchronises``."""
KEPT = (1 << SLOTS) - 1  # of the bits of `reuse`: operands to keep
MATRIX_ROWS = 8  # of a matrix that LDSM loads, each with an address
DESCRIPTOR_REGISTERS = 2  # of a matrix in shared memory; fragments of a matrix have more
PRODUCT_COLUMNS = 64  # for which the interval of a warpgroup's product stands
LARGEST_COPY = 1 << 18  # bytes; more than any SM's shared memory
PRODUCERS = {
    OpClass.SFU: SHORT, OpClass.SHUFFLE: SHORT, OpClass.SPECIAL_REGISTER: SHORT,
    OpClass.MATCH: SHORT, OpClass.REDUX: SHORT,
    OpClass.TEXTURE: LONG, OpClass.SURFACE: LONG,
}  # fmt: skip


def _by_class(values: Mapping[OpClass, int], others: int) -> np.ndarray:
    """A value for each OpClass: one gather for all instructions."""
    return np.array([values.get(op, others) for op in OpClass])


_RESULT = _by_class(PRODUCERS, FIXED)
_PIPELINED = _by_class(dict.fromkeys(PIPELINED, True), False)
_SYNCHRONISES = _by_class(dict.fromkeys(SYNCHRONISERS, True), False)


def unit_table(gpu: GPU) -> np.ndarray:
    """One row a kind of unit: its first instance, and whether the SM's sub-cores share it."""
    rows, first = [], 0
    for unit in gpu.sm.units:
        rows.append((first, int(unit.scope == "sm")))
        first += unit.count
    return np.array(rows, np.int64)


def _set_checks(records: np.ndarray, code: np.ndarray) -> None:
    place = np.zeros(len(code), np.int64)
    rows = np.arange(len(code))
    for kind, limit in (("destination", MAX_DESTINATIONS), ("source", MAX_SOURCES)):
        for j in range(min(int(code[kind + "s"].max(initial=0)), limit)):
            used = code[kind + "s"] > j
            packed = code[kind][:, j] | code[kind + "_count"][:, j] << 16
            records["check"][rows[used], place[used]] = packed[used]
            place += used
    records["checks"] = place


def _set_reads(records: np.ndarray, code: np.ndarray, operands: Operands) -> None:
    """The vector registers that are read, operand by operand, at most MAX_READS.

    Each is kept by its place among them, or if the GPU says so by the slot of its operand.
    """
    place = np.zeros(len(code), np.int64)
    for j in range(int(code["sources"].max(initial=0))):
        first, count = code["source"][:, j], code["source_count"][:, j]
        listed = code["sources"] > j
        shift = code["reuse"] >> SLOT_SHIFT + SLOT_BITS * j & 3 if j < SLOTS else 0
        slot = np.where(code["reuse"] < 0, j, j + shift)
        for k in range(int(count[listed].max(initial=0))):
            used = listed & (count > k) & (first + k < PREDICATES) & (place < MAX_READS)
            if operands.slots:
                used &= ~_is_read(records, place, first + k)
            register = first[used] + k
            kept = slot[used] if operands.slots else place[used]
            packed = register | register % operands.banks << 16
            packed |= kept << SLOT_PLACE | (k if operands.slots else 0) << OFFSET_PLACE
            records["read"][used, place[used]] = packed
            place += used
    records["reads"] = place


def _is_read(records: np.ndarray, place: np.ndarray, register: np.ndarray) -> np.ndarray:
    """Whether each instruction reads a register already, of which it has so many."""
    before = np.arange(MAX_READS) < place[:, None]
    return (before & (records["read"] & 0xFFFF == register[:, None])).any(axis=1)


def _set_writes(records: np.ndarray, code: np.ndarray, banks: int) -> None:
    """The banks that get vector registers as results, at most MAX_WRITES, and how many."""
    registers = np.zeros((len(code), banks), np.int64)
    rows = np.arange(len(code))
    for j in range(int(code["destinations"].max(initial=0))):
        first, count = code["destination"][:, j], code["destination_count"][:, j]
        listed = (code["destinations"] > j) & (first < PREDICATES)
        for k in range(int(count[listed].max(initial=0))):
            used = listed & (count > k)
            registers[rows[used], (first[used] + k) % banks] += 1
    records["more_writes"] = np.maximum(registers.max(axis=1, initial=0) - 1, 0)
    place = np.zeros(len(code), np.int64)
    for bank in range(banks):
        used = (registers[:, bank] > 0) & (place < MAX_WRITES)
        packed = bank | registers[used, bank] << BANK_BITS
        records["writes"][used] |= packed << place[used] * WRITE_BITS
        place += used


def issue_records(
    code: np.ndarray,
    gpu: GPU,
    control: bool,
    architecture: int = 0,
    texts: Sequence[str] = (),
) -> np.ndarray:
    """INSTRUCTION records as this GPU issues them; ``control``: by the compiler's bits.

    ``texts`` are the opcodes that the records name; without them only their classes count.
    """
    records = np.zeros(len(code), ISSUE)
    table = np.array(operations(gpu), np.int64)  # a row an OpClass
    op = code["op"]
    constant = code["space"] == Space.CONSTANT
    records["op"] = op
    for name, column in zip(Operation._fields, table[op].T):
        records[name] = column
    records["latency"][(op == OpClass.LOAD) & constant] = gpu.constant.latency
    bare_load = (op == OpClass.LOAD) & ~constant & (code["width"] == 0)
    records["latency"][bare_load] = gpu.l1.latency
    records["latency"][op == OpClass.OBJECT_WAIT] = gpu.shared.latency
    code_lines.set_lines(records, code["pc"], gpu, architecture)
    records["branch"] = (op == OpClass.BRANCH) | (op == OpClass.CONVERGENCE)
    records["memory"] = _PIPELINED[op] & (code["width"] > 0) & ~constant
    records["constant"] = code["constant"] if gpu.constant.operand_bytes else NO_CONSTANT
    if gpu.constant.first_latency:
        records["parameters"] = _parameters(code)
    records["result"] = np.where(bare_load | constant, SHORT, _RESULT[op])
    for name in ("space", "width", "cache", "immediate", "destinations"):
        records[name] = code[name]
    if gpu.coherence.scoped:
        records["cache"] = release_state.orders_of(code, control)
    else:
        records["cache"] &= ~np.int16(ORDERING)
    _set_checks(records, code)
    operands = gpu.sm.operands
    _set_reads(records, code, operands)
    if operands.style == "ports" and operands.result_queue:
        _set_writes(records, code, operands.banks)
    _set_control(records, code, control)
    records["arrivals"] = -(-code["threads"] // gpu.sm.warp_size)
    fences = op == OpClass.FENCE
    records["immediate"][fences] = gpu.sm.fence_round_trip
    records["redirect"], records["passes"] = gpu.sm.front_end.redirect, 1
    records["rows"] = gpu.sm.warp_size
    _set_group_products(records, code, op == OpClass.GMMA)
    _set_by_opcode(records, code["text"], texts, gpu, control)
    _set_slack(records, gpu)
    _set_awaits(records)
    if gpu.core == "cu":
        kinds.set_kinds(records, code)
    sleeps = op == OpClass.SLEEP
    bulk = (op == OpClass.BULK_COPY) | (op == OpClass.BULK_STORE)
    records["immediate"][bulk] = np.clip(code["immediate"][bulk], 0, LARGEST_COPY)
    records["immediate"][sleeps] = _sleep_cycles(code["immediate"][sleeps], gpu)
    records["immediate"][sleeps & (code["width"] > 0)] = round(gpu.clock_mhz * 1000)
    return records


def _set_control(records: np.ndarray, code: np.ndarray, control: bool) -> None:
    """What the compiler's bits ask for; where they do not count, nothing."""
    for name in ("stall", "yields", "wait_mask"):
        records[name] = code[name] if control else 0
    for name in ("write_barrier", "read_barrier"):
        records[name] = code[name] if control else NO_BARRIER
    records["reuse"] = np.where(code["reuse"] < 0, -1, code["reuse"] & KEPT) if control else -1


def _set_group_products(records: np.ndarray, code: np.ndarray, products: np.ndarray) -> None:
    """Products of a warpgroup: their time is in proportion to their columns, results are async.

    What lanes hold of the accumulators and of A is read while a product runs.
    """
    columns = np.maximum(records["immediate"][products], 1)
    interval = -(-columns * records["interval"][products] // PRODUCT_COLUMNS)
    records["interval"][products] = interval
    records["latency"][products] += interval
    counts = code["source_count"][products]
    listed = np.arange(counts.shape[1]) < code["sources"][products, None]
    held = listed & (code["source"][products] < PREDICATES) & (counts > DESCRIPTOR_REGISTERS)
    records["immediate"][products] = np.where(held, counts, 0).sum(axis=1)
    for name in ("destinations", "checks", "reads", "writes", "more_writes"):
        records[name][products] = 0


def _set_by_opcode(
    records: np.ndarray, text: np.ndarray, texts: Sequence[str], gpu: GPU, control: bool
) -> None:
    """What the GPU has for single opcodes of machine code, instead of their classes."""
    named, together = opcodes(gpu), dict.fromkeys(gpu.shared.together, 1)
    # np.unique would import masked arrays, which takes longer than a small kernel.
    for index in sorted(set(text[text < len(texts)].tolist())):
        of, opcode = text == index, texts[index]
        if (operation := by_opcode(named, opcode)) is not None:
            for name, value in operation._asdict().items():
                records[name][of] = value
        for table, field in (
            (gpu.sm.front_end.redirects, "redirect"),
            (gpu.shared.passes, "passes"),
        ):
            if (value := by_opcode(table, opcode)) is not None:
                records[field][of] = value
        records["together"][of] = by_opcode(together, opcode) or 0
        records["latency"][of] += by_opcode(gpu.shared.extra_latency, opcode) or 0
        if control:
            records["stall"][of] += by_opcode(gpu.sm.holds, opcode) or 0
        parts = opcode.split(".")
        if "SYS" in parts and gpu.sm.system_fence_round_trip:
            fences = of & (records["op"] == OpClass.FENCE)
            records["immediate"][fences] = gpu.sm.system_fence_round_trip
        if gpu.shared.rows and parts[0] in ("LDSM", "STSM"):
            records["rows"][of] = MATRIX_ROWS * next((int(n) for n in ("4", "2") if n in parts), 1)


def _set_slack(records: np.ndarray, gpu: GPU) -> None:
    """How long instructions may wait for their units: as long as those before them in the queue."""
    queues = [gpu.sm.unit_queues.get(unit.name, 0) for unit in gpu.sm.units]
    places = np.array([*queues, 0])[records["unit"]]  # -1: no unit
    for name, queue in gpu.sm.unit_queues.items():
        if name in OpClass.__members__:  # the others are units
            places[records["op"] == OpClass[name]] = queue
    records["slack"] = places * records["interval"]


def _set_awaits(records: np.ndarray) -> None:
    """What is left to wait for where all but the unit and the register ports is there."""
    alone = (records["unit"] >= 0) & (records["memory"] == 0)
    alone &= ~_SYNCHRONISES[records["op"]]
    unit, instances, slack = (records[n].astype(np.int64) for n in ("unit", "instances", "slack"))
    awaits = unit + 1 | instances << UNIT_BITS | slack << SLACK_PLACE
    records["awaits"] = np.where(alone, awaits, 0)


def _sleep_cycles(nanoseconds: np.ndarray, gpu: GPU) -> np.ndarray:
    """Core cycles of a sleep."""
    return np.ceil(np.clip(nanoseconds, 0, LONGEST_SLEEP) * (gpu.clock_mhz / 1000)).astype(np.int64)


def uses_control(kernel: Kernel, gpu: GPU) -> bool:
    """Whether dependences come from control bits; an error if they are demanded and absent."""
    known = len(kernel.code) > 0 and bool((kernel.code.instructions["stall"] != NO_CONTROL).all())
    wanted = gpu.sm.scheduler.dependence
    if wanted == "control" and not known:
        raise WorkloadError(
            f"kernel {kernel.id} ({kernel.name}): sm.scheduler.dependence is 'control', but its "
            "instructions carry no control bits; choose 'auto' or 'scoreboard'"
        )
    return known and wanted != "scoreboard"


def dependence(control: bool, gpu: GPU) -> str:
    """What holds instructions back until what they read is there."""
    if gpu.core == "cu":
        return "counters"  # of s_waitcnt
    return "control" if control else "scoreboard"


def _round_up(value: int, unit: int) -> int:
    return -(-value // unit) * unit


def cta_needs(kernel: Kernel, gpu: GPU) -> dict[str, int]:
    """Warps, registers and shared-memory bytes that one CTA occupies.

    A warp takes as many registers of an SM as if those of its sub-core were dealt to all of its
    kind that have room there: so no more are started than the sub-cores hold (CUDA's own
    calculator of occupancy; Southern Islands has scalar registers as well).
    """
    warps = kernel.warps
    fit = min(_warps_of_subcore(kernel, gpu).values())
    registers = gpu.sm.registers // gpu.sm.subcores // fit if fit else _warp_registers(kernel, gpu)
    registers *= warps
    shared = kernel.shared_bytes + gpu.shared.reserved_per_cta
    if shared:
        shared = _round_up(shared, gpu.shared.granularity)
    return {"warps": warps, "registers": registers, "shared": shared}


def occupancy(kernel: Kernel, gpu: GPU) -> tuple[int, str]:
    """CTAs of the kernel that fit on one SM, and what limits them.

    Raises :class:`WorkloadError` if not even one fits, and of a kernel whose warps have another
    size than the GPU's.
    """
    limits, fit = _limits(kernel, gpu), ctas_by_limit(kernel, gpu)
    limiter = min(fit, key=fit.__getitem__)
    if fit[limiter] == 0:
        have, need = limits[limiter]
        raise WorkloadError(
            f"kernel {kernel.id} ({kernel.name}): one CTA needs {need} {limiter}, "
            f"an SM of {gpu.name} has {have}"
        )
    return fit[limiter], limiter


def ctas_by_limit(kernel: Kernel, gpu: GPU) -> dict[str, int]:
    """CTAs of a kernel that find each of the things on one SM that they need any of."""
    return {name: have // need for name, (have, need) in _limits(kernel, gpu).items() if need}


def _limits(kernel: Kernel, gpu: GPU) -> dict[str, tuple[int, int]]:
    """What an SM has, and what a CTA needs of it, by name."""
    if kernel.warp_size != gpu.sm.warp_size:
        raise WorkloadError(
            f"kernel {kernel.id} ({kernel.name}): warps of {kernel.warp_size} threads; "
            f"those of {gpu.name} have {gpu.sm.warp_size}"
        )
    needs = cta_needs(kernel, gpu)
    limits = {
        "CTAs": (gpu.sm.ctas, 1),
        "warps": (gpu.sm.warps, needs["warps"]),
        "registers": (gpu.sm.registers, needs["registers"]),
        "shared memory": (gpu.shared.bytes, needs["shared"]),
    }
    if gpu.core == "cu":
        for name, fit in _warps_of_subcore(kernel, gpu).items():
            limits[name] = fit * gpu.sm.subcores, needs["warps"]
    return limits


def _warp_registers(kernel: Kernel, gpu: GPU) -> int:
    """Registers that are allocated for a warp."""
    registers = max(1, kernel.registers) * kernel.warp_size
    return _round_up(registers, gpu.sm.register_granularity)


def _warps_of_subcore(kernel: Kernel, gpu: GPU) -> dict[str, int]:
    """Warps of a kernel that find their registers in a sub-core, by kind of register."""
    fit = {"registers": gpu.sm.registers // gpu.sm.subcores // _warp_registers(kernel, gpu)}
    if gpu.core == "cu":
        scalars = _round_up(max(1, kernel.scalar_registers), gpu.cu.scalar_granularity)
        fit["scalar registers"] = gpu.cu.scalar_registers // scalars
    return fit


def _parameters(code: np.ndarray) -> np.ndarray:
    """How instructions read bank 0, by name: uniform loads and operands wait for it."""
    loads = (code["op"] == OpClass.LOAD) & (code["space"] == Space.CONSTANT) & (code["width"] == 0)
    uniform = loads & (code["destination"][:, 0] >= UNIFORM_REGISTERS)
    operands = (code["constant"] >= 0) & (code["constant"] < CONSTANT_BANK)
    return np.where(uniform | operands, AT_ISSUE, np.where(loads, LATE, 0))


def parameter_bytes(kernel: Kernel, gpu: GPU) -> int:
    """How far operands reach into bank 0 of constant memory, where a kernel's parameters lie."""
    if not gpu.constant.operand_bytes:
        return 0
    places = kernel.code.instructions["constant"]
    return int(places[places < CONSTANT_BANK].max(initial=NO_CONSTANT)) + 1


def l1_ways(kernel: Kernel, gpu: GPU) -> int:
    """Ways of the L1 while the kernel runs alone: what shared memory leaves of a unified memory."""
    capacity = gpu.l1.bytes
    if gpu.l1.carveouts:
        wanted = occupancy(kernel, gpu)[0] * cta_needs(kernel, gpu)["shared"]
        fitting = [size for size in sorted(gpu.l1.carveouts) if size >= wanted]
        capacity -= fitting[0] if fitting else max(gpu.l1.carveouts)
    return max(0, capacity) // (gpu.l1.sets * gpu.l1.line_bytes)
