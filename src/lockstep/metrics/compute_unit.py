"""Metrics of compute units, which GPUs of streaming multiprocessors have not."""

from lockstep.isa.instruction import OpClass
from lockstep.metrics.facts import Facts, ratio
from lockstep.metrics.metric import Metric, units_of_cus

_SCALAR = tuple(
    OpClass[name]
    for name in [
        "SCALAR",
        "SCALAR_LOAD",
        "WAIT_COUNT",
        "BARRIER",
        "EXIT",
        "NOP",
        "SLEEP",
        "CACHE_CONTROL",
    ]
)


def issued(facts: Facts, unit: str) -> float:
    """Instructions that one of the units of ``metric.units_of_cus`` took."""
    sm = facts.sm
    lds = sm.shared_accesses
    counts = {
        "scalar": sum(int(sm.issued[op]) for op in _SCALAR),
        "branch": sm.issued[OpClass.BRANCH],
        "lds": lds,
        "vector_memory": sm.memory_instructions - lds,
    }
    return counts[unit] if unit in counts else sm.warp_instructions - sum(counts.values())


METRICS = (
    Metric(
        "sim__opc",
        "operations/cycle",
        "Operations of the GPU while CTAs ran: active lanes of vector instructions, one of each "
        "scalar instruction (OPC of Candel 2018).",
        lambda k: ratio(k.sm.operations, k.running),
        core="cu",
    ),
    Metric(
        "sim__vector_memory_buffer.avg.per_cycle_active",
        "instructions",
        "Vector memory instructions of a compute unit between issue and the end.",
        lambda k: ratio(k.sm.buffered_cycles, k.sm.active_cycles),
        core="cu",
    ),
    Metric(
        "sim__unit_inst_{}.sum",
        "instructions",
        "Wavefront instructions that the {} unit took; memory instructions with an active lane.",
        lambda k, unit: issued(k, unit),
        each=units_of_cus,
        core="cu",
    ),
)
