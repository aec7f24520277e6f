"""What warps execute between two sites: for each pair of sites, as one of its executions was.

Of every pair the execution of median length stands for all. What matters of an instruction is
its class, the slot before it whose result it reads, and the load whose result it reads.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from lockstep.isa.instruction import OpClass
from lockstep.proxies.affine.collect import SiteSequence
from lockstep.workload import Code

LONGEST = 4096  # slots of a gap
BACK = 256  # instructions before a gap in which loads are looked for
FARTHEST = 63  # slots back
Slot = tuple[int, int, int, int, int, int]
"""Text, class, slots back to the one that it reads, one more than the sites of two loads that it
reads, and whether the site behind the gap reads it."""


@dataclass(slots=True)
class Gaps:
    """Slots by pairs of sites; the number of sites stands for a warp's begin, and its end."""

    slots: dict[tuple[int, int], list[Slot]] = field(default_factory=dict)
    loaded: dict[int, tuple[int, int]] = field(default_factory=dict)  # of sites: loads they read


def gaps_of(sequences: Iterable[SiteSequence], code: Code, statics: np.ndarray) -> Gaps:
    """The gaps of some CTAs; ``statics``: the instruction of each site."""
    found = Gaps()
    lengths: dict[tuple[int, int], list] = {}
    for own in sequences:
        for key, length, place in _occurrences(own, statics):
            lengths.setdefault(key, []).append((length, len(lengths), own, place))
    for key, each in lengths.items():
        each.sort(key=lambda one: one[0])
        _, _, own, place = each[len(each) // 2]
        found.slots[key] = _slots(own, place, code, statics, key[1], found.loaded)
    return found


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


def _slots(own: SiteSequence, place, code: Code, statics, target: int, loaded) -> list[Slot]:
    """The slots of an execution of a gap; notes the load that the site behind it reads."""
    begin, end = place
    start = max(begin - BACK, int(np.max(own.ends[own.ends <= begin], initial=0)))
    window = own.executed[start:end]
    writers: dict[int, tuple[int, int]] = {}  # register: slot or -1, and site and one or 0
    made: list[list[int]] = []
    places = {int(static): n for n, static in enumerate(statics)}
    for at, static in enumerate(window.tolist(), start):
        row = code.instructions[static]
        site = places.get(static)
        if at >= begin and row["width"] == 0 and row["op"] != OpClass.EXIT:
            slot = len(made)
            if slot < LONGEST:
                back, loads = _read(row, writers, slot)
                made.append([int(row["text"]), int(row["op"]), back, *loads, 0])
                _write(row, writers, (slot, 0))
        elif site is not None:
            _write(row, writers, (-1, site + 1))
        else:
            _write(row, writers, (-1, 0))
    if target < len(statics):
        row = code.instructions[statics[target]]
        back, loads = _read(row, writers, len(made))
        if back:
            made[len(made) - back][-1] = 1
        if any(loads):
            loaded[target] = loads
    return [tuple(slot) for slot in made]


def _read(row, writers, slot: int) -> tuple[int, tuple[int, int]]:
    """The nearest slot before ``slot`` and two loads that an instruction reads."""
    back, loads = 0, {0}
    for first, count in zip(row["source"][: row["sources"]], row["source_count"]):
        for register in range(first, first + count):
            writer, site = writers.get(register, (-1, 0))
            if writer >= 0 and slot - writer <= FARTHEST:
                back = min(back or FARTHEST, slot - writer)
            loads.add(site)
    last, other = sorted([*loads, 0], reverse=True)[:2]
    return back, (last, other)


def _write(row, writers, what: tuple[int, int]) -> None:
    for first, count in zip(row["destination"][: row["destinations"]], row["destination_count"]):
        for register in range(first, first + count):
            writers[register] = what
