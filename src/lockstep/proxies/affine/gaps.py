"""What warps execute between two sites: for each pair of sites, as one of its executions was.

Of every pair the execution of median length stands for all. What matters of an instruction is
its class, the slot before it whose result it reads, and the load whose result it reads.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from lockstep.isa.instruction import OpClass
from lockstep.proxies.affine.collect import SiteSequence

LONGEST = 4096  # slots of a gap
BACK = 128  # instructions before a gap in which loads are looked for
FARTHEST = 63  # slots back
Slot = tuple[int, int, int, int, int, int]
"""Text, class, slots back to the one that it reads, one more than the sites of two loads that it
reads, and whether the site behind the gap reads it."""


@dataclass(slots=True)
class Gaps:
    """Slots by pairs of sites; the number of sites stands for a warp's begin, and its end."""

    slots: dict[tuple[int, int], list[Slot]] = field(default_factory=dict)
    loaded: dict[int, tuple[int, int]] = field(default_factory=dict)  # of sites: loads they read


@dataclass(slots=True)
class _Executed:
    """An instruction; registers are listed one by one."""

    text: int
    op: int
    slot: bool  # whether it is one, where it is no site
    reads: list[int]
    writes: list[int]


class GapReader:
    """Reads the gaps of a code's warps; launches of one code share it."""

    def __init__(self, code: np.ndarray):
        plain = (code["width"] == 0) & (code["op"] != OpClass.EXIT)
        columns = code["text"].tolist(), code["op"].tolist(), plain.tolist()
        sources = _registers(code["sources"], code["source"], code["source_count"])
        targets = _registers(code["destinations"], code["destination"], code["destination_count"])
        self._rows = [_Executed(*row) for row in zip(*columns, sources, targets)]

    def gaps(self, sequences: Iterable[SiteSequence], statics: np.ndarray) -> Gaps:
        """The gaps of some CTAs; ``statics``: the instruction of each site."""
        found = Gaps()
        seen: dict[tuple[int, int], list] = {}
        for own in sequences:
            for key, length, place in _occurrences(own, statics):
                seen.setdefault(key, []).append((length, own, place))
        places = {static: n for n, static in enumerate(statics.tolist())}
        for key, each in seen.items():
            each.sort(key=lambda one: one[0])
            _, own, place = each[len(each) // 2]
            found.slots[key] = self._slots(own, place, places, key[1], found.loaded)
        return found

    def _slots(self, own: SiteSequence, place, places, target: int, loaded) -> list[Slot]:
        """The slots of an execution of a gap; notes the loads that the site behind it reads."""
        begin, end = place
        start = max(begin - BACK, int(np.max(own.ends[own.ends <= begin], initial=0)))
        writers: dict[int, tuple[int, int]] = {}  # register: slot or -1, and site and one or 0
        made: list[Slot] = []
        for at, static in enumerate(own.executed[start:end].tolist(), start):
            row, site = self._rows[static], places.get(static)
            what = -1, 0
            if at >= begin and row.slot and len(made) < LONGEST:
                back, loads = _read(row, writers, len(made))
                what = len(made), 0
                made.append((row.text, row.op, back, *loads, 0))
            elif site is not None:
                what = -1, site + 1
            for register in row.writes:
                writers[register] = what
        if target < len(places):
            row = self._rows[own.executed[end]]
            back, loads = _read(row, writers, len(made))
            if back:
                read = len(made) - back
                made[read] = (*made[read][:-1], 1)
            if any(loads):
                loaded[target] = loads
        return made


def _registers(valid: np.ndarray, first: np.ndarray, count: np.ndarray) -> list[list[int]]:
    """All registers of the ranges that are valid, of each instruction."""
    rows = zip(valid.tolist(), first.tolist(), count.tolist())
    return [
        [register for k in range(n) for register in range(begins[k], begins[k] + sizes[k])]
        for n, begins, sizes in rows
    ]


def _read(row: _Executed, writers: dict, slot: int) -> tuple[int, tuple[int, int]]:
    """The nearest slot before ``slot`` and two loads that an instruction reads."""
    back, loads = 0, {0}
    for register in row.reads:
        writer, site = writers.get(register, (-1, 0))
        if writer >= 0 and slot - writer <= FARTHEST:
            back = min(back or FARTHEST, slot - writer)
        loads.add(site)
    last, other = sorted([*loads, 0], reverse=True)[:2]
    return back, (last, other)


def _occurrences(own: SiteSequence, statics: np.ndarray):
    """For each pair of sites in a CTA: its key, its median length, and where such a one is."""
    sites = len(statics)
    starts = np.concatenate(([0], own.ends[:-1]))
    warps = len(own.ends)
    site = np.searchsorted(statics, own.static)
    counts = np.bincount(own.warp, minlength=warps)
    last = np.cumsum(counts)
    at = np.insert(own.gaps, last, own.ends)  # each warp's sites, then its end
    target = np.insert(site, last, sites)
    begins = np.concatenate(([0], np.cumsum(counts + 1)))[:-1]
    source, after = np.roll(target, 1), np.roll(at, 1) + 1
    source[begins], after[begins] = sites, starts
    keys = source * (sites + 1) + target
    length = at - after
    order = np.lexsort((length, keys))
    edges = np.flatnonzero(np.diff(keys[order], prepend=-1))
    ends = np.append(edges[1:], len(order))
    for a, b in zip(edges.tolist(), ends.tolist()):
        row = order[(a + b) // 2]
        key = int(source[row]), int(target[row])
        yield key, int(length[row]), (int(after[row]), int(at[row]))
