"""What a GPU is, as a frozen, typed specification: every parameter once, with unit and range.

The documentation, the command line's help and the error messages all come from the annotations
here. The numbers live in one data file a GPU beside this file, each with its source. Latencies
that a user can measure (``l1.latency``, ``l2.latency``, ``dram.latency``) are load-to-use
latencies of a dependent single-warp probe; the model derives its internal delays from them.
"""

from typing import Annotated

from msgspec import Meta, field

from lockstep import notebook
from lockstep.gpus import choices
from lockstep.gpus.cu import CU, VMU
from lockstep.gpus.host import Host
from lockstep.gpus.ideal import Ideal
from lockstep.gpus.memory import L2, Coherence, Dram, Interconnect
from lockstep.gpus.modules import Modules
from lockstep.gpus.ranges import Spec, within
from lockstep.gpus.sm import SM


class SharedMemory(Spec, frozen=True, kw_only=True):
    """Banked scratchpad."""

    bytes: Annotated[
        int, within(0, 1 << 24, "bytes", "largest amount an SM's CTAs can have together")
    ]
    cta_bytes: Annotated[
        int, within(0, 1 << 24, "bytes", "largest amount of one CTA that opts in")
    ] = 49152
    reserved_per_cta: Annotated[
        int, within(0, 65536, "bytes", "taken by the system for each CTA")
    ] = 0
    granularity: Annotated[int, within(1, 65536, "bytes", "allocation granularity")] = 256
    banks: Annotated[int, within(1, 256, "banks", "banks")] = 32
    bank_bytes: Annotated[int, within(1, 64, "bytes", "width of a bank")] = 4
    pass_lanes: Annotated[
        int, within(1, 64, "threads", "of a warp that go over the banks together, each to one bank")
    ] = 32
    latency: Annotated[int, within(2, 4096, "cycles", "load-to-use without conflicts")]
    pass_latency: Annotated[
        int,
        within(1, 64, "cycles", "a pass over the banks for a sub-core; the SM begins one a cycle"),
    ] = 1
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
    remote_latency: Annotated[
        int, within(2, 4096, "cycles", "the same of another CTA of the cluster")
    ] = 180
    remote_interval: Annotated[
        int,
        within(
            1,
            256,
            "cycles",
            "for which 128 bytes of others' shared memory keep the SM's arbiter, in packets of 32",
        ),
    ] = 1

    @property
    def most_cta_bytes(self) -> int:
        """Static and dynamic shared memory of one CTA at most, in what an SM has."""
        return max(min(self.cta_bytes, self.bytes - self.reserved_per_cta), 0)


