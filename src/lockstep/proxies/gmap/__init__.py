"""G-MAP's profile of a kernel: what the accesses of its warps have in common.

``profile.py`` makes the model of a launch, ``entries.py`` writes accesses as paths, ``firsts.py``
finds bases and strides between warps, ``distances.py`` how far back reuse is, ``clustering.py``
puts paths together that are alike, ``counting.py`` counts.
"""

from lockstep.proxies.gmap.profile import GmapProfile
from lockstep.workload import Kernel

__all__ = ["begin"]


def begin(kernel: Kernel) -> GmapProfile:
    """A launch begins."""
    return GmapProfile(kernel)
