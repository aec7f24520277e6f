"""What a GPU is, as a frozen, typed specification: every parameter once, with unit and range.

The documentation, the command line's help and the error messages all come from the annotations
here. The numbers live in one data file a GPU beside this file, each with its source. Latencies
that a user can measure (``l1.latency``, ``l2.latency``, ``dram.latency``) are load-to-use
latencies of a dependent single-warp probe; the model derives its internal delays from them.
"""

from typing import Annotated, Literal

from msgspec import Meta, field

from lockstep.gpus.ranges import Spec
from lockstep.gpus.ranges import integer as _int
from lockstep.gpus.ranges import number as _float
from lockstep.gpus.sm import SM


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
    passes: Annotated[
        dict[str, Annotated[int, Meta(ge=1, le=64)]],
        Meta(description="opcode, with _ for each dot -> passes where another takes one"),
    ] = field(default_factory=dict)
    together: Annotated[
        tuple[str, ...],
        Meta(description="opcodes of which lanes at one word share a pass, though they are atomic"),
    ] = ()
    extra_latency: Annotated[
        dict[str, Annotated[int, Meta(ge=1, le=256)]],
        Meta(description="opcode, with _ for each dot -> cycles by which it takes longer"),
    ] = field(default_factory=dict)
    rows: Annotated[
        bool,
        Meta(description="LDSM and STSM access rows of as many matrices as they name, not four"),
    ] = False
    wide_passes: Annotated[
        bool,
        Meta(
            description="lanes with one address take as many passes as others with 64 or 128 "
            "bits each, and two halves, or quarters, of a load one pass if that has no conflict; "
            "else lanes with one address take one"
        ),
    ] = False
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
        Literal["lru", "fifo", "nru", "random"],
        Meta(description="victim of a full set; nru: one not touched lately, by lot"),
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
    first_latency: _int(
        0,
        8192,
        "cycles",
        "from the start of a launch's first CTA on an SM until that has bank 0",
    ) = 0
    operand_hold: _int(
        1,
        4096,
        "cycles",
        "for which a sub-core waits for an absent constant operand, at most, "
        "before it issues from another warp",
    ) = 4


class Interconnect(Spec, kw_only=True):
    """Crossbar between SMs and memory partitions: two networks, requests and replies."""

    latency: _int(1, 4096, "core cycles", "one way, without contention; also the time window")
    clock_mhz: _float(1, 20000, "MHz", "clock of the crossbar ports")
    flit_bytes: _int(8, 512, "bytes", "data a port moves a cycle besides the header") = 32
    reply_header_bytes: _int(0, 512, "bytes", "header of a reply with data, beside the data") = 16
    atomic_sector_interval: _float(
        0, 64, "core cycles", "of an SM's port for each further sector of an atomic operation"
    ) = 0.0
    atomic_word_interval: _float(
        0, 64, "core cycles", "of an SM's port for each of the lanes on one word, at least"
    ) = 0.0
    atomic_result_interval: _float(
        0, 64, "core cycles", "between the results of lanes on one word; 0 = they come at once"
    ) = 0.0
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
        Literal["lru", "fifo", "nru", "random"],
        Meta(description="victim of a full set; nru: one not touched lately, by lot"),
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
    far_fill_latency: _int(
        0,
        4096,
        "core cycles",
        "the same of what comes from the far side's DRAM; 0 = as far_latency",
    ) = 0
    neighbours: _int(
        1, 64, "SMs", "of a TPC: reads of a line by them are one request while one is under way"
    ) = 1
    side_reads: Annotated[
        Literal["home", "near"],
        Meta(
            description="home: every side reads from the line's slice; near: from a slice of its "
            "own side, which keeps a copy"
        ),
    ] = "home"
    side_writes: Annotated[
        Literal["home", "both"],
        Meta(
            description="where a written line takes room: in its slice, or in that of every side "
            "(side_reads near)"
        ),
    ] = "home"
    sector_interval: _float(
        0, 64, "L2 cycles", "of a slice for a sector read or written; 0 = by bytes_per_cycle"
    ) = 0.0
    request_interval: _float(0, 64, "L2 cycles", "of a slice for a request, at least") = 0.0
    pass_interval: _float(
        0,
        64,
        "L2 cycles",
        "of the slice on the near side for a sector that is written on the far one",
    ) = 0.0
    atomic_pass_interval: _float(
        0, 64, "L2 cycles", "... that is updated there, or for a lane on one word; 0 = the same"
    ) = 0.0
    result_interval: _float(
        0, 64, "L2 cycles", "... and for the result of that, on its way back; 0 = the same"
    ) = 0.0
    atomic_interval: _float(
        0.0625, 64, "L2 cycles", "between two atomic operations on a sector, or on one word"
    ) = 1.0
    atomic_sector_interval: _float(
        0, 64, "L2 cycles", "between those on two sectors; 0 = as atomic_interval"
    ) = 0.0


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
    first_interval: _float(
        0, 4096, "core cycles", "the same until all SMs have been filled once; 0 = as cta_interval"
    ) = 0.0
    refill: _int(
        0, 4096, "core cycles", "end of a CTA until another one can start in its place"
    ) = 0
    drain: _int(
        0, 8192, "core cycles", "of the overhead, in which the last stores are acknowledged"
    ) = 0
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
