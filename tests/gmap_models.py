"""Random models of G-MAP, for the tests of several folders."""

from dataclasses import replace
from fractions import Fraction

import numpy as np

from lockstep.frontend.proxy import Launched, Proxy, ProxyAllocation, ProxyLaunch
from lockstep.frontend.proxy.gmap import FiveTuple, GmapModel, Histograms, Paths
from lockstep.frontend.proxy.gmap.sites import COLD, ORDINAL_BITS, SITE
from lockstep.isa.instruction import OpClass

OPS = (OpClass.LOAD, OpClass.STORE, OpClass.ATOMIC, OpClass.BARRIER, OpClass.CACHE_CONTROL)
BASES = (1 << 40, 3 << 40)


def random_tuple(seed, *, sites=6, paths=4, length=30):
    """A kernel that nobody wrote, over two allocations; the first site is a load."""
    random = np.random.default_rng(seed)
    table = np.zeros(sites, SITE)
    table["op"] = random.choice(OPS, sites)
    table["op"][0] = OpClass.LOAD
    table["pc"] = np.arange(sites) * 16
    table["sectors"] = random.integers(1, 16, sites)
    table["whole"] = (table["op"] == OpClass.STORE) & (random.random(sites) < 0.5)
    table["allocation"] = random.integers(0, 2, sites)
    table["base"] = random.integers(0, 1 << 20, sites)
    return FiveTuple(
        table,
        Paths.of(
            [random_path(random, table, random.integers(0, length)) for _ in range(paths)],
            random.integers(1, 9, paths),
        ),
        Histograms.of([random_histogram(random, -40, 40) for _ in range(sites)]),
        Histograms.of([random_histogram(random, -3, 4) for _ in range(sites)]),
        Histograms.of([random_histogram(random, COLD, 6) for _ in range(paths)]),
    )


def random_path(random, table, instructions):
    """Instructions of one to five lines each."""
    entries = []
    for site in random.integers(0, len(table), instructions).tolist():
        access = table["op"][site] in OPS[:3]
        lines = int(random.integers(1, 6)) if access else 1
        entries += [site << ORDINAL_BITS | k for k in range(lines)]
    return np.array(entries, np.int64)


def random_histogram(random, low, high):
    values = np.unique(random.integers(low, high, random.integers(1, 6)))
    return values, random.integers(1, 9, len(values))


def launched(grid=(5, 2, 1), block=(96, 1, 1), warp_size=32, number=0, scale=1, seed=0):
    """A launch over the two allocations."""
    bases = np.array(BASES)
    return Launched(grid, block, warp_size, bases, number, Fraction(scale), seed)


def proxy_of(known, grid=(5, 2, 1), block=(96, 1, 1), counting="published", **more):
    """A proxy of one launch of a tuple."""
    launch = ProxyLaunch(0, "kernel", grid, block, (0, 1), **more)
    allocations = [ProxyAllocation(base, 1 << 30) for base in BASES]
    return Proxy("app", "gmap", [GmapModel(known, 2, counting)], [launch], allocations)


def kernel_of(known, *arguments, seed=0, **more):
    """The kernel of that proxy."""
    return proxy_of(known, *arguments, **more).workload(seed=seed).kernels[0]


def only(known, path, **changes):
    """A tuple of which all warps take one path; ``changes``: a value and count for each."""
    changes.setdefault("reuse", known.reuse[0])
    counts = {"inter": len(known.sites), "intra": len(known.sites), "reuse": 1}
    changed = {name: Histograms.of([pair] * counts[name]) for name, pair in changes.items()}
    return replace(known, paths=Paths.of([path], [1]), **changed)
