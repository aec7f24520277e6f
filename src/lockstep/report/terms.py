"""What parts of GPUs and launches are called: in NVIDIA's words, and in OpenCL's on AMD's."""

from typing import NamedTuple

from lockstep.gpus.spec import GPU


class Terms(NamedTuple):
    """The words that a reader of a result expects for a kind of core."""

    core: str
    warp: str
    cta: str
    thread: str
    grid: str  # how many CTAs a launch has, by axis
    block: str  # how many threads a CTA has, by axis
    shared: str  # what counts the passes of shared memory


_BY_CORE = {
    "sm": Terms("SM", "warp", "CTA", "thread", "grid", "block", "shared, wavefronts"),
    "cu": Terms(
        "CU", "wavefront", "work-group", "work-item", "work-groups", "local size", "LDS, passes"
    ),
}


def terms(gpu: GPU) -> Terms:
    """The words of a GPU's kind of core (``GPU.core``)."""
    return _BY_CORE[gpu.core]
