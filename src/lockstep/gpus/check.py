"""What the parameters of a GPU must fulfil together, so that every accepted GPU can be simulated.

Single values are held to the ranges of the specification; the rules here join several of them.
Each yields what is wrong in one line that names the parameters, their values and the condition.
"""

import re
from collections.abc import Iterator

from lockstep.errors import SpecError, suggestion
from lockstep.gpus.check_coherence import coherence_problems
from lockstep.gpus.check_modules import module_problems
from lockstep.gpus.fields import accept, flatten
from lockstep.gpus.memory import L2
from lockstep.gpus.sm import ExecutionUnit
from lockstep.gpus.spec import GPU, L1
from lockstep.isa.instruction import OpClass
from lockstep.isa.sass.opcodes import is_known

MAX_SECTORS = 8  # sectors of a line that a request can name
WAVEFRONT = 64  # work-items of a CU's wavefront
LONGEST_LOAD = 64  # bytes that a scalar load brings, so that it touches two lines at most
MOST_WARPS = 63  # of a sub-core: bits of a mask
GCN = ("v_", "s_", "ds_", "buffer_", "tbuffer_", "image_")  # what its mnemonics begin with
_TIMING = re.compile(r"n[A-Z][A-Za-z0-9]{0,15}", re.ASCII)


def check(gpu: GPU) -> GPU:
    """Return ``gpu``, or raise :class:`SpecError` for the first thing that is wrong with it."""
    table = flatten(gpu)
    for path, value in table.items():
        accept(path, value, table)
    for rule in RULES:
        for problem in rule(gpu):
            raise SpecError(problem)
    return gpu


def _units(gpu: GPU) -> Iterator[str]:
    seen: dict[str, str] = {}
    for unit in gpu.sm.units:
        yield from _unit(unit)
        for operation in unit.operations:
            if operation in seen:
                yield (
                    f"{operation} is an operation of both sm.units.{seen[operation]} and "
                    f"sm.units.{unit.name}: expected one unit for a class"
                )
            seen[operation] = unit.name
    names = [unit.name for unit in gpu.sm.units]
    for name in gpu.sm.unit_queues:
        if name not in names and name not in seen:
            hint = suggestion(name, [*names, *seen])
            yield f"sm.unit_queues.{name}: expected the name of a unit or of a class of its{hint}"
    if len(set(names)) < len(names):
        yield f"sm.units are named {', '.join(names)}: expected different names"
    if "FP32" not in seen:
        yield "no unit in sm.units executes FP32: expected one, the others fall back to it"


def _unit(unit: ExecutionUnit) -> Iterator[str]:
    place = f"sm.units.{unit.name}"
    if not unit.operations:
        yield f"{place}.operations is empty: expected at least one operation class"
    classes = OpClass.__members__
    for table in ("operations", "intervals", "instances"):
        for name in getattr(unit, table):
            if name not in classes and not _is_opcode(name):
                hint = suggestion(name, classes)
                yield f"{place}.{table}.{name}: expected the name of an operation class{hint}"
    for table in ("intervals", "instances"):
        for name in getattr(unit, table):
            if name not in unit.operations:
                yield f"{place}.{table}.{name}: {name} is not in {place}.operations"
    for name, number in unit.instances.items():
        if number > unit.count:
            yield f"{place}.instances.{name} is {number}: expected at most count, {unit.count}"


def _is_opcode(name: str) -> bool:
    """Whether a name is that of machine code, with its first modifiers or without."""
    return is_known(name.partition("_")[0], 0) or name.startswith(GCN)


def _opcodes(gpu: GPU) -> Iterator[str]:
    """Tables by opcode alone."""
    for place, table in (
        ("sm.holds", gpu.sm.holds),
        ("sm.front_end.redirects", gpu.sm.front_end.redirects),
        ("shared.passes", gpu.shared.passes),
        ("shared.together", gpu.shared.together),
        ("shared.extra_latency", gpu.shared.extra_latency),
    ):
        for name in table:
            if not _is_opcode(name):
                yield f"{place}.{name}: expected an opcode of machine code, _ for each dot"


