"""A replacement policy of your own, in the L1 or in the L2: what nobody came back for goes first.

Run it as ``python examples/policies/replacement.py``.
"""

from pathlib import Path

import lockstep

TRACE = Path(__file__).parents[1] / "gemm.lst"
GPU = lockstep.gpu(  # caches and a memory that are too small for the input
    "QV100",
    ["sm.count=4", "l1.carveouts=", "l1.bytes=32768"]
    + ["l2.sets=4", "l2.ways=16", "dram.channels=1"],
)


def unused_first(ways, first, count, now):
    """The oldest line that was not touched since it came; if all were, the least recently used."""
    victim, lowest = -1, 0
    for i in range(count):
        way = ways[first + i]
        rank = way.used if way.used == way.inserted else way.used + now
        if way.pending == 0 and (victim < 0 or rank < lowest):
            victim, lowest = i, rank
    return victim


def main():
    without = lockstep.simulate(TRACE, GPU)
    in_l1 = lockstep.simulate(TRACE, GPU, l1_replacement=unused_first)
    in_l2 = lockstep.simulate(TRACE, GPU, l2_replacement=unused_first)
    print(f"least recently used:  {without.cycles:,} cycles")
    print(f"unused first, in L1:  {in_l1.cycles:,} cycles")
    print(f"unused first, in L2:  {in_l2.cycles:,} cycles")


if __name__ == "__main__":
    main()
