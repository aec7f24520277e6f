"""Shared memory: how many passes over the banks one instruction takes.

A warp of more lanes than go over the banks together takes its parts one after the other; a part
without an active lane takes no pass.
"""

from lockstep._jit import inline, popcount
from lockstep.isa.instruction import OpClass
from lockstep.model.core.coalescer import ATOMIC, REDUCTION, lane_address

LOAD = int(OpClass.LOAD)


@inline
def passes_of_group(c, s, record, pool, first, last, width, serial):
    """Passes for lanes first..last-1: the most distinct words that one bank must deliver.

    ``serial``: lanes on one word follow each other too, as atomics do.
    """
    spec = c.spec[0]
    banks, mask, shift = spec.shared_banks, spec.bank_mask, spec.bank_shift
    words = max(1, width // spec.shared_bank_bytes)
    scratch, slots = c.scratch[s], spec.pass_lanes
    for b in range(banks):
        scratch[b] = 0
    most = 1
    for k in range(first, last):
        address = lane_address(c, record, pool, k)
        word = address >> shift if shift >= 0 else address // spec.shared_bank_bytes
        for offset in range(words):
            bank = (word + offset) & mask if mask >= 0 else (word + offset) % banks
            n = scratch[bank]
            new = True
            for j in range(n):
                if scratch[banks + bank * slots + j] == word + offset:
                    new = serial
            if new and n < slots:
                scratch[banks + bank * slots + n] = word + offset
                scratch[bank] = n + 1
                most = max(most, n + 1)
    return most


@inline
def passes_of_one_address(spec, lanes, group, instruction):
    """Passes where all lanes have the same address."""
    if not spec.wide_passes:
        return 1
    groups = (lanes + group - 1) // group
    return (groups + 1) // 2 if instruction.op == LOAD else groups


@inline
def passes_of_part(c, s, record, pool, begin, end, instruction, ideal):
    """Passes for lanes begin..end-1, all of which the banks take together if none is wide.

    Wide accesses go in halves and quarters. ``ideal``: no two lanes meet in a bank.
    """
    spec = c.spec[0]
    width = instruction.width
    serial = instruction.op == ATOMIC or instruction.op == REDUCTION
    serial = serial and not instruction.together
    lanes = end - begin
    group = spec.pass_lanes
    if width > spec.shared_bank_bytes:
        group = max(1, spec.shared_banks * spec.shared_bank_bytes // width)
    fits = group * width <= spec.shared_banks * spec.shared_bank_bytes
    if record.pool < 0 and fits and not serial:  # the two common patterns need no search
        if record.stride == 0:
            return passes_of_one_address(spec, lanes, group, instruction)
        if record.stride == width and width % spec.shared_bank_bytes == 0:
            return (lanes + group - 1) // group
    total = 0
    pairs = spec.wide_passes and instruction.op == LOAD and group < spec.pass_lanes
    step = 2 * group if pairs else group
    for first in range(begin, end, step):
        last = min(end, first + step)
        n = passes_of_group(c, s, record, pool, first, last, width, serial)
        middle = min(last, first + group)
        if n > 1 and middle < last:  # not both in one
            n = passes_of_group(c, s, record, pool, first, middle, width, serial)
            n += passes_of_group(c, s, record, pool, middle, last, width, serial)
        total += n
    return min(total, (lanes + group - 1) // group) if ideal else total


@inline
def passes(c, s, record, pool, access, instruction, ideal):
    """Passes over the banks: without conflicts 1 for each part of the warp with an active lane.

    ``ideal``: there are none.
    """
    spec = c.spec[0]
    lanes = min(access.lanes, instruction.rows)
    if spec.pass_lanes >= spec.warp_size:
        n = passes_of_part(c, s, record, pool, 0, lanes, instruction, ideal)
        return n * instruction.passes
    part = (1 << spec.pass_lanes) - 1
    total = begin = 0
    for lane in range(0, spec.warp_size, spec.pass_lanes):
        end = min(begin + popcount(access.mask >> lane & part), lanes)
        if end > begin:
            total += passes_of_part(c, s, record, pool, begin, end, instruction, ideal)
        begin = end
    return total * instruction.passes