class L1(Spec, frozen=True, kw_only=True):
    """Data cache of an SM. Unified with shared memory where carve-outs are given."""

    bytes: Annotated[
        int,
        within(0, 1 << 26, "bytes", "capacity; unified with shared memory if carveouts are given"),
    ]
    carveouts: Annotated[
        tuple[Annotated[int, Meta(ge=0, le=1 << 26)], ...],
        Meta(description="shared-memory sizes in bytes that the unified memory can be split at"),
    ] = ()
    sets: Annotated[
        int, within(1, 65536, "sets", "sets; associativity follows from the capacity")
    ] = 4
    line_bytes: Annotated[int, within(32, 1024, "bytes", "line")] = 128
    sector_bytes: Annotated[
        int, within(32, 1024, "bytes", "sector; equal to the line for a cache without")
    ] = 32
    latency: Annotated[int, within(2, 4096, "cycles", "load-to-use of a hit")]
    banks: Annotated[int, within(1, 64, "banks", "banks, interleaved by sector")] = 4
    tag_banks: Annotated[
        int,
        within(
            0,
            64,
            "banks",
            "lines looked up in a cycle, one a bank; the words of a load are then read when its "
            "lines are there, in as many cycles as are in one bank of shared memory; 0 = banks of "
            "sectors alone",
        ),
    ] = 0
    bytes_per_cycle: Annotated[int, within(1, 4096, "bytes/cycle", "data read out in a cycle")] = (
        128
    )
    allocate: Annotated[
        choices.Allocation,
        Meta(description="fill: streaming, misses in flight hold no line; miss: reserves a line"),
    ] = "fill"
    replacement: Annotated[
        choices.Replacement,
        Meta(description="victim of a full set; nru: one not touched lately, by lot"),
    ] = "lru"
    hash: Annotated[
        choices.IndexHash,
        Meta(description="line address to set"),
    ] = "linear"
    protocol: Annotated[
        choices.L1Protocol,
        Meta(description="global stores: write_through updates a hit line, write_evict drops it"),
    ] = "write_through"
    cache_global: Annotated[bool, Meta(description="global loads are cached by default")] = True
    mshr_entries: Annotated[int, within(1, 65536, "entries", "lines with misses in flight")] = 512
    mshr_merges: Annotated[
        int, within(1, 65536, "requests", "requests that can wait on one entry")
    ] = 8
    miss_queue: Annotated[
        int, within(1, 65536, "requests", "requests waiting to enter the interconnect")
    ] = 16
    waiting: Annotated[
        int,
        within(
            0,
            65536,
            "reads",
            "reads that wait for an MSHR entry while others go on; 0 = the first one blocks the L1",
        ),
    ] = 0
    prefetcher: Annotated[
        choices.L1Prefetcher,
        Meta(
            description="stride: by load and warp, then by load alone once three warps agree; "
            "between the first accesses of warps"
        ),
    ] = "none"
    prefetch_degree: Annotated[
        choices.PrefetchDegree, Meta(description="lines that it asks for at a time", title="lines")
    ] = 1
    prefetch_distance: Annotated[
        int, within(1, 1024, "strides", "from an access to the first line that it asks for")
    ] = 1

    @property
    def cycle_sectors(self) -> int:
        """Sectors read out in a cycle: whole ones, whatever ``bytes_per_cycle``."""
        return max(1, self.bytes_per_cycle // self.sector_bytes)


class ConstantCache(Spec, frozen=True, kw_only=True):
    """Constant caches: the SM's for loads, and each sub-core's for operands of arithmetic."""

    bytes: Annotated[int, within(0, 1 << 24, "bytes", "capacity; 0 = perfect")] = 2048
    ways: Annotated[int, within(1, 64, "ways", "associativity")] = 4
    line_bytes: Annotated[int, within(16, 1024, "bytes", "line, of the caches of operands too")] = (
        64
    )
    latency: Annotated[int, within(1, 4096, "cycles", "load-to-use of a hit (LDC)")] = 26
    miss_latency: Annotated[
        int,
        within(1, 8192, "cycles", "load-to-use of a miss that hits the SM's L1 instruction cache"),
    ] = 120
    operand_bytes: Annotated[
        int,
        within(
            0,
            1 << 24,
            "bytes",
            "a sub-core's cache of constant operands; 0 = they are always there",
        ),
    ] = 0
    operand_ways: Annotated[int, within(1, 64, "ways", "its associativity")] = 2
    operand_miss_latency: Annotated[
        int,
        within(
            1,
            8192,
            "cycles",
            "by which a constant operand that the SM's L1 instruction cache has, "
            "but not the sub-core, delays its instruction",
        ),
    ] = 79
    first_latency: Annotated[
        int,
        within(
            0,
            8192,
            "cycles",
            "from the start of a launch's first CTA on an SM until that has bank 0; with "
            "launch.l2 = flush so much more as DRAM takes longer than the L2",
        ),
    ] = 0
    operand_hold: Annotated[
        int,
        within(
            1,
            4096,
            "cycles",
            "for which a sub-core waits for an absent constant operand, at most, "
            "before it issues from another warp",
        ),
    ] = 4


class LaunchCosts(Spec, frozen=True, kw_only=True):
    """What a kernel launch costs."""

    overhead: Annotated[
        int, within(0, 1_000_000, "core cycles", "kernel start until the first CTA is dispatched")
    ]
    warp_interval: Annotated[
        float,
        within(
            0,
            64,
            "core cycles",
            "between the starts of two warps on an SM; 0 = a CTA's start together",
        ),
    ] = 0.0
    cta_interval: Annotated[
        float, within(0.01, 4096, "core cycles", "between two CTA dispatches, GPU-wide")
    ] = 1.0
    first_interval: Annotated[
        float,
        within(
            0,
            4096,
            "core cycles",
            "the same until all SMs have been filled once; 0 = as cta_interval",
        ),
    ] = 0.0
    refill: Annotated[
        int, within(0, 4096, "core cycles", "end of a CTA until another one can start in its place")
    ] = 0
    drain: Annotated[
        int,
        within(
            0, 8192, "core cycles", "of the overhead, in which the last stores are acknowledged"
        ),
    ] = 0
    concurrent_kernels: Annotated[
        int, within(1, 1024, "kernels", "kernels of different streams at a time")
    ] = 32
    flush_l1: Annotated[bool, Meta(description="kernels start with an empty L1")] = True
    l2: Annotated[
        choices.L2AtLaunch,
        Meta(
            description="the L2 at a kernel's start: kept as the program left it; flush: empty; "
            "replay: as a profiler leaves it that saves memory to run a kernel several times"
        ),
    ] = "kept"


class GPU(Spec, frozen=True, kw_only=True):
    """A whole GPU."""

    name: str
    description: Annotated[str, Meta(description="the product that is modelled")]
    architectures: Annotated[
        tuple[Annotated[int, Meta(ge=1, le=9999)], ...],
        Meta(description="SASS binary versions that run natively"),
    ]
    clock_mhz: Annotated[
        float, within(1, 20000, "MHz", "core clock: the unit of every cycle count")
    ]
    validated: Annotated[
        tuple[str, ...], Meta(description="what hardware measurements it was compared with")
    ] = ()
    core: Annotated[
        choices.Core,
        Meta(
            description="what a core is: sm, a streaming multiprocessor; cu, a compute unit of the "
            "first GCN generation, for which the section cu counts, too"
        ),
    ] = "sm"
    launch: LaunchCosts
    sm: SM
    cu: CU = CU()
    vmu: VMU = VMU()
    shared: SharedMemory
    l1: L1
    constant: ConstantCache = ConstantCache()
    interconnect: Interconnect
    modules: Modules = Modules()
    l2: L2
    coherence: Coherence = Coherence()
    dram: Dram
    host: Host = Host()
    ideal: Ideal = Ideal()

    def _repr_html_(self) -> str:
        """What notebooks show."""
        values = {
            "model of": self.description,
            "SMs": self.sm.count,
            "clock, MHz": self.clock_mhz,
            "L1, B": self.l1.bytes,
            "DRAM": f"{self.dram.channels} channels of {self.dram.standard}",
            "binaries": [f"sm_{a}" for a in self.architectures],
            "validated against": "; ".join(self.validated) or "nothing yet",
        }
        return notebook.facts(self.name, values)
