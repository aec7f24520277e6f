"""A warp scheduler of your own: the warp that is furthest behind issues first.

Run it as ``python examples/policies/scheduler.py``.
"""

from pathlib import Path

import lockstep

TRACE = Path(__file__).parents[1] / "gemm.lst"
GPU = lockstep.gpu("QV100", ["sm.count=4"])  # a small GPU, so that its SMs are full


def furthest_behind(warps, first, count, last, now):
    """Of the warps that can issue now, the one that has issued least; the oldest of several."""
    chosen, fewest = -1, 0
    for i in range(count):
        warp = warps[first + i]
        if warp.ready and (chosen < 0 or warp.issued < fewest):
            chosen, fewest = i, warp.issued
    return chosen


def main():
    without = lockstep.simulate(TRACE, GPU)
    with_it = lockstep.simulate(TRACE, GPU, scheduler=furthest_behind)
    print(f"greedy then youngest:  {without.cycles:,} cycles")
    print(f"furthest behind:       {with_it.cycles:,} cycles")


if __name__ == "__main__":
    main()
