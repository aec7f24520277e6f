"""What counting by instruction costs: CPU time of simulations with and without, in turn.

    python benchmarks/source_view.py examples/gemm.lst examples/gather.lst --runs 20

Each line: seconds without and with, the least of all runs, and their ratio.
"""

import argparse
import time

import lockstep
from lockstep.gpus.spec import GPU
from lockstep.workload import Workload


def seconds(workload: Workload, gpu: GPU, source: bool) -> float:
    """CPU time of one simulation."""
    begin = time.process_time()
    lockstep.simulate(workload, gpu, source=source)
    return time.process_time() - begin


def main() -> None:
    """Measure the traces that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("traces", nargs="+")
    parser.add_argument("--gpu", default="QV100")
    parser.add_argument("--runs", type=int, default=10)
    options = parser.parse_args()
    gpu = lockstep.gpu(options.gpu)
    for trace in options.traces:
        workload = lockstep.load(trace)
        least = [float("inf")] * 2
        for k in range(2 * options.runs + 2):
            source = k % 2 == 1
            taken = seconds(workload, gpu, source)
            if k >= 2:  # the first ones load code
                least[source] = min(least[source], taken)
        print(f"{trace}: {least[0]:.3f} s, {least[1]:.3f} s, {least[1] / least[0]:.3f}", flush=True)


if __name__ == "__main__":
    main()
