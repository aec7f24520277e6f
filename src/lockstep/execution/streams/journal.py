"""What the warps of a launch that is executed at issue did, kept so that it can be recorded.

Blocks of all CTAs enter one journal in the order in which they issue. When it is full, each CTA's
part is set aside; once a CTA has ended, its parts become the streams that the model would read.
"""

from collections.abc import Callable

import numpy as np

from lockstep._jit import Context, as_records, inline, popcount
from lockstep.execution.state import MOST_LANES
from lockstep.workload import ADDRESS, RUN, WARP, Cta
from lockstep.workload.at_issue import STEP_RUNS

RUNS, ADDRESSES, WORDS = 1 << 16, 1 << 15, 1 << 18  # room of a journal: 5 MiB
ENDED = -1  # in place of an instruction: the warp's CTA has ended

KEPT_RUN = np.dtype([("row", "i8"), ("lanes", "i8"), *RUN.descr])
"""A run of warp ``row % warps`` of CTA ``row / warps``; ``lanes`` are those in its mask."""

KEPT_ADDRESS = np.dtype([("row", "i8"), ("words", "i8"), *ADDRESS.descr])
"""An address record; ``words``: how many it has in the pool."""


class Journal(Context):
    """The journal of one launch; without room for runs nothing is kept."""

    runs: np.ndarray  # KEPT_RUN
    addresses: np.ndarray  # KEPT_ADDRESS
    pool: np.ndarray  # int64
    used: np.ndarray  # int64 [3]: of runs, addresses and pool


def journal(keeps: bool) -> Journal:
    """An empty journal, or one that keeps nothing."""
    runs, addresses = np.zeros(RUNS * keeps, KEPT_RUN), np.zeros(ADDRESSES * keeps, KEPT_ADDRESS)
    return Journal(
        as_records(runs),
        as_records(addresses),
        np.zeros(WORDS * keeps, np.int64),
        np.zeros(3, np.int64),
    )


@inline
def keeps(j):
    """Whether anything is kept."""
    return len(j.runs) > 0


@inline
def is_full(j):
    """Whether another block, and the end of a CTA, may not find room."""
    runs, addresses, words = j.used[0], j.used[1], j.used[2]
    some = runs + STEP_RUNS >= len(j.runs) or addresses >= len(j.addresses)
    return some or words + MOST_LANES > len(j.pool)


@inline
def note_run(j, row, static, count, mask):
    """A warp executed instructions under a mask."""
    run = j.runs[j.used[0]]
    j.used[0] += 1
    run.row, run.static, run.count, run.mask = row, static, count, mask
    run.lanes = popcount(mask)


@inline
def note_block(j, row, e, step):
    """A warp executed a block, whose runs and addresses are in the exchange."""
    for k in range(step.runs):
        run = e.runs[k]
        note_run(j, row, run.static, run.count, run.mask)
    if step.addresses == 0:
        return
    given, kept = e.addresses[0], j.addresses[j.used[1]]
    j.used[1] += 1
    kept.row, kept.words = row, 0
    kept.first, kept.stride, kept.pool = given.first, given.stride, -1
    if given.pool >= 0:
        lanes = popcount(e.runs[0].mask)  # the access is the block's first instruction
        kept.pool, kept.words = j.used[2], lanes
        for k in range(lanes):
            j.pool[j.used[2] + k] = e.pool[k]
        j.used[2] += lanes


