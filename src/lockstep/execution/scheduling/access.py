"""What generated code asks when an access leaves the allocation that its site knows.

Finds the allocation of every lane, translates generic addresses of shared and local memory, and
records the first access that is outside, or misaligned, as a fault.
"""

import functools
from enum import IntEnum

from lockstep._jit import inline, jit, phase
from lockstep.execution.checks.record import note_fault
from lockstep.execution.state import (
    ALIGNMENT_SHIFT,
    LOCAL_WINDOW,
    PARAMETER_WINDOW,
    RANK_MASK,
    SHARED_WINDOW,
    SINK_BYTES,
    SPANS,
    TAG_SHIFT,
    WINDOW_BYTES,
    WORD_BYTES,
    Window,
)


class Fault(IntEnum):
    """Why a launch ended early."""

    NONE = 0
    ILLEGAL_ADDRESS = 1  # no allocation holds all of the access
    MISALIGNED = 2
    SHARED_OUT_OF_BOUNDS = 3
    LOCAL_OUT_OF_BOUNDS = 4
    PARAMETER_OUT_OF_BOUNDS = 5
    TRAP = 6
    ASSERT = 7
    STACK_OVERFLOW = 8
    BAD_TARGET = 9  # an indirect branch or call to no block
    BAD_TEXTURE = 10  # no texture or surface has this handle
    SURFACE_OUT_OF_BOUNDS = 11
    BAD_TENSOR_MAP = 12  # none, or one of other axes or elements
    BUFFER_OUT_OF_BOUNDS = 13  # outside what a descriptor says


@inline
def end_for(end, size):
    """Where memory that ends somewhere ends for accesses of ``size`` bytes.

    Atomics on one or two bytes are compare-and-swap on the word that holds them, whose other bytes
    may be behind the end. Compilers emit that, libraries write it, with a plain load of two or four
    bytes before it, and to hardware, whose memory ends with a page, it is nothing.
    """
    if size == WORD_BYTES or size == WORD_BYTES // 2:
        return (end + size - 1) // size * size
    return end


@inline
def find(x, address, size):
    """Row of the allocation that holds an access, or -1."""
    low, high = 0, x.known[0]
    while low < high:
        middle = (low + high) // 2
        if x.allocations[middle].address <= address:
            low = middle + 1
        else:
            high = middle
    if low == 0:
        return -1
    row = x.allocations[low - 1]
    return low - 1 if address + size <= end_for(row.address + row.bytes, size) else -1


