"""The affine model of a launch, from what its CTAs access.

``collect.py`` keeps the streams of CTAs by their shapes, ``regions.py`` says which memory there is,
``patterns.py`` tells bases from what lanes access from there on, ``functions.py`` finds how bases
depend on the place in the grid, ``kinds.py`` tells kinds of CTAs, ``loops.py`` folds what repeats,
and ``fit.py`` makes the model's tables of it all.
"""

from lockstep.proxies.affine.collect import Collector
from lockstep.proxies.affine.fit import Fitted, fit
from lockstep.proxies.affine.regions import Regions, regions_of

__all__ = ["Collector", "Fitted", "Regions", "fit", "regions_of"]
