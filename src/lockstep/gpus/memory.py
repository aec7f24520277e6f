"""What is beyond the SMs: the interconnect, the slices of the L2, and the DRAM."""

from typing import Annotated

from msgspec import Meta

from lockstep.gpus import choices
from lockstep.gpus.ranges import Spec, within


class Interconnect(Spec, frozen=True, kw_only=True):
    """Crossbar between SMs and memory partitions: two networks, requests and replies."""

    latency: Annotated[
        int, within(1, 4096, "core cycles", "one way, without contention; also the time window")
    ]
    clock_mhz: Annotated[float, within(1, 20000, "MHz", "clock of the crossbar ports")]
    flit_bytes: Annotated[
        int, within(8, 512, "bytes", "data a port moves a cycle besides the header")
    ] = 32
    reply_header_bytes: Annotated[
        int, within(0, 512, "bytes", "header of a reply with data, beside the data")
    ] = 16
    atomic_sector_interval: Annotated[
        float,
        within(
            0, 64, "core cycles", "of an SM's port for each further sector of an atomic operation"
        ),
    ] = 0.0
    atomic_word_interval: Annotated[
        float,
        within(0, 64, "core cycles", "of an SM's port for each of the lanes on one word, at least"),
    ] = 0.0
    atomic_result_interval: Annotated[
        float,
        within(
            0, 64, "core cycles", "between the results of lanes on one word; 0 = they come at once"
        ),
    ] = 0.0
    buffer: Annotated[
        int, within(1, 4096, "messages", "credits of each source at each destination")
    ] = 16
    reply_buffer: Annotated[int, within(1, 4096, "messages", "the same, of the reply network")] = 32
    order: Annotated[
        choices.RequestOrder,
        Meta(
            description="what keeps its order at an SM's port: all its requests, or those to a "
            "partition, so that one without a credit holds up no others (virtual output queues)"
        ),
    ] = "sm"


