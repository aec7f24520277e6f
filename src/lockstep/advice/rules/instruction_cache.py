"""Code that does not fit the instruction caches: warps wait for instructions, again and again."""

from lockstep.advice.accesses import spot
from lockstep.advice.observation import Observation
from lockstep.advice.rule import AdviceRule, Diagnosis, Evidence, measured
from lockstep.model.counters import Stall

LEAST = 0.1  # of the time
AGAIN = 2  # times that a line is executed, or missed in each sub-core: the first time it has to be


def look(o: Observation) -> Diagnosis | None:
    """Loops that are longer than the L0, or lines that were missed again in each sub-core."""
    front, fetch = o.gpu.sm.front_end, o.spent(Stall.FETCH)
    code, rounds = front.l0_bytes, 0.0  # not known without counts by instruction: at least
    if o.source is not None:
        code = max(int(o.source["pc"].max() - o.source["pc"].min()), front.line_bytes)
        rounds = o.source["warp_instructions"].max() / o.warps_launched
    if fetch < LEAST or not front.l0_bytes:
        return None
    sms = sum(int((run.sm["active_cycles"] > 0).sum()) for run in o.runs)
    first = -(-code // front.line_bytes) * o.gpu.sm.subcores * max(1, sms)
    missed = o.sm.l0i_misses / first
    long = code > front.l0_bytes and rounds >= AGAIN
    if not long and missed < AGAIN:
        return None
    again = max(missed, rounds if long else 0)
    return Diagnosis(
        fetch * (1 - 1 / again),
        f"{code:,} bytes of code are executed {again:.1f} times from an L0 instruction cache of "
        f"{front.l0_bytes:,} bytes.",
        "Make loops shorter than the cache: unroll less, inline less, split the kernel.",
        (
            measured(o, "sim__scheduler_fetch.pct"),
            measured(o, "sim__l0i_hit_rate.pct"),
            measured(o, "sim__l1i_misses.sum", "lines"),
            Evidence("code", float(code), "bytes"),
        ),
        spot(o.source, "stall_fetch"),
    )


RULE = AdviceRule("instruction_cache", "Instruction cache misses", look, lift="instruction_cache")
