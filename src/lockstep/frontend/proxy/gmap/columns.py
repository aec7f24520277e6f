"""The 5-tuple as columns of a file, and back."""

from collections.abc import Mapping

import numpy as np

from lockstep.frontend.proxy.gmap.distributions import MOST_COUNT, Histograms, Paths
from lockstep.frontend.proxy.gmap.five_tuple import FiveTuple
from lockstep.frontend.proxy.gmap.sites import (
    ACCESSES,
    COLD,
    LINE_MASK,
    MARKERS,
    MOST_DISTANCE,
    MOST_LINES,
    NOTHING,
    ORDINAL_BITS,
    SECTORS,
    SITE,
)
from lockstep.frontend.tracefile.columns import Malformed, check_range
from lockstep.isa.instruction import OpClass

MOST_SITES = 1 << 16
MOST_PC = 1 << 40
_KINDS = ("inter", "intra", "reuse")
_FIELDS = SITE.names or ()
_NAMES = (
    *(f"site_{name}" for name in _FIELDS),
    *("path_entries", "path_warps", "entry"),
    *(f"{kind}_{part}" for kind in _KINDS for part in ("values", "value", "count")),
)
Columns = Mapping[str, np.ndarray]


def encode(known: FiveTuple) -> dict[str, np.ndarray]:
    """The columns; ``_values`` and ``_entries`` say how many belong to each."""
    found = {f"site_{name}": np.ascontiguousarray(known.sites[name]) for name in _FIELDS}
    found["path_entries"] = np.diff(known.paths.first)
    found["path_warps"], found["entry"] = known.paths.warps, known.paths.entries
    for kind in _KINDS:
        histograms: Histograms = getattr(known, kind)
        found[f"{kind}_values"] = np.diff(histograms.first)
        found[f"{kind}_value"], found[f"{kind}_count"] = histograms.values, histograms.counts
    return found


def decode(columns: Columns, allocations: int) -> FiveTuple:
    """The 5-tuple of columns that may be damaged. Raises :class:`Malformed`."""
    if set(columns) != set(_NAMES):
        wrong = sorted(set(columns) ^ set(_NAMES))
        raise Malformed(f"expected the columns of a G-MAP model; {wrong[0]} is wrong")
    sites = _sites(columns, allocations)
    paths = _paths(columns, sites)
    inter, intra = (
        _histograms(columns, kind, len(sites), -LINE_MASK, LINE_MASK) for kind in _KINDS[:2]
    )
    reuse = _histograms(columns, "reuse", len(paths), COLD, MOST_DISTANCE)
    return FiveTuple(sites, paths, inter, intra, reuse)


def _sites(columns: Columns, allocations: int) -> np.ndarray:
    count = len(columns["site_op"])
    if count > MOST_SITES:
        raise Malformed(f"{count} sites; expected at most {MOST_SITES}")
    sites = np.zeros(count, SITE)
    for name in _FIELDS:
        column = columns[f"site_{name}"]
        if len(column) != count:
            raise Malformed(f"column site_{name}: {len(column)} values; expected {count}")
        sites[name] = column
    check_range(sites["pc"], MOST_PC, "pc of a site")
    marker = np.isin(sites["op"], MARKERS)
    if not (marker | np.isin(sites["op"], ACCESSES)).all():
        raise Malformed("expected sites that load, store, or wait")
    check_range(sites["past_l1"], 2, "past_l1 of a site")
    check_range(sites["whole"], 2, "whole of a site")
    if (sites["whole"][sites["op"] != OpClass.STORE] != 0).any():
        raise Malformed("expected whole sectors of stores alone")
    check_range(sites["sectors"], 1 << SECTORS, "sectors of a site")
    accesses = sites[~marker]
    if (accesses["sectors"] == 0).any():
        raise Malformed("expected a sector of each site that accesses memory")
    check_range(accesses["allocation"] - NOTHING, allocations + 1, "allocation of a site")
    check_range(sites["base"] + LINE_MASK, 2 * LINE_MASK + 1, "base of a site")
    return sites


def _paths(columns: Columns, sites: np.ndarray) -> Paths:
    length, warps, entries = columns["path_entries"], columns["path_warps"], columns["entry"]
    if not len(warps) or len(length) != len(warps):
        raise Malformed("expected at least one path, with its length and its warps")
    check_range(length, len(entries) + 1, "length of a path")
    if int(length.sum()) != len(entries):
        raise Malformed("expected as many entries as paths have")
    _check_counts(warps, np.zeros(1, np.int64), "warps of a path")
    check_range(entries, len(sites) * MOST_LINES, "entry of a path")
    marker = np.isin(sites["op"], MARKERS)[entries >> ORDINAL_BITS]
    if (entries[marker] & (MOST_LINES - 1)).any():
        raise Malformed("expected entries without lines of what accesses nothing")
    first = np.concatenate([[0], np.cumsum(length)]).astype(np.int64)
    return Paths(first, entries, warps)


def _histograms(columns: Columns, kind: str, count: int, low: int, high: int) -> Histograms:
    sizes, values, counts = (columns[f"{kind}_{part}"] for part in ("values", "value", "count"))
    if len(sizes) != count or len(values) != len(counts):
        raise Malformed(f"expected {count} histograms of {kind}, with a count for each value")
    check_range(sizes, len(values) + 1, f"values of {kind}")
    if int(sizes.sum()) != len(values):
        raise Malformed(f"expected as many values of {kind} as its histograms have")
    first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    if ((values < low) | (values > high)).any():
        raise Malformed(f"{kind} out of range; expected {low} to {high}")
    found = Histograms(first, values, counts)
    ascending = values[1:] > values[:-1]
    if not (ascending | (found.owners[1:] != found.owners[:-1])).all():
        raise Malformed(f"expected ascending values of {kind}")
    _check_counts(counts, first[:-1][sizes > 0], f"counts of {kind}")
    return found


def _check_counts(counts: np.ndarray, first: np.ndarray, what: str) -> None:
    """Counts of histograms that begin at ``first`` must be such that can be drawn from."""
    check_range(counts - 1, MOST_COUNT, what)
    if len(counts) and (np.add.reduceat(counts, first) > MOST_COUNT).any():
        raise Malformed(f"{what}: expected a sum of at most {MOST_COUNT}")
