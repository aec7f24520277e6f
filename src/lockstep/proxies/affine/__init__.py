"""The affine model of a launch, from what its CTAs access.

``collect.py`` keeps the streams of CTAs by their shapes, ``patterns.py`` tells bases from what
lanes access from there on, ``functions.py`` finds how bases depend on the place in the grid,
``kinds.py`` tells kinds of CTAs, ``loops.py`` folds what repeats, and ``fit.py`` makes the model's
tables of it all.
"""

from lockstep.proxies.affine.collect import LaunchStreams
from lockstep.proxies.affine.fit import fit
from lockstep.proxies.profiles import Fitted
from lockstep.proxies.regions import Regions
from lockstep.workload import Cta, Kernel

__all__ = ["begin"]


class AffineProfile:
    """Keeps the streams of a launch, and fits a model to them."""

    def __init__(self, kernel: Kernel):
        self._streams = LaunchStreams(kernel)

    def add(self, cta: Cta) -> None:
        """Keep the next CTA."""
        self._streams.add(cta)

    def fitted(self, regions: Regions) -> Fitted:
        """The model of all of them."""
        return fit(self._streams, regions)


def begin(kernel: Kernel) -> AffineProfile:
    """A launch begins."""
    return AffineProfile(kernel)
