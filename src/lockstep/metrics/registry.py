"""The registry: every metric there is, and its evaluation."""

from collections.abc import Callable
from math import nan
from typing import NamedTuple

from lockstep.gpus.spec import GPU
from lockstep.metrics import (
    compute_unit,
    crossbar,
    dram,
    execution,
    flops,
    l2,
    modules,
    sm_memory,
    speed_of_light,
)
from lockstep.metrics.facts import Facts
from lockstep.metrics.metric import Metric

SECTIONS: dict[str, tuple[Metric, ...]] = {
    "Time": execution.TIME,
    "Speed of light": (*speed_of_light.METRICS, *speed_of_light.THROUGHPUT),
    "Instructions": execution.INSTRUCTIONS,
    "Floating point": flops.METRICS,
    "Occupancy and launch": execution.OCCUPANCY,
    "Issue and instruction fetch": execution.ISSUE,
    "Compute units": compute_unit.METRICS,
    "Coalescing": sm_memory.COALESCING,
    "L1 data cache": sm_memory.L1,
    "Shared memory and constants": sm_memory.SHARED,
    "Crossbar": crossbar.CROSSBAR,
    "Memory of other GPUs": crossbar.PEERS,
    "Links between modules": modules.METRICS,
    "L2 cache": l2.METRICS,
    "DRAM": dram.METRICS,
}
REGISTRY: tuple[Metric, ...] = tuple(m for section in SECTIONS.values() for m in section)


class MetricColumn(NamedTuple):
    """One metric on one GPU: an entry of the registry with its key filled in."""

    name: str
    formula: Callable[..., float]
    arguments: tuple
    kernel: bool
    counted: bool


def columns(gpu: GPU) -> list[MetricColumn]:
    """Every metric of a GPU, in the order of the registry."""
    return [
        MetricColumn(name, metric.formula, arguments, metric.kernel, metric.counted)
        for metric in REGISTRY
        for name, arguments in metric.expand(gpu)
    ]


def evaluate(table: list[MetricColumn], facts: Facts) -> dict[str, float]:
    """The value of each metric that is defined for the period; NaN where it has no value."""
    kernel = facts.kernel
    counted = kernel is not None and kernel.source is not None
    return {
        c.name: c.formula(facts, *c.arguments) if counted or not c.counted else nan
        for c in table
        if kernel is not None or not c.kernel
    }
