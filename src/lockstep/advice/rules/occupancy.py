"""Few warps fit an SM, and those wait for latencies that more of them would hide."""

from lockstep.advice.observation import Observation
from lockstep.advice.rule import AdviceRule, Diagnosis, Evidence, measured
from lockstep.engine.record import KernelRun

MOST_WARPS = 0.5  # of those that an SM holds: with half of them most kernels hide their latencies
MOST_BUSY = 0.7  # of any unit: beyond that more warps wait for it instead
LEAST_WAIT = 0.3  # of the time in which all warps wait for results
_LIFTS = {"registers": "registers", "shared memory": "shared_memory", "CTAs": "cta_slots"}


def look(o: Observation) -> Diagnosis | None:
    """The launch that ran longest, if more CTAs than fit wait for a place."""
    run = max(o.runs, key=lambda run: run.running)
    warps = -(-run.block[0] * run.block[1] * run.block[2] // o.gpu.sm.warp_size)
    fits = run.ctas_per_sm * warps / o.gpu.sm.warps
    waits = o.latency_bound
    more = run.ctas > o.gpu.sm.count * run.ctas_per_sm
    if run.limiter not in _LIFTS or not more or fits > MOST_WARPS:
        return None
    if waits < LEAST_WAIT or o.busiest > MOST_BUSY:
        return None
    return Diagnosis(
        waits * (1 - fits),
        f"{run.limiter.capitalize() if run.limiter != 'CTAs' else 'CTA slots'} limit an SM to "
        f"{run.ctas_per_sm} CTAs, {run.ctas_per_sm * warps} of {o.gpu.sm.warps} warps.",
        _todo(o, run, warps),
        (
            Evidence("sm__maximum_warps_per_active_cycle_pct", 100 * fits, "%"),
            measured(o, "sm__warps_active.avg.pct_of_peak_sustained_active"),
            Evidence("scheduler-cycles in which all warps wait for results", 100 * waits, "%"),
        ),
        lift=_LIFTS[run.limiter],
    )


def _todo(o: Observation, run: KernelRun, warps: int) -> str:
    """What makes room for one CTA more."""
    ctas = run.ctas_per_sm + 1
    if run.limiter == "registers":
        of_warp = o.gpu.sm.registers // (ctas * warps)
        of_warp -= of_warp % o.gpu.sm.register_granularity
        most = of_warp // o.gpu.sm.warp_size
        return f"With at most {most} registers a thread (it has {run.registers}) {ctas} CTAs fit."
    if run.limiter == "shared memory":
        most = o.gpu.shared.bytes // ctas - o.gpu.shared.reserved_per_cta
        most -= most % o.gpu.shared.granularity
        return (
            f"With at most {most:,} bytes of shared memory a CTA (it has {run.shared_bytes:,}) "
            f"{ctas} CTAs fit."
        )
    return "Give CTAs more threads: an SM has places for so many CTAs, whatever their size."


RULE = AdviceRule("occupancy", "Occupancy limit", look, lift="registers")
