"""Which of a GPU's slices have the lines that another GPU asks for."""

from lockstep._jit import jit
from lockstep.model.modules import pages


@jit
def find(memory, rows, count):
    """Write slices, and the partitions that have them, into ``count`` MESSAGE records."""
    for k in range(count):
        slice_ = pages.slice_of(memory.slices, rows[k].address, memory.l2.policies.slice_hash)
        rows[k].slice = slice_
        rows[k].destination = slice_ // memory.l2.spec[0].slices
