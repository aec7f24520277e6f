"""Barriers, fences, branches."""

from lockstep.tuning.inference import Fit, Inference, whole
from lockstep.tuning.measured import Measured

BARRIER, NAMED = "sync.bar_sync", "sync.bar_named"
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
