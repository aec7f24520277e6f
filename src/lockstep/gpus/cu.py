"""What a compute unit of AMD's GPUs has that a streaming multiprocessor has not.

All else that both have stands in the section ``sm``: a sub-core is a SIMD there, a warp a wave-
front, a CTA a work-group. The section ``constant`` is its scalar data cache, ``shared`` its LDS.
"""

from typing import Annotated

from msgspec import Meta

from lockstep.gpus import choices
from lockstep.gpus.ranges import Spec, within


class CU(Spec, frozen=True, kw_only=True):
    """Compute unit of the first GCN generation."""

    neighbours: Annotated[
        tuple[Annotated[int, Meta(ge=1, le=64)], ...],
        Meta(
            description="CUs that share a scalar data cache and an instruction cache, in their "
            "order, and again from the first number on; empty = none do"
        ),
    ] = ()
    scalar_registers: Annotated[
        int, within(8, 1 << 16, "registers", "scalar registers of a SIMD")
    ] = 512
    scalar_granularity: Annotated[
        int, within(1, 512, "registers", "allocation unit of scalar registers of a wavefront")
    ] = 8
    fetch_bytes: Annotated[
        int,
        within(
            8,
            1024,
            "bytes",
            "of code that a SIMD fetches in its turn, for one wavefront, whose instruction "
            "buffer has room for so many and what it executes",
        ),
    ] = 32
    mshr_entries: Annotated[
        int,
        within(
            2,
            1024,
            "lines",
            "that a CU has asked the L2 for, for the scalar data cache and the instruction cache",
        ),
    ] = 16
    branch_latency: Annotated[
        int, within(1, 256, "cycles", "that a wavefront waits for a branch, taken or not")
    ] = 4
    lds_slack: Annotated[
        int,
        within(0, 256, "cycles", "that an LDS instruction may wait for the LDS after its issue"),
    ] = 8
    vector_memory_buffer: Annotated[
        int,
        within(
            1, 1024, "instructions", "vector memory instructions from issue until all data is here"
        ),
    ] = 32
    waitcnt: Annotated[
        choices.WaitCount,
        Meta(
            description="counts: s_waitcnt waits until the counters are at most its fields; zero: "
            "until they are zero, whatever it says, as Multi2Sim does"
        ),
    ] = "counts"


class VMU(Spec, frozen=True, kw_only=True):
    """Vector memory unit of a compute unit: how requests of lanes become accesses to the L1."""

    ports: Annotated[
        int,
        within(
            0,
            64,
            "accesses/cycle",
            "that the L1 takes from a queue of accesses; 0 = there is no queue: an instruction is "
            "coalesced whole, and goes through the L1 by its banks before the next one",
        ),
    ] = 0
    join: Annotated[
        choices.RequestJoin,
        Meta(
            description="requests to one line that become one access. coalesce: all of an "
            "instruction, before they enter the queue; merge: those that meet an access that is "
            "there, of any instruction"
        ),
    ] = "coalesce"
    phases: Annotated[
        choices.VmuPhases,
        Meta(
            description="in which the requests of an instruction enter the queue, one a cycle; "
            "4: by subwavefronts",
            title="cycles",
        ),
    ] = 1
    order: Annotated[
        choices.AccessOrder,
        Meta(
            description="accesses that wait for older ones. line: none does, they go through the "
            "L1 in turn; multi2sim: all for older stores, and loads for older accesses of their "
            "line, until those have left the L1"
        ),
    ] = "line"
