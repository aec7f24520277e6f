"""GPCs: groups of neighbouring SMs; the CTAs of a cluster run in one of them."""

from itertools import pairwise

from lockstep.errors import WorkloadError
from lockstep.gpus.spec import GPU
from lockstep.isa.instruction import MOST_CLUSTER_CTAS
from lockstep.model.sm.bind import occupancy
from lockstep.workload import Kernel


def first_sms(gpu: GPU) -> list[int]:
    """The first SM of each GPC, and behind the last one the number of SMs."""
    gpcs = min(gpu.sm.gpcs, gpu.sm.count)
    return [gpc * gpu.sm.count // gpcs for gpc in range(gpcs + 1)]


def ctas_held(kernel: Kernel, gpu: GPU) -> list[int]:
    """How many CTAs of a kernel each GPC holds at once.

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