class L2(Spec, frozen=True, kw_only=True):
    """Level-2 cache: slices, grouped by memory partition (one DRAM channel each)."""

    slices_per_channel: Annotated[int, within(1, 64, "slices", "slices a memory channel")] = 2
    sets: Annotated[int, within(1, 1 << 20, "sets", "sets a slice")]
    ways: Annotated[int, within(1, 256, "ways", "associativity")]
    line_bytes: Annotated[int, within(32, 1024, "bytes", "line")] = 128
    sector_bytes: Annotated[int, within(32, 1024, "bytes", "sector")] = 32
    latency: Annotated[
        int, within(2, 8192, "core cycles", "load-to-use of an L1 miss that hits the L2")
    ]
    clock_mhz: Annotated[float, within(1, 20000, "MHz", "clock of the slices")]
    bytes_per_cycle: Annotated[
        int, within(1, 1024, "bytes/L2 cycle", "data a slice reads or writes in a cycle")
    ] = 32
    mshr_entries: Annotated[
        int, within(1, 65536, "entries", "sectors with misses in flight, a slice")
    ] = 192
    mshr_merges: Annotated[
        int, within(1, 65536, "requests", "requests that can wait on one entry")
    ] = 4
    mshr_full: Annotated[
        choices.FullMshr,
        Meta(description="a full MSHR file stalls the slice, or refuses and lets the SM retry"),
    ] = "stall"
    nack_retry: Annotated[
        int, within(1, 4096, "core cycles", "wait of an SM before it repeats a request")
    ] = 64
    nack_spread: Annotated[
        int,
        within(0, 4096, "core cycles", "... and up to so many more, by lot: repeats come apart"),
    ] = 0
    queue: Annotated[int, within(1, 4096, "requests", "input queue of a slice")] = 32
    prefetcher: Annotated[
        choices.L2Prefetcher,
        Meta(description="stream: runs of neighbouring lines of a slice, once two steps are seen"),
    ] = "none"
    prefetch_degree: Annotated[
        choices.PrefetchDegree, Meta(description="lines that it asks for at a time", title="lines")
    ] = 1
    prefetch_distance: Annotated[
        int, within(1, 1024, "lines", "from a miss to the first line that it asks for, at least")
    ] = 1
    prefetch_window: Annotated[
        choices.StreamWindow,
        Meta(
            description="lines around a stream in which a miss belongs to it, and ahead of a miss "
            "up to which it asks",
            title="lines",
        ),
    ] = 16
    protocol: Annotated[
        choices.L2Protocol,
        Meta(
            description="write_validate: byte masks, no fetch; write_fetch: a write miss reads the "
            "sector"
        ),
    ] = "write_validate"
    replacement: Annotated[
        choices.Replacement,
        Meta(description="victim of a full set; nru: one not touched lately, by lot"),
    ] = "lru"
    slice_hash: Annotated[
        choices.IndexHash,
        Meta(description="address to slice"),
    ] = "ipoly"
    set_hash: Annotated[
        choices.IndexHash,
        Meta(description="line address to set of a slice"),
    ] = "linear"
    interleave_bytes: Annotated[
        int, within(32, 1 << 20, "bytes", "consecutive bytes of one slice")
    ] = 256
    sides: Annotated[
        int, within(1, 8, "partitions", "partitions of the chip; another one is a hop away")
    ] = 1
    far_latency: Annotated[
        int, within(0, 4096, "core cycles", "extra load-to-use latency of the far side")
    ] = 0
    far_fill_latency: Annotated[
        int,
        within(
            0,
            4096,
            "core cycles",
            "the same of what comes from the far side's DRAM; 0 = as far_latency",
        ),
    ] = 0
    neighbours: Annotated[
        int,
        within(
            1, 64, "SMs", "of a TPC: reads of a line by them are one request while one is under way"
        ),
    ] = 1
    side_reads: Annotated[
        choices.SideReads,
        Meta(
            description="home: every side reads from the line's slice; near: from a slice of its "
            "own side, which keeps a copy"
        ),
    ] = "home"
    side_writes: Annotated[
        choices.SideWrites,
        Meta(
            description="where a written line takes room: in its slice, or in that of every side "
            "(side_reads near)"
        ),
    ] = "home"
    sector_interval: Annotated[
        float,
        within(
            0, 64, "L2 cycles", "of a slice for a sector read or written; 0 = by bytes_per_cycle"
        ),
    ] = 0.0
    merge_interval: Annotated[
        float,
        within(0, 64, "L2 cycles", "... more for a sector that is written in part"),
    ] = 0.0
    request_interval: Annotated[
        float, within(0, 64, "L2 cycles", "of a slice for a request, at least")
    ] = 0.0
    pass_interval: Annotated[
        float,
        within(
            0,
            64,
            "L2 cycles",
            "of the slice on the near side for a sector that is written on the far one",
        ),
    ] = 0.0
    atomic_pass_interval: Annotated[
        float,
        within(
            0, 64, "L2 cycles", "... that is updated there, or for a lane on one word; 0 = the same"
        ),
    ] = 0.0
    result_interval: Annotated[
        float,
        within(0, 64, "L2 cycles", "... and for the result of that, on its way back; 0 = the same"),
    ] = 0.0
    atomic_latency: Annotated[
        int, within(0, 4096, "core cycles", "more, of an atomic operation whose result is used")
    ] = 0
    atomic_interval: Annotated[
        float,
        within(
            0.0625, 64, "L2 cycles", "between two atomic operations on a sector, or on one word"
        ),
    ] = 1.0
    atomic_sector_interval: Annotated[
        float, within(0, 64, "L2 cycles", "between those on two sectors; 0 = as atomic_interval")
    ] = 0.0


SCOPED = "vi"  # protocol of SMs, whose L1s need no messages of their own


