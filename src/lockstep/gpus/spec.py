"""What a GPU is, as a frozen, typed specification: every parameter once, with unit and range.

The documentation, the command line's help and the error messages all come from the annotations
here. The numbers live in one data file a GPU beside this file, each with its source. Latencies
that a user can measure (``l1.latency``, ``l2.latency``, ``dram.latency``) are load-to-use
latencies of a dependent single-warp probe; the model derives its internal delays from them.
"""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta


def _int(low: int, high: int, unit: str, meaning: str):
    return Annotated[int, Meta(ge=low, le=high, description=meaning, title=unit)]


def _float(low: float, high: float, unit: str, meaning: str):
    return Annotated[float, Meta(ge=low, le=high, description=meaning, title=unit)]


class Spec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Base of all specifications: immutable, no unknown fields.

    msgspec does not inherit ``kw_only``, so every specification says it again.
    """


class ExecutionUnit(Spec, kw_only=True):
    """One kind of execution unit. A new kind is a new entry here, never new code."""

    name: str
    operations: Annotated[
        dict[str, Annotated[int, Meta(ge=1, le=4096)]],
        Meta(description="operation class -> cycles until a dependent instruction may issue"),
    ]
    lanes: _int(1, 64, "threads/cycle", "threads that one unit starts a cycle")
    count: _int(1, 32, "units", "units of this kind in each scope") = 1
    scope: Annotated[
        Literal["subcore", "sm"],
        Meta(description="who owns it: each sub-core, or the SM for all of them"),
    ] = "subcore"
    intervals: Annotated[
        dict[str, Annotated[int, Meta(ge=1, le=4096)]],
        Meta(description="operation class -> cycles between two starts, where 32/lanes is wrong"),
    ] = {}


class Scheduler(Spec, kw_only=True):
    """Warp schedulers, one a sub-core."""

    policy: Annotated[
        Literal["gto", "lrr", "gty", "oldest"],
        Meta(
            description="greedy then oldest, loose round-robin, greedy then youngest, oldest first"
        ),
    ] = "gto"
    issue_width: _int(1, 2, "instructions/cycle", "instructions of one warp issued a cycle") = 1
    dependence: Annotated[
        Literal["auto", "scoreboard", "control"],
        Meta(description="auto: the compiler's control bits where the front end has them"),
    ] = "auto"


class FrontEnd(Spec, kw_only=True):
    """Instruction fetch: an L0 cache a sub-core with a stream buffer, and the SM's L1 cache."""

    line_bytes: _int(16, 1024, "bytes", "instruction cache line") = 128
    l0_bytes: _int(0, 1 << 24, "bytes", "L0 instruction cache a sub-core; 0 = perfect") = 12288
    l0_ways: _int(1, 64, "ways", "associativity of L0") = 4
    l1_bytes: _int(0, 1 << 26, "bytes", "L1 (L1.5) instruction cache an SM; 0 = perfect") = 131072
    l1_ways: _int(1, 64, "ways", "associativity of the L1 instruction cache") = 8
    stream_buffer: _int(0, 64, "lines", "lines prefetched after an L0 miss; 0 = none") = 8
    l1_latency: _int(1, 4096, "cycles", "L0 miss that hits the L1 instruction cache") = 20
    l2_latency: _int(1, 8192, "cycles", "L1 instruction cache miss") = 200
    buffer: _int(1, 64, "instructions", "instruction buffer of a warp: how far fetch is ahead") = 3
    redirect: _int(0, 256, "cycles", "taken branch to next issue of the warp, buffer refilled") = 8
    divergence: _int(
        0, 256, "cycles", "that a warp waits when its active lanes change: paths part or meet"
    ) = 0


