"""Code that does not fit the instruction caches: warps wait for instructions, again and again."""

from lockstep.advice.accesses import spot
from lockstep.advice.observation import Observation
from lockstep.advice.rule import AdviceRule, Diagnosis, Evidence, measured
from lockstep.model.counters import Stall

LEAST = 0.1  # of the time
AGAIN = 2  # times that a line is missed in each sub-core: the first time it has to be


def look(o: Observation) -> Diagnosis | None:
    """Lines that were missed beyond the first time in each sub-core."""
    front, fetch = o.gpu.sm.front_end, o.spent(Stall.FETCH)
    if o.source is None:  # the size of the code is not known: that of the cache at least
        code = front.l0_bytes
    else:
        code = max(o.source["pc"].max() - o.source["pc"].min(), front.line_bytes)
    lines = -(-code // front.line_bytes)
    sms = sum(int((run.sm["active_cycles"] > 0).sum()) for run in o.runs)
    first = lines * o.gpu.sm.subcores * sms
    if fetch < LEAST or not first or o.sm.l0i_misses < AGAIN * first:
        return None
    return Diagnosis(
        fetch * (1 - first / o.sm.l0i_misses),
        f"{code:,} bytes of code miss the L0 instruction cache of {front.l0_bytes:,} bytes "
        f"{o.sm.l0i_misses / first:.1f} times a line.",
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