def _sm(gpu: GPU) -> Iterator[str]:
    sm, fetch, constant = gpu.sm, gpu.sm.front_end, gpu.constant
    if sm.warps < sm.subcores:
        yield f"sm.warps = {sm.warps}: expected at least sm.subcores = {sm.subcores}"
    if sm.warps > MOST_WARPS * sm.subcores:
        yield (
            f"sm.warps = {sm.warps}: expected at most {MOST_WARPS} on each of "
            f"sm.subcores = {sm.subcores}"
        )
    yield from _power_of_two("shared.pass_lanes", gpu.shared.pass_lanes)
    yield from _power_of_two("sm.front_end.line_bytes", fetch.line_bytes)
    yield from _capacity(
        "sm.front_end.l0_bytes", fetch.l0_bytes, "l0_ways", fetch.l0_ways, fetch.line_bytes
    )
    yield from _capacity(
        "sm.front_end.l1_bytes", fetch.l1_bytes, "l1_ways", fetch.l1_ways, fetch.line_bytes
    )
    yield from _power_of_two("constant.line_bytes", constant.line_bytes)
    yield from _capacity(
        "constant.bytes", constant.bytes, "ways", constant.ways, constant.line_bytes
    )
    yield from _capacity(
        "constant.operand_bytes",
        constant.operand_bytes,
        "operand_ways",
        constant.operand_ways,
        constant.line_bytes,
    )
    if constant.miss_latency < constant.latency:
        yield (
            f"constant.miss_latency = {constant.miss_latency}: expected at least "
            f"constant.latency = {constant.latency}"
        )


def _lines(gpu: GPU) -> Iterator[str]:
    yield from _power_of_two("l1.tag_banks", gpu.l1.tag_banks)
    if gpu.l1.tag_banks == 1:
        yield "l1.tag_banks = 1: expected 0, or at least 2"
    for name, cache in (("l1", gpu.l1), ("l2", gpu.l2)):
        line, sector = cache.line_bytes, cache.sector_bytes
        yield from _power_of_two(f"{name}.line_bytes", line)
        yield from _power_of_two(f"{name}.sector_bytes", sector)
        if not sector <= line <= MAX_SECTORS * sector:
            yield (
                f"{name}.line_bytes = {line}: expected 1 to {MAX_SECTORS} sectors of "
                f"{name}.sector_bytes = {sector}"
            )
    for field in ("line_bytes", "sector_bytes"):
        if getattr(gpu.l1, field) != getattr(gpu.l2, field):
            yield (
                f"l1.{field} = {getattr(gpu.l1, field)} and l2.{field} = "
                f"{getattr(gpu.l2, field)}: expected equal, a miss names sectors of a line"
            )


def _l1(gpu: GPU) -> Iterator[str]:
    l1, shared = gpu.l1, gpu.shared
    largest = max(l1.carveouts, default=0)
    if list(l1.carveouts) != sorted(set(l1.carveouts)):
        yield f"l1.carveouts = {_list(l1.carveouts)}: expected different sizes in rising order"
    if l1.carveouts and largest < shared.bytes:
        yield (
            f"shared.bytes = {shared.bytes}: expected at most the largest of l1.carveouts = "
            f"{_list(l1.carveouts)}"
        )
    least = l1.sets * l1.line_bytes
    if l1.bytes - largest < least:
        taken = f" after the largest of l1.carveouts, {largest}" if largest else ""
        yield (
            f"l1.bytes = {l1.bytes}: expected at least {least} bytes{taken} "
            f"(one line in each of l1.sets = {l1.sets})"
        )


