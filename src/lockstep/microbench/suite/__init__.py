"""The benchmarks, a file for each group; ``all_benchmarks`` has them in the order of the table."""

from lockstep.microbench.benchmark import Benchmark, Target
from lockstep.microbench.suite import (
    arithmetic,
    atomics,
    bandwidth,
    chase,
    cluster,
    control,
    issue,
    launch,
    parallelism,
    probes,
    shared,
    tensor,
)

GROUPS = (
    launch, arithmetic, issue, tensor, shared, chase, probes, bandwidth, parallelism, atomics,
    control, cluster,
)  # fmt: skip


def all_benchmarks(target: Target) -> list[Benchmark]:
    """What runs on a target, whether or not its architecture has the instructions."""
    return [benchmark for group in GROUPS for benchmark in group.benchmarks(target)]
