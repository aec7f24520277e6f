"""A DRAM scheduler of your own: strictly by age, whether or not a row is open.

Run it as ``python examples/policies/dram_scheduler.py``.
"""

from pathlib import Path

import lockstep

TRACE = Path(__file__).parents[1] / "gather.lst"
GPU = lockstep.gpu("QV100", ["dram.channels=2"])  # little bandwidth, so that requests wait


def oldest_ready(queue, first, count, now):
    """Of the requests whose next command may come now, the oldest; they are in order of age."""
    for i in range(count):
        if queue[first + i].ready <= now:
            return i
    return -1


def main():
    without = lockstep.simulate(TRACE, GPU)
    with_it = lockstep.simulate(TRACE, GPU, dram_scheduler=oldest_ready)
    print(f"FR-FCFS:       {without.cycles:,} cycles")
    print(f"oldest ready:  {with_it.cycles:,} cycles")


if __name__ == "__main__":
    main()
