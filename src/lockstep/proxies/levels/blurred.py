"""A proxy whose extents and strides are rounded, and whose counts have noise."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lockstep.frontend.proxy import KernelModel, Proxy, ProxyAllocation, ProxyCopy, ProxyLaunch
from lockstep.frontend.proxy.affine import AffineModel, Tables
from lockstep.frontend.proxy.affine.tables import FACTORS
from lockstep.frontend.proxy.gmap import GmapModel, Paths
from lockstep.frontend.proxy.gmap.scale import longest_loop
from lockstep.proxies.levels.rounding import blurred_histograms, noised, rounded, rounded_up

_STRIDES = (*(f"function_{name}" for name in FACTORS), "split_jump", "pattern_gap", "token_delta")
Grid = tuple[int, int, int]


def blurred(proxy: Proxy, epsilon: float, random: np.random.Generator) -> Proxy:
    """The proxy with rounded allocations, copies, grids, loops and strides, and noise in counts."""
    allocations = [ProxyAllocation(a.base, rounded_up(a.bytes)) for a in proxy.allocations]
    models = list(proxy.models)
    commands: list[ProxyLaunch | ProxyCopy] = list(proxy.commands)
    for number, model in enumerate(proxy.models):
        places = [
            n
            for n, command in enumerate(commands)
            if isinstance(command, ProxyLaunch) and command.model == number
        ]
        launches = [command for command in proxy.launches if command.model == number]
        models[number], grids = _blurred_model(
            model, [launch.grid for launch in launches], epsilon, random
        )
        for n, launch, grid in zip(places, launches, grids):
            commands[n] = replace(launch, grid=grid)
    for n, command in enumerate(commands):
        if isinstance(command, ProxyCopy):
            commands[n] = _blurred_copy(command, allocations[command.allocation].bytes)
    return replace(proxy, allocations=allocations, models=models, commands=commands)


def _blurred_copy(copy: ProxyCopy, room: int) -> ProxyCopy:
    offset = min(int(rounded(np.array([copy.offset]))[0]), room)
    size = min(int(rounded(np.array([copy.bytes]))[0]), room - offset)
    return ProxyCopy(copy.allocation, offset, size)


def _blurred_model(
    model: KernelModel, grids: Sequence[Grid], epsilon: float, random: np.random.Generator
) -> tuple[KernelModel, Sequence[Grid]]:
    """The model, and the grids of its launches."""
    if isinstance(model, GmapModel):
        return _blurred_gmap(model, epsilon, random), [rounded_grid(grid) for grid in grids]
    assert isinstance(model, AffineModel), "there is no other kind"
    return _blurred_affine(model, grids)


def rounded_grid(grid: Grid) -> Grid:
    """Each extent, rounded."""
    x, y, z = rounded(np.array(grid)).tolist()
    return x, y, z


def _blurred_gmap(model: GmapModel, epsilon: float, random: np.random.Generator) -> GmapModel:
    five = model.five
    sites = five.sites.copy()
    sites["base"] = rounded(sites["base"])
    kept = noised(five.paths.warps, epsilon, random)
    chosen = np.flatnonzero(kept).tolist()
    reuse = blurred_histograms(five.reuse, epsilon, random)
    return replace(
        model,
        distinct=0,
        forced=0,
        five=replace(
            five,
            sites=sites,
            paths=Paths.of([blurred_path(five.paths[i]) for i in chosen], kept[chosen]),
            inter=blurred_histograms(five.inter, epsilon, random),
            intra=blurred_histograms(five.intra, epsilon, random),
            reuse=type(reuse).of([reuse[i] for i in chosen]),
        ),
    )


def blurred_path(path: np.ndarray) -> np.ndarray:
    """A path whose longest loop has a rounded number of turns."""
    begin, period, turns = longest_loop(path)
    more = int(rounded(np.array([turns]))[0]) - turns
    turn = path[begin : begin + period]
    if more <= 0:
        return np.concatenate([path[:begin], path[begin - more * period :]])
    return np.concatenate([path[:begin], np.tile(turn, more), path[begin:]])


def _blurred_affine(
    model: AffineModel, grids: Sequence[Grid]
) -> tuple[AffineModel, Sequence[Grid]]:
    """Grids of one kind of CTAs are rounded; where kinds have places, the grid stays."""
    columns = {name: column.copy() for name, column in model.tables.columns.items()}
    for name in _STRIDES:
        columns[name] = rounded(columns[name])
    loops = columns["entry_token"] < 0
    columns["entry_token"][loops] = rounded(columns["entry_token"][loops])
    others = [rounded_grid(grid) for grid in grids]
    sizes = {math.prod(grid) for grid in others}
    if len(columns["placement_shape"]) == 1 and len(sizes) == 1:
        columns["placement_ctas"] = np.array(list(sizes), np.int64)
        grids = others
    return AffineModel(Tables(**columns), model.texts, model.warps, model.allocations), grids
