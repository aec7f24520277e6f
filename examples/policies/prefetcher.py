"""Prefetchers of your own: by the stride of a load in the L1, the next line in the L2.

Run it as ``python examples/policies/prefetcher.py``.
"""

from pathlib import Path

import lockstep

TRACE = Path(__file__).parents[1] / "gather.lst"
GPU = lockstep.gpu("QV100", ["sm.count=4", "sm.ctas=1"])  # too few warps to hide latencies


def by_stride(site, line, warp, hit, state, out):
    """The line that a load of a warp reads next if it goes on as the last two times."""
    entry = state[1 + (site * 7 + warp) % (len(state) - 1)]  # row 0 has the parameters
    step = line - entry.last
    steady = entry.key == site and entry.mark == warp and entry.stride == step
    entry.key, entry.mark, entry.last, entry.stride = site, warp, line, step
    out[0].line = line + step
    return steady


def next_line(line, hit, state, out):
    """The slice's next line, after a miss (0) or the first use of one that was prefetched (2)."""
    out[0].line = line + 1
    return hit != 1


def main():
    without = lockstep.simulate(TRACE, GPU)
    in_l1 = lockstep.simulate(TRACE, GPU, l1_prefetcher=by_stride)
    in_l2 = lockstep.simulate(TRACE, GPU, l2_prefetcher=next_line)
    print(f"no prefetcher:     {without.cycles:,} cycles")
    print(f"by stride, in L1:  {in_l1.cycles:,} cycles")
    print(f"next line, in L2:  {in_l2.cycles:,} cycles")


if __name__ == "__main__":
    main()
