"""G-MAP: kernels as distributions (Panda et al., DAC 2017), and the accesses drawn from them.

``five_tuple.py`` has what is known of a kernel, made of ``sites.py`` and ``distributions.py``;
``draw.py`` is algorithm 1, ``ctas.py`` and ``emit.py`` make CTAs of what it draws, ``code.py``
their instructions. ``scale.py`` makes workloads smaller or larger. ``columns.py`` is how it is
kept, and ``model.py`` all of it as a kind of model.
"""

from lockstep.frontend.proxy.gmap.distributions import Histograms, Paths
from lockstep.frontend.proxy.gmap.five_tuple import FiveTuple
from lockstep.frontend.proxy.gmap.model import GmapModel

__all__ = ["FiveTuple", "GmapModel", "Histograms", "Paths"]
