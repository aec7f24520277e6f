"""A proxy without names and addresses: what its allocations are called and where they lie."""

from dataclasses import replace

import numpy as np

from lockstep.frontend.proxy import KernelModel, Proxy, ProxyAllocation, ProxyCopy, ProxyLaunch
from lockstep.frontend.proxy.affine import AffineModel, Tables
from lockstep.frontend.proxy.gmap import FiveTuple, GmapModel, Histograms, Paths
from lockstep.frontend.proxy.gmap.sites import MOST_LINES, NOTHING, ORDINAL_BITS

FIRST = 1 << 40  # address from which allocations lie
INTERLEAVING = 1 << 21  # a multiple of what GPUs spread memory by; large pages have it
_BYTES = 16  # of an instruction


def hidden(proxy: Proxy, random: np.random.Generator) -> Proxy:
    """The same accesses under other names, in allocations that lie in another order.

    They lie as before within INTERLEAVING bytes, which says in which slice and set a line is.
    """
    order = random.permutation(len(proxy.allocations))
    allocations, end = [], FIRST
    for number in order.tolist():
        old = proxy.allocations[number]
        base = -(-end // INTERLEAVING) * INTERLEAVING + old.base % INTERLEAVING
        allocations.append(ProxyAllocation(base, old.bytes))
        end = base + old.bytes + int(random.integers(1, 17)) * INTERLEAVING
    place = np.argsort(order).tolist()
    turned = [random.permutation(model.allocations) for model in proxy.models]
    names: dict[str, str] = {}
    streams = {0: 0}
    commands: list[ProxyLaunch | ProxyCopy] = []
    for command in proxy.commands:
        if isinstance(command, ProxyCopy):
            commands.append(replace(command, allocation=place[command.allocation]))
            continue
        known = np.array([place[a] for a in command.allocations], np.int64)
        launch = replace(
            command,
            name=names.setdefault(command.name, f"kernel {len(names) + 1}"),
            stream=streams.setdefault(command.stream, len(streams)),
            allocations=tuple(known[np.argsort(turned[command.model])].tolist()),
        )
        commands.append(launch)
    models = [_hidden_model(*pair) for pair in zip(proxy.models, turned)]
    return replace(proxy, name="proxy", models=models, commands=commands, allocations=allocations)


def _hidden_model(model: KernelModel, turned: np.ndarray) -> KernelModel:
    """A model that knows its allocations by other numbers, and nothing of its instructions."""
    number = np.append(turned, NOTHING)  # the last one is that of NOTHING
    if isinstance(model, GmapModel):
        return replace(model, five=_hidden_tuple(model.five, number))
    assert isinstance(model, AffineModel), "there is no other kind"
    columns = dict(model.tables.columns)
    for name in ("function_region", "lines_region"):
        columns[name] = number[columns[name]]
    return AffineModel(Tables(**columns), model.texts, model.warps, model.allocations)


def _hidden_tuple(five: FiveTuple, number: np.ndarray) -> FiveTuple:
    """Sites in the order in which the most frequent paths come to them."""
    used = five.paths.entries >> ORDINAL_BITS
    _, first = np.unique(used, return_index=True)
    order = used[np.sort(first)]
    place = np.full(len(five.sites), -1, np.int64)
    place[order] = np.arange(len(order))
    sites = five.sites[order].copy()
    sites["pc"] = np.arange(len(order)) * _BYTES
    sites["allocation"] = number[sites["allocation"]]
    entries = place[used] << ORDINAL_BITS | five.paths.entries & (MOST_LINES - 1)
    return replace(
        five,
        sites=sites,
        paths=Paths(five.paths.first, entries, five.paths.warps),
        inter=Histograms.of([five.inter[i] for i in order.tolist()]),
        intra=Histograms.of([five.intra[i] for i in order.tolist()]),
    )
