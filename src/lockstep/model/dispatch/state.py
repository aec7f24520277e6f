"""What the CTA scheduler keeps. Cycle numbers are absolute core cycles."""

import numpy as np

from lockstep._jit import Context, Records
from lockstep.gpus.spec import GPU
from lockstep.isa.instruction import MOST_CLUSTER_CTAS
from lockstep.model.clock import NEVER
from lockstep.model.control import Control
from lockstep.model.dispatch.gpc import first_sms, turns
from lockstep.model.modules.pages import Pages
from lockstep.model.modules.pages import build as build_owners
from lockstep.model.records import copy_fields, records, words, zeros

QUEUE = 4  # times the CTAs that a window may need, of small ones: so they are read many at a time
THOUSAND = 1000  # in which CTAs are started: parts of a cycle
WAITING_CTAS = 32  # of each SM, of grids whose parts go to modules


SPEC = np.dtype(
    words(
        "sms", "ctas", "warps", "registers", "shared",  # of an SM
        "interval", "first_interval",  # between CTAs, in thousandths of a cycle
        "refill", "cluster_latency",
        "low",  # CTAs that a window may need
        "most_retired",
        "pages_move",  # SMs may ask for pages
        "modules", "module_sms",
        "contiguous",  # 1: a module gets one part of a grid
    )
)  # fmt: skip

GRID = np.dtype(
    words(
        "warps", "registers", "shared",  # of a CTA, rounded up
        "cluster",  # CTAs that are dispatched together, one after the other in the ring
        "filling",  # CTAs that all SMs hold at once
        "share",  # of the grid that an SM gets
        "ctas",  # that it will ever have
        "more",  # 1: some of them are yet to be read
        "executed",  # 1: at issue, by a source that may fail
        "queued",  # CTAs handed over so far
        "total",  # CTAs of the grid
    )
)  # fmt: skip
"""A kernel slot as the engine describes it."""

PROGRESS = np.dtype(
    words(
        "taken", "ended",  # CTAs dispatched, and ended
        "started",  # cycle of the first dispatch, or -1
        "storing",  # SMs on which stores of ended CTAs are on their way
        "warp_instructions", "thread_instructions",  # of the CTAs dispatched
    )
)  # fmt: skip
"""How far the kernel in a slot is."""

PENDING = np.dtype(
    words("cta", "warps", "runs", "addresses", "pool", "warp_instructions", "thread_instructions")
)
"""A CTA read and not yet dispatched: its linear id, where its stream begins in each arena, and the
instructions of all its warps."""

STATE = np.dtype(
    words(
        "time",  # earliest next dispatch in thousandths of a cycle
        "next_place", "next_gpc",
        "clusters",  # rows ever in use
        "leaving_at",  # cycle from which the first place of an ended CTA is free, or NEVER
        "dispatched",  # CTAs of this window
        "retired",  # messages kept for the engine
        "kernels",  # that CTAs are dispatched of, the first ones of ``order``
    )
)  # fmt: skip

SM_SLOTS = np.dtype(
    words(
        "ctas", "warps", "registers", "shared",  # in use
        "leaving", "first",  # places that are not free yet: how many, the first in the ring
        "at",  # cycle from which that one is, or NEVER
    )
)  # fmt: skip
"""What of an SM is in use, as far as the scheduler knows."""

LEAVING = np.dtype(words("at", "warps", "registers", "shared"))
"""The place of a CTA that has ended: the cycle from which it is free, and what it gives back."""

RETIRED = np.dtype(words("kernel", "cta", "sm", "start", "end", "lasted"))
"""A message ENDED of an SM, for the engine."""

CLUSTER = np.dtype(
    words("ctas")
    + [
        (name, "i8", (MOST_CLUSTER_CTAS,))
        for name in ("sm", "slot", "came", "awaited", "last", "ended")
    ]
)
"""A cluster that runs: how many CTAs, 0 = the row is free; by rank, where each is and what was last
heard of it."""


class Dispatcher(Context):
    """State of the CTA scheduler."""

    spec: Records  # SPEC, one
    state: Records  # STATE, one
    first_sms: np.ndarray  # GPCs + 1: the first SM of each, then the number of SMs
    turns: np.ndarray  # the SMs in the order in which they are offered CTAs
    begins: np.ndarray  # for each of its places: the next one at which a kernel begins
    module_places: np.ndarray  # where the turn of a module's SMs goes on
    order: np.ndarray  # kernel slots, in the order in which they are served
    grids: Records  # GRID, kernel slots
    progress: Records  # PROGRESS, kernel slots
    pending: Records  # PENDING, slots x capacity, a ring for each kernel
    given: np.ndarray  # sms x kernel slots: CTAs that the SM got in turn
    storing: np.ndarray  # sms x kernel slots: 1 = stores of ended CTAs are on their way
    slots: Records  # SM_SLOTS, sms
    leaving: Records  # LEAVING, sms x CTA slots: a ring, by cycle
    clusters: Records  # CLUSTER, as many as can run
    retired: Records  # RETIRED, those that the engine has not seen
    control: Control
    pages: Pages


def build(gpu: GPU, control: Control, pages: Pages | None = None) -> Dispatcher:
    """A scheduler without kernels; ``pages``: to which it gives homes."""
    n, slots = gpu.sm.count, gpu.launch.concurrent_kernels
    spec = records(1, SPEC)
    s = spec[0]
    copy_fields(s, gpu.sm, gpu.launch)
    s.sms, s.shared = n, gpu.shared.bytes
    first = gpu.launch.first_interval or gpu.launch.cta_interval
    s.interval = max(1, round(THOUSAND * gpu.launch.cta_interval))
    s.first_interval = max(1, round(THOUSAND * first))
    s.cluster_latency = gpu.sm.cluster_barrier_latency
    window_ctas = int(gpu.interconnect.latency / min(gpu.launch.cta_interval, first)) + 2
    s.low = max(window_ctas, MOST_CLUSTER_CTAS)
    s.most_retired = control.ended.size
    s.pages_move = gpu.host.memory == "migrating"
    s.modules, s.module_sms = gpu.modules.count, n // gpu.modules.count
    s.contiguous = gpu.modules.count > 1 and gpu.modules.ctas == "contiguous"
    if s.contiguous:  # so that no module runs out of CTAs behind those that wait for another one
        s.low = max(s.low, WAITING_CTAS * n)
    order = turns(gpu)
    built = Dispatcher(
        spec=spec,
        state=records(1, STATE),
        first_sms=np.array(first_sms(gpu), np.int64),
        turns=np.array(order.order, np.int64),
        begins=np.array(order.begins, np.int64),
        module_places=zeros(gpu.modules.count),
        order=zeros(slots),
        grids=records(slots, GRID),
        progress=records(slots, PROGRESS),
        pending=records((slots, int(QUEUE * s.low)), PENDING),
        given=zeros((n, slots)),
        storing=zeros((n, slots)),
        slots=records(n, SM_SLOTS),
        leaving=records((n, gpu.sm.ctas), LEAVING),
        clusters=records(n * gpu.sm.ctas // 2 + 1, CLUSTER),
        retired=records(2 * control.ended.size, RETIRED),
        control=control,
        pages=pages or build_owners(gpu, gpu.l2.slice_hash, 1).pages,
    )
    built.state["leaving_at"] = built.slots["at"] = NEVER
    return built