class Collector:
    """Makes CTAs of a journal: ``take`` gets each once it has ended."""

    def __init__(
        self,
        journal: Journal,
        warps: int,
        index: Callable[[int], tuple[int, int, int]],
        take: Callable[[Cta], None],
    ):
        """``warps``: of a CTA. ``index``: of the nth CTA of the grid."""
        self._journal, self._warps = journal, warps
        self._index, self._take = index, take
        self._parts: dict[int, list[tuple[np.ndarray, ...]]] = {}  # of CTAs that have not ended

    def collect(self) -> None:
        """Empty the journal."""
        j = self._journal
        n_runs, n_addresses, n_words = j.used.tolist()
        j.used[:] = 0
        runs = _in_rows(j.runs.view(np.ndarray)[:n_runs])
        addresses = _in_rows(j.addresses.view(np.ndarray)[:n_addresses])
        addresses, pool = _with_own_words(addresses, j.pool[:n_words])
        ended = runs["static"] == ENDED
        over = (runs["row"][ended] // self._warps).tolist()
        runs = _joined(runs[~ended])
        for cta, part in self._split(runs, addresses, pool):
            self._parts.setdefault(cta, []).append(part)
        for cta in over:
            self._take(self._assemble(cta, self._parts.pop(cta)))

    def _split(self, runs: np.ndarray, addresses: np.ndarray, pool: np.ndarray):
        """Number and part of each CTA; places in a part's pool count from its start."""
        ctas = np.unique(runs["row"] // self._warps)
        first, after = ctas * self._warps, (ctas + 1) * self._warps
        words = np.concatenate([[0], np.cumsum(addresses["words"])])
        bounds = [np.searchsorted(a["row"], e) for a in (runs, addresses) for e in (first, after)]
        for cta, a, b, c, d in zip(ctas.tolist(), *bounds):
            own = addresses[c:d].copy()
            own["pool"] -= np.where(own["words"] > 0, words[c], 0).astype(np.int32)
            yield cta, (runs[a:b].copy(), own, pool[words[c] : words[d]].copy())

    def _assemble(self, number: int, parts: list[tuple[np.ndarray, ...]]) -> Cta:
        """The CTA whose parts these are, one after the other in time."""
        start = 0
        for _, addresses, pool in parts:
            addresses["pool"] += np.where(addresses["words"] > 0, start, 0).astype(np.int32)
            start += len(pool)
        runs, addresses, pool = (np.concatenate(arrays) for arrays in zip(*parts))
        runs, addresses = _joined(_in_rows(runs)), _in_rows(addresses)
        rows = number * self._warps + np.arange(self._warps + 1)
        warps = np.zeros(self._warps, WARP)
        for name, kept in (("run", runs), ("address", addresses)):
            bounds = np.searchsorted(kept["row"], rows)
            warps[f"first_{name}"] = bounds[:-1]
            warps["runs" if name == "run" else "addresses"] = np.diff(bounds)
        own = runs["row"] - rows[0]
        np.add.at(warps["warp_instructions"], own, runs["count"])
        np.add.at(warps["thread_instructions"], own, runs["count"] * runs["lanes"])
        return Cta(self._index(number), warps, _as(runs, RUN), _as(addresses, ADDRESS), pool)


def _in_rows(kept: np.ndarray) -> np.ndarray:
    """Row by row, each in the order of time."""
    return kept[np.argsort(kept["row"], kind="stable")]


def _with_own_words(addresses: np.ndarray, pool: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Address records with a pool in their order."""
    words = addresses["words"]
    first = np.cumsum(words) - words
    taken = np.repeat(addresses["pool"] - first, words) + np.arange(int(words.sum()))
    addresses["pool"] = np.where(words > 0, first, -1)
    return addresses, pool[taken]


def _joined(runs: np.ndarray) -> np.ndarray:
    """Runs of a row that continue the one before become one with it."""
    if len(runs) == 0:
        return runs
    before, after = runs[:-1], runs[1:]
    goes_on = before["static"] + before["count"] == after["static"]
    for name in ("row", "mask"):
        goes_on &= before[name] == after[name]
    first = np.flatnonzero(np.concatenate([[True], ~goes_on]))
    joined = runs[first].copy()
    joined["count"] = np.add.reduceat(runs["count"], first)
    return joined


def _as(kept: np.ndarray, kind: np.dtype) -> np.ndarray:
    """The records without what only the journal knows."""
    plain = np.empty(len(kept), kind)
    for name in kind.names:
        plain[name] = kept[name]
    return plain
