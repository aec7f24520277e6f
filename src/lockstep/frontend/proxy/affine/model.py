"""The affine model of a kernel, as a kind of model."""

import math
from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from lockstep.errors import LockstepError
from lockstep.frontend.proxy.affine import programs, tables
from lockstep.frontend.proxy.affine.coding import KernelCode
from lockstep.frontend.proxy.affine.generate import Generator
from lockstep.frontend.proxy.affine.tables import Tables
from lockstep.frontend.proxy.affine.templates import Templates
from lockstep.frontend.proxy.model import Ctas, KernelModel, Launched, register
from lockstep.frontend.tracefile.columns import Malformed
from lockstep.isa.instruction import ALL_LANES, WARP_SIZE, verify
from lockstep.workload import MOST_GRID, Code

MOST_TEXTS = 1 << 16
MOST_TEXT = 256
MOST_WARPS = 32 * 32
MOST_SITES = 1 << 12
FEWEST_CTAS = 64  # that a smaller workload keeps, if there are as many


@register
class AffineModel(KernelModel):
    """Sites, functions of the place in the grid, patterns of lanes, and loops of them.

    ``warps``: of a CTA; ``texts``: opcodes of sites and slots; ``allocations``: how many it knows.
    """

    method = "affine"

    def __init__(self, tables: Tables, texts: list[str], warps: int, allocations: int):
        self.tables, self.texts, self.warps = tables, texts, warps
        self._allocations = allocations

    @property
    def allocations(self) -> int:
        """How many allocations it knows."""
        return self._allocations

    def facts(self) -> dict[str, Any]:
        """What is kept in JSON."""
        return {"texts": self.texts, "warps": self.warps, "allocations": self._allocations}

    def columns(self) -> dict[str, np.ndarray]:
        """What is kept as columns."""
        return self.tables.columns

    @classmethod
    def of(cls, facts: Mapping[str, Any], columns: Mapping[str, np.ndarray]) -> Self:
        """The model of a file. Raises :class:`Malformed`."""
        texts, warps, known = (facts.get(name) for name in ("texts", "warps", "allocations"))
        if not (isinstance(texts, list) and len(texts) <= MOST_TEXTS and all(map(_is_text, texts))):
            raise Malformed("expected texts of instructions")
        if not (type(warps) is int and 1 <= warps <= MOST_WARPS):
            raise Malformed(f"{warps} warps; expected 1 to {MOST_WARPS}")
        if not (type(known) is int and 0 <= known < 1 << 20):
            raise Malformed("expected a number of allocations")
        found = tables.tables_of(columns)
        if len(found.site_op) > MOST_SITES:
            raise Malformed(f"{len(found.site_op)} sites; expected at most {MOST_SITES}")
        tables.check(found, len(texts), warps, known)
        programs.check(found, warps)
        return cls(found, texts, warps, known)

    def check(self, launch: Launched) -> None:
        """Raise ``Malformed`` if a launch cannot be generated."""
        if launch.warps != self.warps:
            raise Malformed(f"a block of {launch.warps} warps; expected {self.warps}")
        placed, ctas = int(self.tables.placement_ctas.sum()), math.prod(launch.grid)
        if placed != ctas:
            raise Malformed(f"a grid of {ctas} CTAs; {placed} have a place")
        lanes = self.tables.mask_lanes
        if launch.warp_size == WARP_SIZE and ((lanes < 0) | (lanes > ALL_LANES)).any():
            raise Malformed(f"a mask of more than {WARP_SIZE} lanes")
        code = KernelCode(self.tables, self.texts, launch.warp_size).code
        try:
            verify(code.instructions, code.texts, launch.warp_size)
        except LockstepError as problem:
            raise Malformed(str(problem)) from None
        jumps = int(np.abs(self.tables.split_jump).max(initial=0))
        if jumps * launch.grid[0] >= tables.MOST_OFFSET // max(1, len(self.tables.split_jump)):
            raise Malformed("a jump of a split is too large for the grid")
        steps = (*launch.grid, launch.warps, 1024, 1024)
        for name, most in zip(tables.FACTORS, steps):
            factor = getattr(self.tables, f"function_{name}")
            if len(factor) and int(np.abs(factor).max()) * most >= tables.MOST_OFFSET:
                raise Malformed(f"factor {name} of a function is too large for the grid")

    def generate(self, launch: Launched) -> tuple[tuple[int, int, int], Code, Ctas]:
        """The grid, the code and the CTAs of a launch."""
        code = KernelCode(self.tables, self.texts, launch.warp_size)
        templates = Templates(self.tables, code, self.warps)
        total = math.prod(launch.grid)
        wanted = max(math.ceil(total * launch.scale), min(total, FEWEST_CTAS))
        if wanted < total:
            wanted = min(wanted, MOST_GRID[0])
        # In the order of the grid: with a part of its own shape, which has fewer lines, others
        # share an SM and are under way together, and L1s and L2s come out twice as wrong.
        begin = (total - wanted) // 2 + launch.turn * wanted
        chosen = [cta % total for cta in range(begin, begin + wanted)]
        generator = Generator(self.tables, templates, launch, chosen)
        grid = launch.grid if wanted == total else (wanted, 1, 1)
        return grid, code.code, generator


def _is_text(text: Any) -> bool:
    return isinstance(text, str) and len(text) <= MOST_TEXT
