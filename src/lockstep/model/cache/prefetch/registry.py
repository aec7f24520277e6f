"""The built-in prefetchers by name, for each level."""

from collections.abc import Callable

from lockstep.gpus.spec import GPU
from lockstep.model.cache.prefetch import stream, stride

L1 = {"stride": stride.stride}
L2 = {"stream": stream.stream}


def chosen(gpu: GPU) -> dict[str, Callable]:
    """Those that a GPU has, by the names of policies."""
    found: dict[str, Callable] = {}
    if gpu.l1.prefetcher != "none":
        found["l1_prefetcher"] = L1[gpu.l1.prefetcher]
    if gpu.l2.prefetcher != "none":
        found["l2_prefetcher"] = L2[gpu.l2.prefetcher]
    return found
