"""The host beside a GPU: what its calls cost, the link to it, copies, and whose memory is whose."""

from typing import Annotated

from msgspec import Meta

from lockstep.gpus import choices
from lockstep.gpus.ranges import Spec, within

_LONGEST_CALL = 1_000_000_000  # ns: a second


class CallCosts(Spec, frozen=True, kw_only=True):
    """How long the host is busy with a call to CUDA, whatever the call then waits for."""

    register: Annotated[
        int, within(0, _LONGEST_CALL, "ns", "registering code, kernels and variables of a program")
    ] = 0
    allocate: Annotated[int, within(0, _LONGEST_CALL, "ns", "allocating memory")] = 0
    free: Annotated[int, within(0, _LONGEST_CALL, "ns", "freeing memory")] = 0
    copy: Annotated[int, within(0, _LONGEST_CALL, "ns", "asking for a copy or a fill")] = 0
    launch: Annotated[int, within(0, _LONGEST_CALL, "ns", "launching a kernel")] = 0
    synchronize: Annotated[
        int, within(0, _LONGEST_CALL, "ns", "waiting for streams and events, beside the wait")
    ] = 0
    query: Annotated[int, within(0, _LONGEST_CALL, "ns", "all other calls")] = 0


class Host(Spec, frozen=True, kw_only=True):
    """The host, its link to the GPU, and the copy engines at the GPU's end of it."""

    copy: Annotated[
        choices.Copies,
        Meta(
            description="instant: the host's calls and copies take no time, and a copy waits for "
            "all kernels before it; timed: calls take call_ns, copies cross the link page by page, "
            "and streams overlap both with kernels"
        ),
    ] = "instant"
    memory: Annotated[
        choices.MemorySpace,
        Meta(
            description="discrete: host and GPU have memories of their own, copies join them; "
            "coherent: one memory, the host's copies are accesses to its lines; migrating: pages "
            "of managed memory move to the GPU when it first accesses them"
        ),
    ] = "discrete"
    call_ns: CallCosts = CallCosts()
    time_scale: Annotated[
        float,
        within(
            0, 1e6, "", "of the program's own time between its calls, as measured here; 0 = none"
        ),
    ] = 0.0
    link_latency: Annotated[
        int, within(0, 1_000_000_000, "ps", "of the link between host and GPU, one way")
    ] = 0
    link_bandwidth: Annotated[
        float, within(0.001, 100_000, "GB/s", "of the link between host and GPU, each direction")
    ] = 16.0
    page_bytes: Annotated[
        int, within(128, 1 << 30, "bytes", "of a copy that cross the link together")
    ] = 4096
    outstanding: Annotated[
        int,
        within(
            1,
            65536,
            "pages",
            "of a copy that may be under way; 1 = a page leaves when the one before it has been "
            "acknowledged",
        ),
    ] = 1
    engines_to_device: Annotated[
        int, within(1, 64, "engines", "copies to the GPU at a time, which share the link")
    ] = 1
    engines_to_host: Annotated[
        int, within(1, 64, "engines", "copies to the host at a time, which share the link")
    ] = 1
    fault_ns: Annotated[
        int,
        within(
            0, _LONGEST_CALL, "ns", "of the host for a page fault of the GPU, before the page moves"
        ),
    ] = 0
    migration_bytes: Annotated[
        int, within(4096, 1 << 30, "bytes", "managed memory that moves together; a power of two")
    ] = 65536
    migration: Annotated[
        choices.Migration,
        Meta(
            description="first_touch: a page moves when it is first accessed; access_counters: "
            "when it has been accessed migration_accesses times over the link"
        ),
    ] = "first_touch"
    migration_accesses: Annotated[
        int, within(1, 1 << 20, "accesses", "that move a page with migration access_counters")
    ] = 256
