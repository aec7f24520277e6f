"""G-MAP's profile of a kernel: what the accesses of its warps have in common.

``profile.py`` reads CTAs, ``distances.py`` finds how far back reuse is, ``clustering.py`` puts
paths together that are alike, ``counting.py`` counts.
"""

from lockstep.proxies.gmap.profile import GmapProfiler

__all__ = ["GmapProfiler"]
