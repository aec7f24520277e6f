"""Makes the CTAs of a launch from the tables of its model, one when it is asked for."""

from collections.abc import Iterator, Sequence

import numpy as np

from lockstep.frontend.proxy.affine.moving import Lines, mix
from lockstep.frontend.proxy.affine.tables import FACTORS, NOTHING, Tables
from lockstep.frontend.proxy.affine.templates import NOWHERE_OFFSET, Template, Templates
from lockstep.frontend.proxy.model import Launched
from lockstep.workload import ADDRESS, NOWHERE, Cta


class Generator:
    """The CTAs of one launch.

    ``chosen``: the CTAs of the grid that it has, by their linear numbers.
    """

    def __init__(
        self, tables: Tables, templates: Templates, launch: Launched, chosen: Sequence[int]
    ):
        self._t, self._templates, self._launch = tables, templates, launch
        self._chosen = chosen
        self._ends = np.cumsum(tables.placement_ctas)
        self._lines = Lines(tables, len(launch.bases))
        self._of_warps = self._by_warp()
        self._region = np.repeat(tables.function_region, launch.warps)
        bases = np.append(launch.bases, 0)  # that of NOTHING
        self._base = bases[self._region]

    def _by_warp(self) -> np.ndarray:
        """What warps add to functions, int64 [functions, warps of a CTA]."""
        t, launch = self._t, self._launch
        warp = np.arange(launch.warps)
        row = warp * launch.warp_size // launch.block[0]
        plane = row // launch.block[1]
        value = t.function_warp[:, None] * warp + t.function_row[:, None] * row
        return value + t.function_plane[:, None] * plane

    def __call__(self) -> Iterator[Cta]:
        """All of them, in order."""
        whole = (
            len(self._chosen) == self._launch.grid[0] * self._launch.grid[1] * self._launch.grid[2]
        )
        for n, cta in enumerate(self._chosen):
            yield self.cta(cta, None if whole else (n, 0, 0))

    def cta(self, number: int, index: tuple[int, int, int] | None = None) -> Cta:
        """The CTA with this linear number in the grid; ``index``: what it is called instead."""
        t, launch = self._t, self._launch
        run = int(np.searchsorted(self._ends, number, side="right"))
        shape = int(t.placement_shape[run])
        template: Template = self._templates.of_shape(shape)
        x, y = number % launch.grid[0], number // launch.grid[0] % launch.grid[1]
        place = x, y, number // (launch.grid[0] * launch.grid[1])
        values = self._values(place)
        record = values[template.source] + template.added
        listed = record[template.owner] + template.offsets
        region = self._region[template.source]
        origin = int(t.origin_cta[shape])
        if origin not in (NOTHING, number) and template.moves.any():
            turn = mix(launch.seed) + number
            moves = template.moves[template.owner]
            listed[moves] = self._lines.move(listed[moves], region[template.owner][moves], turn)
            moves = template.moves
            record[moves] = self._lines.move(record[moves], region[moves], turn)
        base = self._base[template.source]
        pool = listed + base[template.owner]
        pool = np.where(template.offsets == NOWHERE_OFFSET, NOWHERE, np.maximum(pool, 0))
        made = np.zeros(len(record), ADDRESS)
        made["first"] = np.maximum(record + base + template.shift, 0)
        made["stride"], made["pool"] = template.stride, NOTHING
        made["first"][template.listed] = pool[template.pool]
        made["pool"][template.listed] = template.pool
        return Cta(index or place, template.warps, template.runs, made, pool)

    def _values(self, place: tuple[int, int, int]) -> np.ndarray:
        """The functions' values for a CTA's warps, bytes; flat, warps fastest."""
        t = self._t
        of_cta = sum(getattr(t, f"function_{name}") * at for name, at in zip(FACTORS, place))
        np.add.at(of_cta, t.split_function, place[0] // t.split_period * t.split_jump)
        value = (of_cta[:, None] + self._of_warps) >> t.function_shift[:, None]
        align = t.function_align[:, None]
        return (value - value % align).reshape(-1)
