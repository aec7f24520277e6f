"""What a walk keeps: who is on his way, and rough times.

The order in which lines come and go depends on who is ahead of whom. So an access takes as long as
one without contention takes, and waits for its sub-core, for its SM's port and for the DRAM.
"""

import numpy as np

from lockstep._jit import Context, Records
from lockstep.gpus.spec import GPU
from lockstep.model.core.state import SUBCYCLES, Sm
from lockstep.model.memory import Memory
from lockstep.model.records import records, words, zeros

BUSY = 1.3  # time on the bus with row misses and turnarounds, over that without: a guess
WALK = np.dtype(
    words(
        "clock",  # cycle of the walk, from that of the simulation on
        "warps",  # on their way
        "dispatch",  # from when on the next CTA may start, in thousandths of a cycle
        "shared_cycles", "l1_cycles", "l2_cycles", "dram_cycles",  # until data is there from each
        "port_step",  # that a sector takes at an SM's port, in SUBCYCLES
        "burst_step",  # that a burst takes of a DRAM channel, in SUBCYCLES
        "channels",
        "dram",  # from when on the DRAM is free, in SUBCYCLES shared by its channels
    )
)  # fmt: skip
PLACE = np.dtype(words("sm", "warp", "ready"))
"""A warp that goes on at cycle ``ready``."""


class WarmWalk(Context):
    """State of a walk. Warps of the CTA that was dispatched first are in front."""

    state: Records  # WALK, one
    places: Records  # PLACE, as many as there are warps
    issue: np.ndarray  # sms x subcores: cycle from which it issues the next instruction
    ports: np.ndarray  # sms: from when on the port is free, in SUBCYCLES


def build(gpu: GPU, sms: Sm, memory: Memory) -> WarmWalk:
    """Nobody is on his way."""
    built = WarmWalk(
        records(1, WALK),
        records(gpu.sm.count * gpu.sm.warps, PLACE),
        zeros((gpu.sm.count, gpu.sm.subcores)),
        zeros(gpu.sm.count),
    )
    state, spec = built.state[0], memory.l2.dram.spec[0]
    state.shared_cycles, state.l1_cycles = gpu.shared.latency, gpu.l1.latency
    state.l2_cycles, state.dram_cycles = gpu.l2.latency, gpu.dram.latency
    state.port_step = sms.spec[0].port_step * -(-gpu.l1.sector_bytes // gpu.interconnect.flit_bytes)
    clocks = int(spec.bursts * spec.burst_clocks)
    state.burst_step = round(SUBCYCLES * clocks * BUSY * gpu.clock_mhz / gpu.dram.clock_mhz)
    state.channels = gpu.dram.channels
    return built
