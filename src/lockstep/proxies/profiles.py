"""What a method of proxies makes of one launch."""

from dataclasses import dataclass
from typing import Protocol

from lockstep.frontend.proxy import KernelModel
from lockstep.proxies.regions import Regions
from lockstep.workload import Cta


@dataclass(frozen=True, slots=True)
class Fitted:
    """A model, and of which region each allocation is that it knows."""

    model: KernelModel
    regions: tuple[int, ...]


class LaunchProfile(Protocol):
    """What a method keeps of one launch: ``begin(kernel)`` of its module makes it."""

    def add(self, cta: Cta) -> None:
        """The next CTA, in grid order."""
        ...

    def fitted(self, regions: Regions) -> Fitted:
        """The model of all of them; ``regions``: the memory that there is."""
        ...
