"""What a streaming multiprocessor is: its units, schedulers, front end and the way to memory."""

from typing import Annotated

from msgspec import Meta, field

from lockstep.gpus import choices
from lockstep.gpus.ranges import Spec, within


class ExecutionUnit(Spec, frozen=True, kw_only=True):
    """One kind of execution unit. A new kind is a new entry here, never new code."""

    name: str
    operations: Annotated[
        dict[str, Annotated[int, Meta(ge=1, le=4096)]],
        Meta(
            description="operation class, or opcode of machine code with _ for each dot -> cycles "
            "until a dependent instruction may issue"
        ),
    ]
    lanes: Annotated[int, within(1, 64, "threads/cycle", "threads that one unit starts a cycle")]
    count: Annotated[int, within(1, 32, "units", "units of this kind in each scope")] = 1
    scope: Annotated[
        choices.UnitScope,
        Meta(description="who owns it: each sub-core, or the SM for all of them"),
    ] = "subcore"
    intervals: Annotated[
        dict[str, Annotated[int, Meta(ge=1, le=4096)]],
        Meta(
            description="class or opcode -> cycles between two starts, where sm.warp_size/lanes "
            "is wrong"
        ),
    ] = field(default_factory=dict)
    instances: Annotated[
        dict[str, Annotated[int, Meta(ge=1, le=32)]],
        Meta(description="class or opcode -> units that execute it, the first ones, if not all"),
    ] = field(default_factory=dict)


class Scheduler(Spec, frozen=True, kw_only=True):
    """Warp schedulers, one a sub-core."""

    policy: Annotated[
        choices.WarpScheduler,
        Meta(
            description="greedy then oldest, loose round-robin, greedy then youngest, oldest "
            "first, greedy then round-robin from the warp that issued last"
        ),
    ] = "gto"
    issue_width: Annotated[
        int, within(1, 2, "instructions/cycle", "instructions of one warp issued a cycle")
    ] = 1
    dependence: Annotated[
        choices.Dependence,
        Meta(description="auto: the compiler's control bits where the front end has them"),
    ] = "auto"


class FrontEnd(Spec, frozen=True, kw_only=True):
    """Instruction fetch: an L0 cache a sub-core with a stream buffer, and the SM's L1 cache."""

    line_bytes: Annotated[int, within(16, 1024, "bytes", "instruction cache line")] = 128
    l0_bytes: Annotated[
        int, within(0, 1 << 24, "bytes", "L0 instruction cache a sub-core; 0 = perfect")
    ] = 12288
    l0_ways: Annotated[int, within(1, 64, "ways", "associativity of L0")] = 4
    l1_bytes: Annotated[
        int, within(0, 1 << 26, "bytes", "L1 (L1.5) instruction cache an SM; 0 = perfect")
    ] = 131072
    l1_ways: Annotated[int, within(1, 64, "ways", "associativity of the L1 instruction cache")] = 8
    stream_buffer: Annotated[
        int, within(0, 64, "lines", "lines prefetched after an L0 miss; 0 = none")
    ] = 8
    l1_latency: Annotated[
        int, within(1, 4096, "cycles", "L0 miss that hits the L1 instruction cache")
    ] = 20
    l2_latency: Annotated[
        int, within(1, 8192, "cycles", "L1 instruction cache miss; a CU's asks the L2")
    ] = 200
    fill_interval: Annotated[
        int,
        within(
            0, 1024, "cycles", "between two lines that an L0 gets from the L1 instruction cache"
        ),
    ] = 0
    buffer: Annotated[
        int, within(1, 64, "instructions", "instruction buffer of a warp: how far fetch is ahead")
    ] = 3
    redirect: Annotated[
        int, within(0, 256, "cycles", "taken branch to next issue of the warp, buffer refilled")
    ] = 8
    divergence: Annotated[
        int,
        within(
            0, 256, "cycles", "that a warp waits when its active lanes change: paths part or meet"
        ),
    ] = 0
    redirects: Annotated[
        dict[str, Annotated[int, Meta(ge=0, le=256)]],
        Meta(description="opcode, with _ for each dot -> the same as redirect, where it differs"),
    ] = field(default_factory=dict)


class Operands(Spec, frozen=True, kw_only=True):
    """How operands leave the register file."""

    style: Annotated[
        choices.OperandStyle,
        Meta(description="ports: a fixed read window; collectors: operand collectors"),
    ] = "ports"
    banks: Annotated[int, within(1, 64, "banks", "register banks a sub-core")] = 2
    window: Annotated[
        int, within(1, 16, "cycles", "operand read window of a fixed-latency instruction")
    ] = 3
    collectors: Annotated[
        int, within(1, 64, "units", "operand collectors a sub-core (style collectors)")
    ] = 4
    reuse_cache: Annotated[bool, Meta(description="register-file cache, filled by reuse bits")] = (
        True
    )
    slots: Annotated[
        bool,
        Meta(
            description="an instruction reads a register once, and operands are kept by the slot "
            "that the hardware has them in; else each register is an operand"
        ),
    ] = False
    result_queue: Annotated[
        bool,
        Meta(
            description="a write port a bank: results of fixed latency are queued for it and never "
            "late, those of loads wait (style ports)"
        ),
    ] = True


