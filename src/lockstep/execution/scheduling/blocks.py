"""Calling the machine code of blocks, which may have to be made first."""

from lockstep._jit import call_native, inline
from lockstep.execution.state import FAULTED


@inline
def call_block(x, at, address, lanes):
    """Run a block for some lanes of the warp whose record is at an address: what it returns."""
    function = x.functions[at]
    if function == 0:
        function = call_native(x.launch[0].fetch, 0, at)
        if function == 0:
            x.fault[0].raised = 1
            return FAULTED
    return call_native(function, address, lanes)


@inline
def is_fault(x, result):
    """Whether a block has returned that there was a fault; all of 64 lanes look the same."""
    return result == FAULTED and x.fault[0].raised == 1
