"""Which program a proxy may be of: the nearest of a library of profiles.

What is compared is what G-MAP's profile says of the launch with most accesses, whatever the method
of the proxy: how many instructions and lines a warp has, how varied and how large strides are, how
often lines are reused. Not how large the grid is.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from lockstep.frontend.proxy import Proxy
from lockstep.frontend.proxy.gmap import FiveTuple, GmapModel, Histograms
from lockstep.frontend.proxy.gmap.sites import COLD, MOST_LINES, ORDINAL_BITS
from lockstep.isa.instruction import OpClass
from lockstep.proxies.profiling import profile

_OPS = (OpClass.LOAD, OpClass.STORE, OpClass.ATOMIC, OpClass.BARRIER)


class Fingerprint(NamedTuple):
    """Numbers that tell programs apart; float64 [features]."""

    values: np.ndarray


def fingerprint(proxy: Proxy) -> Fingerprint:
    """Of a proxy of any method: one of G-MAP is made of what it accesses, if it is none."""
    if any(not isinstance(model, GmapModel) for model in proxy.models):
        proxy = profile(proxy.workload(), "gmap")
    best, most = None, -1.0
    for launch in proxy.launches:
        model = proxy.models[launch.model]
        assert isinstance(model, GmapModel), "it was made of one"
        warps = proxy.launched(launch).warps
        count = model.five.warp_accesses * warps * int(np.prod(launch.grid))
        if count > most:
            best, most = (model.five, warps), count
    assert best is not None, "a proxy has a launch"
    return Fingerprint(_features(*best))


def nearest(found: Fingerprint, library: Mapping[str, Fingerprint]) -> Sequence[str]:
    """The names of a library, the nearest first: by distance, each feature in units of its spread.

    Features that do not vary in the library say nothing.
    """
    names = list(library)
    table = np.stack([library[name].values for name in names])
    spread = table.std(axis=0)
    known = spread > 0
    distance = (table - found.values)[:, known] / spread[known]
    order = np.argsort((distance**2).sum(axis=1), kind="stable")
    return [names[i] for i in order.tolist()]


def _features(five: FiveTuple, warps: int) -> np.ndarray:
    sites = five.paths.entries >> ORDINAL_BITS
    lengths = np.diff(five.paths.first)
    weight = np.repeat(five.paths.warps, lengths).astype(np.float64)
    total = max(float(weight.sum()), 1.0)
    ops = five.sites["op"][sites]
    first = (five.paths.entries & (MOST_LINES - 1)) == 0
    mix = [float(weight[ops == op].sum()) / total for op in _OPS]
    distances = five.reuse.values
    cold = distances == COLD
    reuse = five.reuse.counts / max(int(five.reuse.counts.sum()), 1)
    return np.array(
        [
            np.log2(warps),
            np.log2(1 + five.warp_accesses),
            np.log2(1 + len(np.unique(sites))),
            np.log2(total / max(float(weight[first].sum()), 1.0)),  # lines of an instruction
            *mix,
            float(reuse[cold].sum()),
            float((reuse * np.log2(2 + distances)).sum()),
            *_strides(five.inter),
            *_strides(five.intra),
        ]
    )


def _strides(histograms: Histograms) -> list[float]:
    """Entropy, share of none and of one line, and how large strides are."""
    total = max(int(histograms.counts.sum()), 1)
    values, place = np.unique(histograms.values, return_inverse=True)
    share = np.bincount(place, histograms.counts, len(values)) / total
    return [
        float(-(share * np.log2(np.maximum(share, 1e-12))).sum()),
        float(share[values == 0].sum()),
        float(share[np.abs(values) == 1].sum()),
        float((share * np.log2(1 + np.abs(values))).sum()),
    ]