class MemoryPipeline(Spec, frozen=True, kw_only=True):
    """From issue to the L1 and shared memory."""

    queue: Annotated[
        int, within(1, 256, "instructions", "memory instructions waiting a sub-core")
    ] = 4
    address_interval: Annotated[
        int, within(1, 64, "cycles", "address generation a sub-core, per instruction")
    ] = 4
    wide_address_interval: Annotated[
        int,
        within(1, 64, "cycles", "the same where addresses have 64 bits: global and generic memory"),
    ] = 4
    accept_interval: Annotated[
        int, within(1, 64, "cycles", "SM-wide arbiter: cycles per accepted instruction")
    ] = 1
    coalescer: Annotated[
        choices.Coalescer,
        Meta(description="sector: 8-thread groups into sectors; line: the warp into whole lines"),
    ] = "sector"
    bulk_load_bytes: Annotated[
        int, within(1, 4096, "bytes/cycle", "that bulk copies to shared memory ask for, an SM")
    ] = 64
    bulk_lines: Annotated[
        int,
        within(
            128,
            256,
            "lines",
            "of one bulk copy that are under way, less those that may be short; four for each "
            "thread of a warp if that is more",
        ),
    ] = 128
    bulk_groups: Annotated[
        bool, Meta(description="who waits for a group of copies waits for its bulk stores, too")
    ] = False
    bulk_store_bytes: Annotated[
        int, within(1, 4096, "bytes/cycle", "that bulk copies from shared memory write, an SM")
    ] = 64
    outstanding: Annotated[
        int, within(1, 4096, "instructions", "memory instructions in flight an SM")
    ] = 256


class SM(Spec, frozen=True, kw_only=True):
    """Streaming multiprocessor."""

    count: Annotated[int, within(1, 4096, "SMs", "streaming multiprocessors")]
    gpcs: Annotated[
        tuple[Annotated[int, Meta(ge=1, le=4096)], ...],
        Meta(
            description="SMs of each GPC; CTAs go to GPC after GPC, the CTAs of a cluster to one. "
            "SMs that are left over, the first, are outside: no clusters. Empty = one of all SMs"
        ),
    ] = ()
    outside_turns: Annotated[
        int,
        within(
            1, 256, "GPCs", "that get their CTAs before the SMs outside of GPCs have another turn"
        ),
    ] = 1
    subcores: Annotated[
        int, within(1, 16, "sub-cores", "sub-cores, each with a warp scheduler")
    ] = 4
    warp_size: Annotated[
        choices.WarpSize,
        Meta(
            title="threads",
            description="threads of a warp; kernels of warps of another size are refused",
        ),
    ] = 32
    warps: Annotated[int, within(1, 256, "warps", "resident warps")]
    ctas: Annotated[int, within(1, 128, "CTAs", "resident CTAs")]
    registers: Annotated[int, within(32, 1 << 22, "registers", "32-bit registers")] = 65536
    register_granularity: Annotated[
        int, within(1, 4096, "registers", "register allocation unit of a warp")
    ] = 256
    barrier_latency: Annotated[
        int, within(1, 256, "cycles", "last arrival to issue of the released warps")
    ]
    barrier_interval: Annotated[
        int, within(0, 64, "cycles", "that the SM's barrier unit takes for each warp that arrives")
    ] = 0
    named_barrier_latency: Annotated[
        int,
        within(
            0, 256, "cycles", "by which a barrier other than 0, or of a stated number, opens later"
        ),
    ] = 0
    cluster_barrier_latency: Annotated[
        int, within(1, 4096, "cycles", "the same of the barrier of a cluster")
    ] = 180
    lone_cluster_barrier_latency: Annotated[
        int, within(0, 4096, "cycles", "the same of a cluster of one CTA; 0 = as barrier_latency")
    ] = 0
    sleep_overhead: Annotated[
        int, within(0, 4096, "cycles", "by which a warp sleeps longer than it says")
    ] = 0
    shortest_sleep: Annotated[
        int, within(0, 4096, "cycles", "that a warp sleeps, whatever it says")
    ] = 0
    fence_interval: Annotated[
        int,
        within(
            0, 1024, "cycles", "between two fences of an SM beyond the CTA, one after the other"
        ),
    ] = 0
    system_fence_round_trip: Annotated[
        int,
        within(0, 8192, "cycles", "memory fence of the system at least; 0 = as that of the GPU"),
    ] = 0
    local_fence_waits: Annotated[
        bool, Meta(description="a fence within the CTA waits for its warp's outstanding accesses")
    ] = True
    exit_waits: Annotated[
        bool, Meta(description="a CTA keeps its place until its stores are acknowledged, not sent")
    ] = True
    fence_latency: Annotated[
        int, within(1, 4096, "cycles", "memory fence, after all outstanding has ended")
    ] = 16
    fence_round_trip: Annotated[
        int, within(0, 8192, "cycles", "memory fence of the GPU at least, whatever is outstanding")
    ] = 0
    unit_queues: Annotated[
        dict[str, Annotated[int, Meta(ge=1, le=64)]],
        Meta(
            description="unit, or one class of its operations -> instructions that wait for it "
            "after they have been issued"
        ),
    ] = field(default_factory=dict)
    holds: Annotated[
        dict[str, Annotated[int, Meta(ge=1, le=256)]],
        Meta(
            description="opcode, with _ for each dot -> cycles by which its warp waits longer than "
            "the compiler's stall count says"
        ),
    ] = field(default_factory=dict)
    scheduler: Scheduler = Scheduler()
    front_end: FrontEnd = FrontEnd()
    operands: Operands = Operands()
    units: tuple[ExecutionUnit, ...]
    memory: MemoryPipeline = MemoryPipeline()