def _l2(gpu: GPU) -> Iterator[str]:
    l2 = gpu.l2
    if l2.interleave_bytes % l2.line_bytes:
        yield (
            f"l2.interleave_bytes = {l2.interleave_bytes}: expected a multiple of "
            f"l2.line_bytes = {l2.line_bytes}"
        )
    if l2.neighbours > 1 and l2.mshr_full == "nack":
        yield (
            f"l2.neighbours = {l2.neighbours}: expected 1, because l2.mshr_full is nack: who "
            "joined a read cannot be refused with it"
        )
    if l2.side_reads == "home" and l2.sides > gpu.dram.channels:
        yield f"l2.sides = {l2.sides}: expected at most dram.channels = {gpu.dram.channels}"
    if l2.side_reads == "near" and l2.slices_per_channel % l2.sides:
        yield (
            f"l2.slices_per_channel = {l2.slices_per_channel}: expected a multiple of "
            f"l2.sides = {l2.sides}, because l2.side_reads is near"
        )


def _latencies(gpu: GPU) -> Iterator[str]:
    crossing = 2 * gpu.interconnect.latency
    if gpu.l2.latency <= gpu.l1.latency + crossing:
        yield (
            f"l2.latency = {gpu.l2.latency}: expected more than l1.latency = {gpu.l1.latency} "
            f"plus twice interconnect.latency = {gpu.interconnect.latency}"
        )
    if gpu.dram.latency <= gpu.l2.latency:
        yield f"dram.latency = {gpu.dram.latency}: expected more than l2.latency = {gpu.l2.latency}"


def _dram(gpu: GPU) -> Iterator[str]:
    dram, sector, line = gpu.dram, gpu.l2.sector_bytes, gpu.l2.line_bytes
    burst = dram.bus_bytes * dram.burst_length
    if sector % burst and (burst % sector or gpu.l2.line_bytes % burst):
        yield (
            f"dram.bus_bytes = {dram.bus_bytes} times dram.burst_length = {dram.burst_length}: "
            f"expected a divisor of l2.sector_bytes = {sector}, or sectors of one line"
        )
    if dram.row_bytes % line:
        yield f"dram.row_bytes = {dram.row_bytes}: expected a multiple of l2.line_bytes = {line}"
    if dram.banks % dram.bank_groups:
        yield (
            f"dram.bank_groups = {dram.bank_groups}: expected a divisor of "
            f"dram.banks = {dram.banks}"
        )
    if dram.drain_low >= dram.drain_high:
        yield (
            f"dram.drain_low = {dram.drain_low:g}: expected less than "
            f"dram.drain_high = {dram.drain_high:g}"
        )
    yield from _timing(gpu)


def _timing(gpu: GPU) -> Iterator[str]:
    timing = gpu.dram.timing
    for name in timing:
        if not _TIMING.fullmatch(name):
            yield f"dram.timing.{name}: expected a name such as nRCD"
    if gpu.dram.refresh and "nREFI" in timing and timing["nREFI"] < 2 * timing.get("nRFC", 1):
        yield (
            f"dram.timing.nREFI = {timing['nREFI']}: expected at least twice dram.timing.nRFC = "
            f"{timing.get('nRFC', 1)}, or nothing but refreshes would be issued"
        )


def _sizes(gpu: GPU) -> Iterator[str]:
    """Products that would need gigabytes of state, though each factor is in its range."""
    sms, slices = gpu.sm.count, gpu.dram.channels * gpu.l2.slices_per_channel
    fetch = gpu.sm.front_end
    code = gpu.sm.subcores * fetch.l0_bytes + fetch.l1_bytes
    constants = gpu.sm.subcores * gpu.constant.operand_bytes + gpu.constant.bytes
    buffers = gpu.interconnect.buffer + gpu.interconnect.reply_buffer
    for what, size, limit in (
        ("sm.count x sm.warps", sms * gpu.sm.warps, 1 << 17),
        ("sm.count x sm.memory.outstanding", sms * gpu.sm.memory.outstanding, 1 << 22),
        ("sm.count x l1.bytes", sms * gpu.l1.bytes, 1 << 30),
        ("sm.count x l1.mshr_entries x l1.mshr_merges", sms * _mshr(gpu.l1), 1 << 24),
        ("sm.count x l1.miss_queue", sms * gpu.l1.miss_queue, 1 << 22),
        ("bytes of all instruction caches", sms * code, 1 << 30),
        ("bytes of all constant caches", sms * constants, 1 << 30),
        ("dram.channels x l2.slices_per_channel", slices, 1 << 14),
        ("bytes of all L2 slices", slices * gpu.l2.sets * gpu.l2.ways * gpu.l2.line_bytes, 1 << 30),
        ("slices x l2.mshr_entries x l2.mshr_merges", slices * _mshr(gpu.l2), 1 << 24),
        ("slices x l2.queue", slices * gpu.l2.queue, 1 << 22),
        ("crossbar buffers of all SMs and channels", sms * gpu.dram.channels * buffers, 1 << 22),
    ):
        if size > limit:
            yield f"{what} = {size}: expected at most {limit}, or its state needs gigabytes"


