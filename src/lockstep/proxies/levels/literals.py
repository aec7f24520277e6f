"""Irregular accesses that a model keeps word by word: at other levels than plain, none does.

A kernel with such accesses is kept by G-MAP's distributions instead.
"""

from collections.abc import Callable

import numpy as np

from lockstep.frontend.proxy import KernelModel
from lockstep.frontend.proxy.affine import AffineModel
from lockstep.proxies import gmap
from lockstep.proxies.profiles import Fitted, LaunchProfile
from lockstep.proxies.regions import Regions
from lockstep.workload import Cta, Kernel

MOST_TOKENS = 64  # different executions of one site: more are taken for a list of data


def has_literals(model: KernelModel) -> bool:
    """Whether a model tells irregular accesses word by word."""
    if not isinstance(model, AffineModel):
        return False
    tables = model.tables
    executions = np.bincount(tables.token_site, minlength=1)
    return bool(tables.site_moves.any() or executions.max() > MOST_TOKENS)


class ProfileWithoutLiterals:
    """Profiles a launch in two ways, and takes the second where the first has literals."""

    def __init__(self, first: LaunchProfile, second: LaunchProfile):
        self._first, self._second = first, second

    def add(self, cta: Cta) -> None:
        """The next CTA."""
        self._first.add(cta)
        self._second.add(cta)

    def fitted(self, regions: Regions) -> Fitted:
        """The model of all of them."""
        found = self._first.fitted(regions)
        return self._second.fitted(regions) if has_literals(found.model) else found


def without_literals(begin: Callable[[Kernel], LaunchProfile]) -> Callable[[Kernel], LaunchProfile]:
    """What begins profiles of a method, for levels at which there are no literals."""
    if begin is gmap.begin:
        return begin
    return lambda kernel: ProfileWithoutLiterals(begin(kernel), gmap.begin(kernel))