@inline
def fail(x, kind, w, lane, site, address, size):
    """Record a fault; returns 1."""
    fault = x.fault[0]
    fault.kind, fault.warp, fault.lane, fault.site = kind, w, lane, site
    fault.instruction = -1
    fault.address, fault.bytes = address, size
    fault.cta = x.ctas[w // x.launch[0].warps].linear
    return 1


@inline
def shared_place(x, w, site, lane, relative, size, everywhere):
    """Host address of an access to shared memory; 0 = fault.

    ``relative``: to the CTA's own. ``everywhere``: the other CTAs of the cluster are allowed too.
    """
    launch = x.launch[0]
    place = w // launch.warps
    cta = x.ctas[place]
    address, offset, rank = relative, relative, cta.rank
    if launch.tag > 0:
        address = (relative + cta.tag) % WINDOW_BYTES
        offset, rank = address % launch.tag, address >> TAG_SHIFT & RANK_MASK
    known = rank == cta.rank or (everywhere and rank < launch.cluster_ctas)
    if not known or offset < 0 or offset + size > end_for(launch.shared_limit, size):
        fail(x, Fault.SHARED_OUT_OF_BOUNDS, w, lane, site, address, size)
        return 0
    return x.ctas[place - cta.rank + rank].shared + offset


@inline
def inside(x, space, w, lane, site, offset, size):
    """Host address of an offset in local memory or the parameters; 0 = fault."""
    launch = x.launch[0]
    start, limit = launch.parameters, launch.parameter_bytes
    kind = Fault.PARAMETER_OUT_OF_BOUNDS
    if space == Window.LOCAL:
        limit, kind = launch.local_bytes, Fault.LOCAL_OUT_OF_BOUNDS
        start = x.warps[w].local + lane * limit
    if offset < 0 or offset + size > limit:
        fail(x, kind, w, lane, site, offset, size)
        return 0
    return start + offset


@inline
def translated(x, space, w, lane, site, address, size):
    """Host address of an access to one of the windows; 0 = fault."""
    if space == Window.SHARED or space == Window.CLUSTER:
        return shared_place(x, w, site, lane, address, size, space == Window.CLUSTER)
    if space != Window.GLOBAL:
        return inside(x, space, w, lane, site, address, size)
    if address < SHARED_WINDOW + WINDOW_BYTES:
        relative = address - x.ctas[w // x.launch[0].warps].window
        return shared_place(x, w, site, lane, relative, size, True)
    if address < LOCAL_WINDOW + WINDOW_BYTES:
        return inside(x, Window.LOCAL, w, lane, site, address - LOCAL_WINDOW, size)
    return inside(x, Window.PARAMETER, w, lane, site, address - PARAMETER_WINDOW, size)


@inline
def refusal(space):
    """The fault of an access that is none: a texture, surface or tensor map was asked for."""
    if space == Window.BUFFER:
        return Fault.BUFFER_OUT_OF_BOUNDS
    if space == Window.SURFACE:
        return Fault.SURFACE_OUT_OF_BOUNDS
    return Fault.BAD_TENSOR_MAP if space == Window.TENSOR_MAP else Fault.BAD_TEXTURE


@inline
def ends_launch(space):
    """Whether what is wrong with an access leaves nothing to go on with."""
    return Window.TEXTURE <= space < Window.BUFFER


@inline
def host_of(x, w, site, lane, address, size, alignment):
    """Host address of an access; 0 = fault."""
    space = x.sites[site].space
    if space != Window.BUFFER and address & (alignment - 1):
        fail(x, Fault.MISALIGNED, w, lane, site, address, size)
        return 0
    if space >= Window.TEXTURE:
        fail(x, refusal(space), w, lane, site, address, size)
        return 0
    if space != Window.GLOBAL or (SHARED_WINDOW <= address < PARAMETER_WINDOW + WINDOW_BYTES):
        return translated(x, space, w, lane, site, address, size)
    row = find(x, address, size)
    if row < 0:
        fail(x, Fault.ILLEGAL_ADDRESS, w, lane, site, address, size)
        return 0
    x.sites[site].low = x.allocations[row].address
    x.sites[site].span = x.allocations[row].bytes
    return address


@jit
def check(x, w, site, size, mask):
    """Look at every lane's address in the warp's scratch words; host addresses replace them.

    Returns 1 after a fault. ``size`` is that of the access in bytes, a power of two unless the
    alignment is there, too. Where wrong accesses are listed, they do not end the launch but go to
    the sink, unless they go on beyond what is looked at (``SPANS`` in ``size``). What is outside of
    a buffer is nothing to the hardware, so it is a mistake only where mistakes are listed.
    """
    if x.launch[0].sink == 0 and x.sites[site].space == Window.BUFFER:
        return 0
    sink, spans, alignment = x.launch[0].sink, size & SPANS, size >> ALIGNMENT_SHIFT
    size &= SPANS - 1
    alignment = alignment if alignment > 0 else size
    for lane in range(x.launch[0].lanes):
        if not mask >> lane & 1:
            continue
        host = host_of(x, w, site, lane, x.scratch[w, lane], size, alignment)
        if host == 0:
            if sink == 0 or spans or ends_launch(x.sites[site].space):
                x.fault[0].raised = 1
                return 1
            note_fault(x)
            host = sink + lane * SINK_BYTES
        x.scratch[w, lane] = host
    return 0


@functools.cache
def entry_points(kind):
    """The runtime functions as pointers for generated code; ``kind`` is that of the machine."""
    return phase(check, (kind,), 4)
