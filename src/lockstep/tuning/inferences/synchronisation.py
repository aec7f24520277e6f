"""Barriers, fences, branches."""

from lockstep.tuning.inference import Fit, Inference, whole
from lockstep.tuning.measured import Measured

BARRIER, NAMED = "sync.bar_sync", "sync.bar_named"
MANY = 32  # warps of a CTA
BARRIER_LOOP = 4  # cycles from the opening of a barrier to the next arrival, of one warp


def _barrier_interval(m: Measured) -> int:
    few, *_, many = m.series(BARRIER, "warps")
    m.use(few, many)
    return round((many.value - few.value) / (many.at - few.at))


def _barrier(m: Measured) -> int:
    one = m.get(BARRIER, warps=1)
    return whole(m.difference(one, m["sm.barrier_interval"] + BARRIER_LOOP))


def _named(m: Measured) -> int:
    return whole(max(m.get(NAMED, warps=1) - m.get(BARRIER, warps=1), 0))


def _release(m: Measured, warps: int) -> float:
    """What the fence in the barrier of a cluster of one CTA takes."""
    relaxed = m.get("sync.cluster_barrier_relaxed", ctas=1, warps=warps)
    return m.difference(m.get("sync.cluster_barrier", ctas=1, warps=warps), relaxed)


def _fences(m: Measured) -> float:
    """What the fences of many warps take longer than one."""
    return (_release(m, MANY) - _release(m, 1)) / (MANY - 1)


def _system(m: Measured) -> int:
    more = m.difference(m.get("lat.store_membar_sys"), m.get("lat.store_membar_gl"))
    return round(m["sm.fence_round_trip"] + more)


def _local_waits(m: Measured) -> bool:
    """Whether a fence of the CTA waits for a store, which takes half of an L2 hit at least."""
    return m.get("lat.store_membar_cta") > m["l2.latency"] / 2


def _divergence(m: Measured) -> float:
    body = m.get("branch.body_alone", warps=1)
    return m.get("branch.half_lanes", warps=1) - body


INFERENCES = (
    Inference("sm.barrier_interval", _barrier_interval, "cycles for a warp more"),
    Inference(
        "sm.barrier_latency",
        lambda m: m.get(BARRIER, warps=1),
        "less the arrival and 4 of the loop",
        Fit(estimate=_barrier),
    ),
    Inference("sm.named_barrier_latency", _named, "by which a named barrier takes longer"),
    Inference(
        "sm.fence_round_trip",
        lambda m: m.get("lat.store_membar_gl"),
        "a store and a fence, in simulation too",
        Fit(),
    ),
    Inference(
        "sm.fence_interval",
        _fences,
        "cycles for a warp more",
        Fit(estimate=lambda m: round(_fences(m))),
    ),
    Inference(
        "sm.system_fence_round_trip",
        lambda m: m.get("lat.store_membar_sys"),
        "by as much above sm.fence_round_trip as the rows differ",
        Fit(estimate=_system),
    ),
    Inference("sm.local_fence_waits", _local_waits, "whether that is time for a store"),
    Inference(
        "sm.lone_cluster_barrier_latency",
        lambda m: m.get("sync.cluster_barrier_relaxed", ctas=1, warps=1),
        "in simulation too",
        Fit(),
    ),
    Inference(
        "sm.cluster_barrier_latency",
        lambda m: m.get("sync.cluster_barrier_relaxed", ctas=2, warps=1),
        "in simulation too",
        Fit(),
    ),
    Inference(
        "sm.front_end.redirect",
        lambda m: m.get("branch.taken", warps=1),
        "in simulation too",
        Fit(),
    ),
    Inference(
        "sm.front_end.divergence",
        _divergence,
        "two changes of the active lanes, in simulation too",
        Fit(2.0),
    ),
)
