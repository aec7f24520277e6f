"""Grids whose parts go to the modules of a GPU: the order in which their CTAs are queued.

Each module gets CTAs from its own part of the grid, so they are queued in turns: the first CTA of
each part, then the second of each. For that all CTAs of a kernel are read before the first one
runs.
"""

from collections.abc import Iterator
from itertools import chain, zip_longest

from lockstep.engine.readings import linear
from lockstep.errors import WorkloadError
from lockstep.gpus.spec import GPU
from lockstep.workload import Cta, Kernel


def has_parts(gpu: GPU) -> bool:
    """Whether modules get parts of a grid."""
    return gpu.modules.count > 1 and gpu.modules.ctas == "contiguous"


def check_parts(kernel: Kernel, gpu: GPU) -> None:
    """Raise :class:`WorkloadError` if a kernel's grid cannot be parted, but should be."""
    if not has_parts(gpu):
        return
    name = f"kernel {kernel.id} ({kernel.name})"
    wanted = f"modules.ctas of {gpu.name} is contiguous"
    if kernel.source is not None:
        raise WorkloadError(f"{name} is executed at issue, CTA by CTA in order: {wanted}")
    if kernel.cluster_ctas > 1:
        raise WorkloadError(f"{name} has clusters of {kernel.cluster} CTAs: {wanted}")


def in_parts(kernel: Kernel, gpu: GPU, ctas: Iterator[Cta]) -> Iterator[Cta]:
    """All CTAs in the order in which they are queued."""
    parts: list[list[Cta]] = [[] for _ in range(gpu.modules.count)]
    for cta in ctas:
        parts[linear(kernel, cta) * len(parts) // kernel.n_ctas].append(cta)
    turns = chain.from_iterable(zip_longest(*parts))
    yield from (cta for cta in turns if cta is not None)
