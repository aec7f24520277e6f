"""Clusters, CTAs that run together in a GPC: what is asked for, and what a GPU takes."""

import math
from collections.abc import Mapping

from lockstep.errors import WorkloadError
from lockstep.gpus.spec import GPU
from lockstep.isa.instruction import MOST_CLUSTER_CTAS
from lockstep.model.core.bind import occupancy
from lockstep.model.dispatch.gpc import ctas_held
from lockstep.workload import Kernel

MOST_PORTABLE = 8  # CTAs; CUDA C++ Programming Guide, thread block clusters
ARCHITECTURE = 90  # the first with clusters

Triple = tuple[int, int, int]


class ClusterError(WorkloadError):
    """Clusters that the kernel, or the GPU, does not allow."""


def required_cluster(directives: Mapping[str, tuple]) -> Triple | None:
    """The cluster that the directives of a kernel name."""
    required = directives.get("reqnctapercluster")
    return None if required is None else (*required, 1, 1)[:3]


def cluster_of(kernel: str, directives: Mapping[str, tuple], asked: Triple | None) -> Triple | None:
    """The cluster of a launch: what its kernel requires, or what the launch asks for.

    None if neither says anything. Raises :class:`ClusterError` that names the directive.
    """
    wanted = required_cluster(directives)
    if wanted is not None:
        if asked not in (None, wanted):
            raise ClusterError(
                f"kernel {kernel}: clusters of {asked} CTAs; its .reqnctapercluster is {wanted}"
            )
        asked = wanted
    if asked is None and "explicitcluster" in directives:
        raise ClusterError(
            f"kernel {kernel}: its .explicitcluster wants a cluster: launch it as "
            "kernel.with_cluster(size)[grid, block](*arguments)"
        )
    most = directives.get("maxclusterrank")
    if asked is not None and most is not None and math.prod(asked) > most[0]:
        raise ClusterError(
            f"kernel {kernel}: clusters of {math.prod(asked)} CTAs; "
            f"its .maxclusterrank is {most[0]}"
        )
    return asked


def most_clusters(kernel: Kernel, gpu: GPU, portable: bool = True) -> int:
    """How many clusters of a kernel the GPU holds at once.

    ``portable``: sizes are refused that not every GPU with clusters takes. Raises
    :class:`ClusterError` if the GPU cannot run them.
    """
    size, name = kernel.cluster_ctas, f"kernel {kernel.name}"
    if size == 1:
        return occupancy(kernel, gpu)[0] * gpu.sm.count
    if max(gpu.architectures, default=0) < ARCHITECTURE:
        raise ClusterError(f"{name}: {gpu.name} has no clusters; they came with sm_{ARCHITECTURE}")
    most = MOST_PORTABLE if portable else MOST_CLUSTER_CTAS
    if size > most:
        more = f" (if not portable, {MOST_CLUSTER_CTAS})" if portable else ""
        raise ClusterError(f"{name}: clusters of {size} CTAs; a GPU takes at most {most}{more}")
    if not kernel.whole_clusters:
        raise ClusterError(
            f"{name}: clusters of {kernel.cluster} CTAs do not divide the grid {kernel.grid}"
        )
    count = sum(ctas // size for ctas in ctas_held(kernel, gpu))
    if count == 0:
        raise ClusterError(f"{name}: no GPC of {gpu.name} holds {size} of its CTAs")
    return count