class Coherence(Spec, frozen=True, kw_only=True):
    """Coherence of L1s by a protocol. See docs/coherence.md and docs/scopes.md."""

    protocol: Annotated[
        choices.CoherenceProtocol,
        Meta(
            description="nmoesi, si: table that L1s of compute units and the L2 carry out; vi: "
            "L1s of SMs keep the scopes of PTX; none: they go by l1.protocol and l2.protocol, and "
            "L1s are coherent between kernels alone"
        ),
    ] = "none"
    directory_cycles: Annotated[
        int,
        within(1, 256, "core cycles", "from the look-up of a directory to messages without data"),
    ] = 1
    evictions: Annotated[
        int,
        within(1, 1024, "lines", "that an L1 evicts at a time, until the L2 has acknowledged them"),
    ] = 16

    @property
    def table(self) -> str:
        """The protocol whose messages L1s and homes of lines exchange, or none."""
        return "none" if self.protocol == SCOPED else self.protocol

    @property
    def scoped(self) -> bool:
        """Whether L1s keep the scopes of PTX; nobody tells them of others."""
        return self.protocol == SCOPED


class Dram(Spec, frozen=True, kw_only=True):
    """Device memory: one controller a channel."""

    standard: Annotated[str, Meta(description="table of timing constraints, by name")]
    capacity: Annotated[int, within(1, 1024, "GiB", "memory of the device, as programs see it")] = (
        16
    )
    channels: Annotated[int, within(1, 1024, "channels", "channels, each with its L2 slices")]
    clock_mhz: Annotated[float, within(1, 40000, "MHz", "command clock")]
    bus_bytes: Annotated[int, within(1, 256, "bytes", "data bus of a channel")]
    burst_length: Annotated[int, within(1, 64, "beats", "beats of a burst")]
    beats_per_clock: Annotated[int, within(1, 8, "beats", "data beats in a command clock")] = 2
    latency: Annotated[
        int, within(2, 16384, "core cycles", "load-to-use of an L2 miss to an idle, closed bank")
    ]
    timing: Annotated[
        dict[str, Annotated[int, Meta(ge=0, le=1_000_000)]],
        Meta(description="the standard's parameters (nRCD, nCL ...) in command clocks"),
    ]
    banks: Annotated[int, within(1, 256, "banks", "banks a channel")] = 16
    bank_groups: Annotated[int, within(1, 64, "groups", "bank groups a channel")] = 4
    row_bytes: Annotated[int, within(64, 1 << 20, "bytes", "row of a bank")] = 2048
    dual_command_bus: Annotated[bool, Meta(description="row and column commands together")] = False
    scheduler: Annotated[
        choices.DramScheduler,
        Meta(
            description="frfcfs: row hits first, then oldest; fcfs: oldest; bank_round_robin: row "
            "hits first, banks in turn; fixed: no banks and no bus, each access takes dram.latency"
        ),
    ] = "frfcfs"
    row_accesses: Annotated[
        int,
        within(
            0,
            4096,
            "bursts",
            "of an open row, then requests to its bank go by age (frfcfs and bank_round_robin); "
            "0 = any number",
        ),
    ] = 0
    page: Annotated[
        choices.Page,
        Meta(description="closed: a row is closed after its last waiting access"),
    ] = "open"
    read_queue: Annotated[int, within(1, 4096, "requests", "read queue")] = 64
    write_queue: Annotated[int, within(1, 4096, "requests", "write queue")] = 64
    drain_high: Annotated[
        float, within(0.0, 1.0, "fraction", "write queue filling at which writes take over")
    ] = 0.75
    drain_low: Annotated[
        float, within(0.0, 1.0, "fraction", "write queue filling at which reads resume")
    ] = 0.25
    idle_writes: Annotated[
        bool, Meta(description="writes also go when no read waits; else only when they take over")
    ] = True
    bank_hash: Annotated[
        choices.BankHash,
        Meta(description="address to bank"),
    ] = "xor"
    refresh: Annotated[bool, Meta(description="refresh commands are issued")] = True
