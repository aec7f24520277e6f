"""Metrics of compute units, which GPUs of streaming multiprocessors have not."""

from lockstep.isa.instruction import OpClass
from lockstep.metrics.facts import Facts, ratio
from lockstep.metrics.metric import Metric, directions_of_requests, units_of_cus

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


def queued(facts: Facts, of: str, what: str) -> float:
    """Requests to the access queue of one of ``metric.directions_of_requests``."""
    return getattr(facts.sm, f"vmu_{of}_{what}")


def combined(facts: Facts, of: str) -> float:
    """Requests that joined another one."""
    return queued(facts, of, "requests") - queued(facts, of, "accesses")


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
        "sim__vmu_{}_requests.sum",
        "requests",
        "Lanes' requests of {} instructions, one a line, that entered the access queue; atomic "
        "operations are stores. 0 without one (vmu.ports).",
        lambda k, of: queued(k, of, "requests"),
        each=directions_of_requests,
        core="cu",
    ),
    Metric(
        "sim__vmu_{}_accesses.sum",
        "accesses",
        "Accesses to the L1 that these {} requests became.",
        lambda k, of: queued(k, of, "accesses"),
        each=directions_of_requests,
        core="cu",
    ),
    Metric(
        "sim__vmu_{}_merged.sum",
        "requests",
        "{} requests that joined an access that another instruction began.",
        lambda k, of: queued(k, of, "merged"),
        each=directions_of_requests,
        core="cu",
    ),
    Metric(
        "sim__vmu_combined.sum",
        "requests",
        "Requests that became no access of their own (figure 6 of Candel 2018).",
        lambda k: combined(k, "load") + combined(k, "store"),
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