class Operands(Spec, kw_only=True):
    """How operands leave the register file."""

    style: Annotated[
        Literal["ports", "collectors"],
        Meta(description="ports: a fixed read window; collectors: operand collectors"),
    ] = "ports"
    banks: _int(1, 64, "banks", "register banks a sub-core") = 2
    window: _int(1, 16, "cycles", "operand read window of a fixed-latency instruction") = 3
    collectors: _int(1, 64, "units", "operand collectors a sub-core (style collectors)") = 4
    reuse_cache: Annotated[bool, Meta(description="register-file cache, filled by reuse bits")] = (
        True
    )
    result_queue: Annotated[
        bool,
        Meta(
            description="a write port a bank: results of fixed latency are queued for it and never "
            "late, those of loads wait (style ports)"
        ),
    ] = True


class MemoryPipeline(Spec, kw_only=True):
    """From issue to the L1 and shared memory."""

    queue: _int(1, 256, "instructions", "memory instructions waiting a sub-core") = 4
    address_interval: _int(1, 64, "cycles", "address generation a sub-core, per instruction") = 4
    wide_address_interval: _int(
        1, 64, "cycles", "the same where addresses have 64 bits: global and generic memory"
    ) = 4
    accept_interval: _int(1, 64, "cycles", "SM-wide arbiter: cycles per accepted instruction") = 1
    coalescer: Annotated[
        Literal["sector", "line"],
        Meta(description="sector: 8-thread groups into sectors; line: the warp into whole lines"),
    ] = "sector"
    outstanding: _int(1, 4096, "instructions", "memory instructions in flight an SM") = 256


class SharedMemory(Spec, kw_only=True):
    """Banked scratchpad."""

    bytes: _int(0, 1 << 24, "bytes", "largest amount an SM's CTAs can have together")
    cta_bytes: _int(0, 1 << 24, "bytes", "largest amount of one CTA that opts in") = 49152
    reserved_per_cta: _int(0, 65536, "bytes", "taken by the system for each CTA") = 0
    granularity: _int(1, 65536, "bytes", "allocation granularity") = 256
    banks: _int(1, 256, "banks", "banks") = 32
    bank_bytes: _int(1, 64, "bytes", "width of a bank") = 4
    latency: _int(2, 4096, "cycles", "load-to-use without conflicts")
    pass_latency: _int(
        1, 64, "cycles", "a pass over the banks for a sub-core; the SM begins one a cycle"
    ) = 1
    remote_latency: _int(2, 4096, "cycles", "the same of another CTA of the cluster") = 180
    remote_interval: _int(
        1, 256, "cycles", "for which a pass in another CTA's shared memory keeps the SM's arbiter"
    ) = 1

    @property
    def most_cta_bytes(self) -> int:
        """Static and dynamic shared memory of one CTA at most, in what an SM has."""
        return max(min(self.cta_bytes, self.bytes - self.reserved_per_cta), 0)