def _mshr(cache: L1 | L2) -> int:
    return cache.mshr_entries * cache.mshr_merges


def _power_of_two(path: str, value: int) -> Iterator[str]:
    if value & (value - 1):
        yield f"{path} = {value}: expected a power of two"


def _capacity(path: str, size: int, ways_name: str, ways: int, line: int) -> Iterator[str]:
    if 0 < size < ways * line:
        yield (
            f"{path} = {size}: expected 0 or at least {ways * line} bytes "
            f"({ways_name} = {ways} lines of {line} bytes)"
        )


def _list(values: tuple[int, ...]) -> str:
    return ",".join(map(str, values))


def _cu(gpu: GPU) -> Iterator[str]:
    if gpu.core != "cu":
        return
    if gpu.sm.warp_size != WAVEFRONT:
        yield f"sm.warp_size = {gpu.sm.warp_size}: expected {WAVEFRONT}, because core is cu"
    if not gpu.sm.exit_waits:
        yield "sm.exit_waits = false: expected true, because core is cu"
    fetch, line = gpu.sm.front_end, gpu.l1.line_bytes
    if line < LONGEST_LOAD:
        yield f"l1.line_bytes = {line}: expected at least {LONGEST_LOAD}, because core is cu"
    for name, size in (
        ("sm.front_end.line_bytes", fetch.line_bytes),
        ("constant.line_bytes", gpu.constant.line_bytes),
    ):
        if size != line:
            yield f"{name} = {size}: expected l1.line_bytes = {line}, because core is cu"
    if fetch.line_bytes % gpu.cu.fetch_bytes:
        yield (
            f"cu.fetch_bytes = {gpu.cu.fetch_bytes}: expected a divisor of "
            f"sm.front_end.line_bytes = {fetch.line_bytes}"
        )


def _vmu(gpu: GPU) -> Iterator[str]:
    vmu = gpu.vmu
    alone = {"vmu.join": "coalesce", "vmu.phases": 1, "vmu.order": "line"}
    queued = {"l1.waiting": 0, "l1.tag_banks": 0}
    values = {name: getattr(vmu, name.partition(".")[2]) for name in alone}
    values |= {name: getattr(gpu.l1, name.partition(".")[2]) for name in queued}
    for name, expected in (queued if vmu.ports else alone).items():
        if values[name] != expected:
            because = f"because vmu.ports is {vmu.ports}"
            yield f"{name} = {values[name]}: expected {expected}, {because}"
    if vmu.ports and gpu.core != "cu":
        yield f"vmu.ports = {vmu.ports}: expected 0, because core is {gpu.core}"


def _host(gpu: GPU) -> Iterator[str]:
    host = gpu.host
    if host.memory != "discrete" and host.copy != "timed":
        yield f"host.memory = {host.memory}: expected host.copy = timed"
    if host.migration_bytes & (host.migration_bytes - 1):
        yield f"host.migration_bytes = {host.migration_bytes}: expected a power of two"
    if host.copy == "timed" and gpu.coherence.protocol != "none":
        yield ("host.copy = timed: expected coherence.protocol = none: no L1 hears of copies")
    if host.memory == "migrating" and gpu.core == "cu":
        yield "host.memory = migrating: expected core = sm, whose memory alone can wait for pages"


RULES = (
    _units,
    _opcodes,
    _sm,
    _cu,
    _vmu,
    _lines,
    _l1,
    _l2,
    _latencies,
    _dram,
    coherence_problems,
    _sizes,
    _host,
    module_problems,
)
