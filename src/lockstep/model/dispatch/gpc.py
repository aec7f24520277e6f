"""GPCs: groups of neighbouring SMs. CTAs go to them in turn, those of a cluster to one of them."""

from itertools import accumulate, pairwise
from math import lcm
from typing import NamedTuple

from lockstep.errors import WorkloadError
from lockstep.gpus.spec import GPU
from lockstep.isa.instruction import MOST_CLUSTER_CTAS
from lockstep.model.core.bind import occupancy
from lockstep.workload.kernel import Kernel


def first_sms(gpu: GPU) -> list[int]:
    """The first SM of each GPC, and behind the last one the number of SMs.

    Those before the first GPC are outside of them.
    """
    gpcs = gpu.sm.gpcs or (gpu.sm.count,)
    outside = max(0, gpu.sm.count - sum(gpcs))
    ends = accumulate(gpcs, initial=outside)
    return sorted({min(end, gpu.sm.count) for end in ends})


class Turns(NamedTuple):
    """In which order SMs are offered CTAs, over and over, and where a kernel may begin."""

    order: list[int]  # SMs
    begins: list[int]  # for each place in the order: the next one at which a kernel begins


def turns(gpu: GPU) -> Turns:
    """GPC after GPC, each SM once; those outside of GPCs after every few of them.

    A kernel begins with the SMs outside; if there are none, where the last one ended.
    """
    firsts = first_sms(gpu)
    gpcs = [range(*pair) for pair in pairwise(firsts)]
    outside = range(firsts[0])
    if not outside:
        return Turns(list(range(gpu.sm.count)), list(range(gpu.sm.count)))
    order: list[int] = []
    starts = []
    for turn in range(lcm(len(gpcs), gpu.sm.outside_turns)):
        if turn % gpu.sm.outside_turns == 0:
            starts.append(len(order))
            order.extend(outside)
        order.extend(gpcs[turn % len(gpcs)])
    after = [min((s for s in starts if s >= place), default=0) for place in range(len(order))]
    return Turns(order, after)


def ctas_held(kernel: Kernel, gpu: GPU) -> list[int]:
    """How many CTAs of a kernel, in clusters, each GPC holds at once.

    Raises :class:`WorkloadError` if not even one fits on an SM.
    """
    each = occupancy(kernel, gpu)[0]
    return [(end - first) * each for first, end in pairwise(first_sms(gpu))]


def check_cluster(kernel: Kernel, gpu: GPU) -> None:
    """Raise :class:`WorkloadError` if clusters do not divide the grid, or one can never run."""
    size = kernel.cluster_ctas
    if size == 1:
        return
    name = f"kernel {kernel.id} ({kernel.name}): clusters of {kernel.cluster} CTAs"
    if not kernel.whole_clusters:
        raise WorkloadError(f"{name} do not divide the grid {kernel.grid}")
    most = min(max(ctas_held(kernel, gpu)), MOST_CLUSTER_CTAS)
    if size > most:
        raise WorkloadError(f"{name}; {gpu.name} runs at most {most} of these CTAs together")
