"""G-MAP as a kind of model: the 5-tuple of a kernel, kept and drawn from."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from lockstep.frontend.proxy.gmap import columns as stored
from lockstep.frontend.proxy.gmap.code import code_of
from lockstep.frontend.proxy.gmap.ctas import CtaGenerator
from lockstep.frontend.proxy.gmap.draw import PUBLISHED, REUSES
from lockstep.frontend.proxy.gmap.five_tuple import FiveTuple
from lockstep.frontend.proxy.gmap.scale import scaled
from lockstep.frontend.proxy.model import Ctas, KernelModel, Launched, register
from lockstep.frontend.tracefile.columns import Malformed
from lockstep.workload import Code

MOST_ALLOCATIONS = 1 << 20
_MOST = (1 << 63) - 1


@register
@dataclass(frozen=True, eq=False)
class GmapModel(KernelModel):
    """A kernel as G-MAP knows it; ``known``: how many allocations that are.

    ``counting``: one of :data:`.draw.REUSES`. ``self_probability``: SchedP_self, how often a warp
    is followed by itself; never with loose round-robin. ``distinct``: paths there were before they
    were put together; ``forced``: warps whose path is unlike the one that stands for it.
    """

    method: ClassVar[str] = "gmap"
    grows: ClassVar[bool] = True

    five: FiveTuple
    known: int = 1
    counting: str = PUBLISHED
    self_probability: float = 0.0
    distinct: int = 0
    forced: int = 0

    @property
    def allocations(self) -> int:
        """How many allocations it knows."""
        return self.known

    def facts(self) -> dict[str, Any]:
        """What is kept in JSON."""
        return {
            "allocations": self.known,
            "reuse": self.counting,
            "self_probability": self.self_probability,
            "distinct": self.distinct,
            "forced": self.forced,
        }

    def columns(self) -> dict[str, np.ndarray]:
        """What is kept as columns."""
        return stored.encode(self.five)

    @classmethod
    def of(cls, facts: Mapping[str, Any], columns: Mapping[str, np.ndarray]) -> Self:
        """The model of a file. Raises :class:`Malformed`."""
        known = _count(facts, "allocations", MOST_ALLOCATIONS)
        distinct, forced = (_count(facts, name, _MOST) for name in ("distinct", "forced"))
        counting, share = facts.get("reuse"), facts.get("self_probability")
        if counting not in REUSES:
            raise Malformed(f"expected reuse as {' or '.join(REUSES)}")
        if not isinstance(share, int | float) or not 0 <= share <= 1:
            raise Malformed("expected self_probability from 0 to 1")
        found = stored.decode(columns, known)
        return cls(found, known, counting, float(share), distinct, forced)

    def check(self, launch: Launched) -> None:
        """Raise ``Malformed`` if a launch cannot be generated: any can."""

    def generate(self, launch: Launched) -> tuple[tuple[int, int, int], Code, Ctas]:
        """The grid, the code and the CTAs of a launch."""
        paths, grid = scaled(self.five, launch)
        known = replace(self.five, paths=paths)
        code = code_of(known.sites)
        return grid, code, lambda: CtaGenerator(known, launch, grid, self.counting).ctas()


def _count(facts: Mapping[str, Any], name: str, most: int) -> int:
    value = facts.get(name)
    if type(value) is not int or not 0 <= value <= most:
        raise Malformed(f"expected {name} from 0 to {most}")
    return value