class L1(Spec, kw_only=True):
    """Data cache of an SM. Unified with shared memory where carve-outs are given."""

    bytes: _int(0, 1 << 26, "bytes", "capacity; unified with shared memory if carveouts are given")
    carveouts: Annotated[
        tuple[Annotated[int, Meta(ge=0, le=1 << 26)], ...],
        Meta(description="shared-memory sizes in bytes that the unified memory can be split at"),
    ] = ()
    sets: _int(1, 65536, "sets", "sets; associativity follows from the capacity") = 4
    line_bytes: _int(32, 1024, "bytes", "line") = 128
    sector_bytes: _int(32, 1024, "bytes", "sector; equal to the line for a cache without") = 32
    latency: _int(2, 4096, "cycles", "load-to-use of a hit")
    banks: _int(1, 64, "banks", "banks, interleaved by sector") = 4
    tag_banks: _int(
        0,
        64,
        "banks",
        "lines looked up in a cycle, one a bank; loads then take as many cycles as their words are"
        " in one bank of shared memory; 0 = banks of sectors alone",
    ) = 0
    bytes_per_cycle: _int(1, 4096, "bytes/cycle", "data read out in a cycle") = 128
    allocate: Annotated[
        Literal["fill", "miss"],
        Meta(description="fill: streaming, misses in flight hold no line; miss: reserves a line"),
    ] = "fill"
    replacement: Annotated[
        Literal["lru", "fifo", "random"],
        Meta(description="victim of a full set"),
    ] = "lru"
    hash: Annotated[
        Literal["linear", "xor", "ipoly"],
        Meta(description="line address to set"),
    ] = "linear"
    write: Annotated[
        Literal["through", "evict"],
        Meta(description="global stores: through updates a hit line, evict drops it"),
    ] = "through"
    cache_global: Annotated[bool, Meta(description="global loads are cached by default")] = True
    mshr_entries: _int(1, 65536, "entries", "lines with misses in flight") = 512
    mshr_merges: _int(1, 65536, "requests", "requests that can wait on one entry") = 8
    miss_queue: _int(1, 65536, "requests", "requests waiting to enter the interconnect") = 16

    @property
    def cycle_sectors(self) -> int:
        """Sectors read out in a cycle: whole ones, whatever ``bytes_per_cycle``."""
        return max(1, self.bytes_per_cycle // self.sector_bytes)


class ConstantCache(Spec, kw_only=True):
    """Constant caches: the SM's for loads, and each sub-core's for operands of arithmetic."""

    bytes: _int(0, 1 << 24, "bytes", "capacity; 0 = perfect") = 2048
    ways: _int(1, 64, "ways", "associativity") = 4
    line_bytes: _int(16, 1024, "bytes", "line, of the caches of operands too") = 64
    latency: _int(1, 4096, "cycles", "load-to-use of a hit (LDC)") = 26
    miss_latency: _int(
        1, 8192, "cycles", "load-to-use of a miss that hits the SM's L1 instruction cache"
    ) = 120
    operand_bytes: _int(
        0, 1 << 24, "bytes", "a sub-core's cache of constant operands; 0 = they are always there"
    ) = 0
    operand_ways: _int(1, 64, "ways", "its associativity") = 2
    operand_miss_latency: _int(
        1,
        8192,
        "cycles",
        "by which a constant operand that the SM's L1 instruction cache has, "
        "but not the sub-core, delays its instruction",
    ) = 79
    operand_hold: _int(
        1,
        4096,
        "cycles",
        "for which a sub-core waits for an absent constant operand, at most, "
        "before it issues from another warp",
    ) = 4


class SM(Spec, kw_only=True):
    """Streaming multiprocessor."""

    count: _int(1, 4096, "SMs", "streaming multiprocessors")
    gpcs: _int(1, 64, "GPCs", "groups of SMs; the CTAs of a cluster run in one of them") = 1
    subcores: _int(1, 16, "sub-cores", "sub-cores, each with a warp scheduler") = 4
    warps: _int(1, 256, "warps", "resident warps")
    ctas: _int(1, 128, "CTAs", "resident CTAs")
    registers: _int(32, 1 << 22, "registers", "32-bit registers") = 65536
    register_granularity: _int(1, 4096, "registers", "register allocation unit of a warp") = 256
    barrier_latency: _int(1, 256, "cycles", "last arrival to issue of the released warps")
    barrier_interval: _int(
        0, 64, "cycles", "that the SM's barrier unit takes for each warp that arrives"
    ) = 0
    named_barrier_latency: _int(
        0, 256, "cycles", "by which a barrier other than 0, or of a stated number, opens later"
    ) = 0
    cluster_barrier_latency: _int(1, 4096, "cycles", "the same of the barrier of a cluster") = 180
    fence_latency: _int(1, 4096, "cycles", "memory fence, after all outstanding has ended") = 16
    fence_round_trip: _int(
        0, 8192, "cycles", "memory fence of the GPU at least, whatever is outstanding"
    ) = 0
    scheduler: Scheduler = Scheduler()
    front_end: FrontEnd = FrontEnd()
    operands: Operands = Operands()
    units: tuple[ExecutionUnit, ...]
    memory: MemoryPipeline = MemoryPipeline()


class Interconnect(Spec, kw_only=True):
    """Crossbar between SMs and memory partitions: two networks, requests and replies."""

    latency: _int(1, 4096, "core cycles", "one way, without contention; also the time window")
    clock_mhz: _float(1, 20000, "MHz", "clock of the crossbar ports")
    flit_bytes: _int(8, 512, "bytes", "data a port moves a cycle besides the header") = 32
    reply_header_bytes: _int(0, 512, "bytes", "header of a reply with data, beside the data") = 16
    buffer: _int(1, 4096, "messages", "credits of each source at each destination") = 16
    reply_buffer: _int(1, 4096, "messages", "the same, of the reply network") = 32


class L2(Spec, kw_only=True):
    """Level-2 cache: slices, grouped by memory partition (one DRAM channel each)."""

    slices_per_channel: _int(1, 64, "slices", "slices a memory channel") = 2
    sets: _int(1, 1 << 20, "sets", "sets a slice")
    ways: _int(1, 256, "ways", "associativity")
    line_bytes: _int(32, 1024, "bytes", "line") = 128
    sector_bytes: _int(32, 1024, "bytes", "sector") = 32
    latency: _int(2, 8192, "core cycles", "load-to-use of an L1 miss that hits the L2")
    clock_mhz: _float(1, 20000, "MHz", "clock of the slices")
    bytes_per_cycle: _int(1, 1024, "bytes/L2 cycle", "data a slice reads or writes in a cycle") = 32
    mshr_entries: _int(1, 65536, "entries", "sectors with misses in flight, a slice") = 192
    mshr_merges: _int(1, 65536, "requests", "requests that can wait on one entry") = 4
    mshr_full: Annotated[
        Literal["stall", "nack"],
        Meta(description="a full MSHR file stalls the slice, or refuses and lets the SM retry"),
    ] = "stall"
    nack_retry: _int(1, 4096, "core cycles", "wait of an SM before it repeats a request") = 64
    queue: _int(1, 4096, "requests", "input queue of a slice") = 32
    write_allocate: Annotated[
        Literal["validate", "fetch"],
        Meta(description="validate: byte masks, no fetch; fetch: a write miss reads the sector"),
    ] = "validate"
    replacement: Annotated[
        Literal["lru", "fifo", "random"],
        Meta(description="victim of a full set"),
    ] = "lru"
    slice_hash: Annotated[
        Literal["ipoly", "linear", "xor"],
        Meta(description="address to slice"),
    ] = "ipoly"
    set_hash: Annotated[
        Literal["linear", "xor", "ipoly"],
        Meta(description="line address to set of a slice"),
    ] = "linear"
    interleave_bytes: _int(32, 1 << 20, "bytes", "consecutive bytes of one slice") = 256
    sides: _int(1, 8, "partitions", "partitions of the chip; another one is a hop away") = 1
    far_latency: _int(0, 4096, "core cycles", "extra load-to-use latency of the far side") = 0
    side_reads: Annotated[
        Literal["home", "near"],
        Meta(
            description="home: every side reads from the line's slice; near: from a slice of its "
            "own side, which keeps a copy"
        ),
    ] = "home"
    side_bytes_per_cycle: _int(
        0, 1 << 20, "bytes/core cycle", "that can cross to a side (side_reads near); 0 = any number"
    ) = 0
    atomic_interval: _float(
        0.0625, 64, "L2 cycles", "between two atomic operations on a sector, or on one word"
    ) = 1.0


class Dram(Spec, kw_only=True):
    """Device memory: one controller a channel."""

    standard: Annotated[str, Meta(description="table of timing constraints, by name")]
    capacity: _int(1, 1024, "GiB", "memory of the device, as programs see it") = 16
    channels: _int(1, 1024, "channels", "channels, each with its L2 slices")
    clock_mhz: _float(1, 40000, "MHz", "command clock")
    bus_bytes: _int(1, 256, "bytes", "data bus of a channel")
    burst_length: _int(1, 64, "beats", "beats of a burst")
    beats_per_clock: _int(1, 8, "beats", "data beats in a command clock") = 2
    latency: _int(2, 16384, "core cycles", "load-to-use of an L2 miss to an idle, closed bank")
    timing: Annotated[
        dict[str, Annotated[int, Meta(ge=0, le=1_000_000)]],
        Meta(description="the standard's parameters (nRCD, nCL ...) in command clocks"),
    ]
    banks: _int(1, 256, "banks", "banks a channel") = 16
    bank_groups: _int(1, 64, "groups", "bank groups a channel") = 4
    row_bytes: _int(64, 1 << 20, "bytes", "row of a bank") = 2048
    dual_command_bus: Annotated[bool, Meta(description="row and column commands together")] = False
    scheduler: Annotated[
        Literal["frfcfs", "fcfs"],
        Meta(description="frfcfs: row hits first, then oldest; fcfs: oldest"),
    ] = "frfcfs"
    page: Annotated[
        Literal["open", "closed"],
        Meta(description="closed: a row is closed after its last waiting access"),
    ] = "open"
    read_queue: _int(1, 4096, "requests", "read queue") = 64
    write_queue: _int(1, 4096, "requests", "write queue") = 64
    drain_high: _float(0.0, 1.0, "fraction", "write queue filling at which writes take over") = 0.75
    drain_low: _float(0.0, 1.0, "fraction", "write queue filling at which reads resume") = 0.25
    bank_hash: Annotated[
        Literal["xor", "linear"],
        Meta(description="address to bank"),
    ] = "xor"
    refresh: Annotated[bool, Meta(description="refresh commands are issued")] = True


class Launch(Spec, kw_only=True):
    """What a kernel launch costs."""

    overhead: _int(0, 1_000_000, "core cycles", "kernel start until the first CTA is dispatched")
    warp_interval: _float(
        0, 64, "core cycles", "between the starts of two warps on an SM; 0 = a CTA's start together"
    ) = 0.0
    cta_interval: _float(0.01, 4096, "core cycles", "between two CTA dispatches, GPU-wide") = 1.0
    concurrent_kernels: _int(1, 1024, "kernels", "kernels of different streams at a time") = 32
    flush_l1: Annotated[bool, Meta(description="kernels start with an empty L1")] = True
    l2: Annotated[
        Literal["kept", "flush", "replay"],
        Meta(
            description="the L2 at a kernel's start: kept as the program left it; flush: empty; "
            "replay: as a profiler leaves it that saves memory to run a kernel several times"
        ),
    ] = "kept"


class GPU(Spec, kw_only=True):
    """A whole GPU."""

    name: str
    description: Annotated[str, Meta(description="the product that is modelled")]
    architectures: Annotated[
        tuple[Annotated[int, Meta(ge=1, le=9999)], ...],
        Meta(description="SASS binary versions that run natively"),
    ]
    clock_mhz: _float(1, 20000, "MHz", "core clock: the unit of every cycle count")
    validated: Annotated[
        tuple[str, ...], Meta(description="what hardware measurements it was compared with")
    ] = ()
    launch: Launch
    sm: SM
    shared: SharedMemory
    l1: L1
    constant: ConstantCache = ConstantCache()
    interconnect: Interconnect
    l2: L2
    dram: Dram

    def replace(self, **changes: object) -> "GPU":
        """A copy with parameters changed, by dotted name: ``gpu.replace(**{"sm.count": 40})``.

        Raises :class:`~lockstep.errors.SpecError` as ``lockstep.gpus.library.replace`` does.
        """
        from lockstep.gpus import library  # it builds on this module

        return library.replace(self, **changes)
