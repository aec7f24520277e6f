"""The local data share: one instruction after the other, in parts of a wavefront."""

from lockstep._jit import inline
from lockstep.model.core import attribution
from lockstep.model.core.shared_memory import passes
from lockstep.model.core.stream import next_address


@inline
def free_at(c, s):
    """Cycle from which an LDS instruction may issue, that then waits for those before it."""
    return c.cus[s].lds_free - c.spec[0].lds_slack


@inline
def access(c, s, warp, instruction, now):
    """Cycle at which an LDS instruction has its data, or has written it."""
    cu, spec, counters = c.cus[s], c.spec[0], c.counters[s]
    cta = c.ctas[s, warp.cta]
    record = c.addresses[cta.addresses + warp.address]
    n = passes(c, s, record, cta.pool, warp, instruction, c.spec[0].ideal_banks)
    next_address(warp)
    counters.memory_instructions += 1
    counters.shared_accesses += 1
    counters.shared_wavefronts += n
    if c.spec[0].attributes:
        attribution.shared(c, s, warp.kernel, warp.static, n)
    begins = max(now, cu.lds_free)
    cu.lds_free = begins + n * spec.shared_pass
    return begins + spec.lds_latency + (n - 1) * spec.shared_pass
