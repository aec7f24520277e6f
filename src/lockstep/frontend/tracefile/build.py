"""Collects the CTAs of a kernel and packs them into chunks: the writer's half of ``chunk.py``."""

import numpy as np

from lockstep._jit import jit
from lockstep.errors import WorkloadError
from lockstep.frontend.tracefile.chunk import MOST_CTAS
from lockstep.frontend.tracefile.columns import (
    LIMIT,
    Malformed,
    bounded,
    modular,
    pack,
    pack_tables,
)
from lockstep.frontend.tracefile.rows import STORED, place_streams
from lockstep.frontend.tracefile.shapes import (
    lanes_of,
    measure,
    memory_map,
    pack_runs,
    slots,
    starts,
)
from lockstep.frontend.tracefile.survey import choose
from lockstep.frontend.tracefile.walk import Walk
from lockstep.workload import ADDRESS, RUN, Cta, Kernel

TARGET = 4 << 20  # decoded bytes at which a chunk is closed


class ChunkBuilder:
    """The chunk under construction of one kernel; ``encode`` empties it."""

    def __init__(self, kernel: Kernel):
        self._kernel = kernel
        self._memory = memory_map(kernel.code.instructions)
        self._clear()

    def _clear(self) -> None:
        self.bytes = 0  # decoded size so far
        self._index: list[int] = []
        self._shape: list[int] = []  # CTA shape of each CTA
        self._cta_shapes: dict[tuple[bytes, bytes], int] = {}
        self._warps: list[list[int]] = []  # warp shapes of each CTA shape
        self._take: list[np.ndarray | int] = []  # which of its address records each one uses
        self._warp_shapes: dict[bytes, int] = {}
        self._addresses: list[np.ndarray] = []
        self._pools: list[np.ndarray] = []

    @property
    def ctas(self) -> int:
        """CTAs collected."""
        return len(self._index)

    @property
    def full(self) -> bool:
        """Whether it is time to close the chunk."""
        return self.bytes >= TARGET or self.ctas == MOST_CTAS

    def add(self, cta: Cta) -> None:
        """Append a CTA. Raises :class:`WorkloadError` if it breaks the rules of a workload."""
        key = (cta.warps.tobytes(), cta.runs.tobytes())
        shape = self._cta_shapes.get(key)
        if shape is None:
            shape = self._new_shape(cta)
            self._cta_shapes[key] = shape
        self._index.append(self._linear(cta.index))
        self._shape.append(shape)
        take = self._take[shape]
        addresses = cta.addresses[:take] if isinstance(take, int) else cta.addresses[take]
        self._addresses.append(addresses)
        self._pools.append(cta.pool)
        self.bytes += addresses.nbytes + cta.pool.nbytes
        if self.bytes > LIMIT:
            raise self._error(cta.index, f"more than {LIMIT} bytes of streams")

    def _error(self, index, problem: str) -> WorkloadError:
        return WorkloadError(f"kernel {self._kernel.id}, CTA {index}: {problem}")

    def _linear(self, index: tuple[int, int, int]) -> int:
        (x, y, z), (gx, gy, gz) = index, self._kernel.grid
        if not (0 <= x < gx and 0 <= y < gy and 0 <= z < gz):
            raise self._error(index, f"outside the grid {self._kernel.grid}")
        return x + gx * (y + gy * z)

    def _new_shape(self, cta: Cta) -> int:
        """Check the warps of ``cta`` and note their shapes; returns the number of the CTA shape."""
        warps, kernel = cta.warps, self._kernel
        if len(warps) != kernel.warps:
            raise self._error(cta.index, f"{len(warps)} warps; the block has {kernel.warps}")
        for name, limit in (("run", len(cta.runs)), ("address", len(cta.addresses))):
            first, count = warps["first_" + name], warps[name + ("s" if name == "run" else "es")]
            if (first < 0).any() or (count < 0).any() or (count > limit - first).any():
                raise self._error(cta.index, f"{name} records outside the CTA's {limit}")
        pieces = [cta.runs[f : f + n] for f, n in zip(warps["first_run"], warps["runs"])]
        self._check_totals(cta, np.concatenate([*pieces, np.empty(0, RUN)]))
        ids = [
            self._warp_shapes.setdefault(piece.tobytes(), len(self._warp_shapes))
            for piece in pieces
        ]
        self._warps.append(ids)
        self._take.append(_taken(warps))
        self.bytes += warps.nbytes + cta.runs.nbytes
        return len(self._warps) - 1

    def _check_totals(self, cta: Cta, runs: np.ndarray) -> None:
        """The counts that a warp states must be those of its runs."""
        if len(self._memory.before) != len(self._kernel.code) + 1:
            self._memory = memory_map(self._kernel.code.instructions)
        try:
            totals = measure(starts(cta.warps["runs"]), runs, self._memory).totals
        except Malformed as problem:
            raise self._error(cta.index, str(problem)) from None
        for name in totals.dtype.names:
            wrong = np.flatnonzero(totals[name] != cta.warps[name])
            if len(wrong):
                stated, true = cta.warps[name][wrong[0]], totals[name][wrong[0]]
                raise self._error(
                    cta.index, f"warp {wrong[0]} states {stated} {name}; its runs make {true}"
                )

    @modular  # address arithmetic is modulo 2**64
    def encode(self) -> bytes:
        """The collected CTAs as the payload of a chunk; the builder is empty afterwards."""
        counts = [len(s) // RUN.itemsize for s in self._warp_shapes]
        shapes = measure(
            starts(np.array(counts, np.int64)),
            np.frombuffer(bytearray().join(self._warp_shapes), RUN),
            self._memory,
        )
        table = slots(shapes, self._memory)
        used, table["row"] = np.unique(table["row"], return_inverse=True)
        warps = np.array(self._warps, np.int64).reshape(-1, self._kernel.warps)
        w = choose(self._walk(table, shapes.slot_first, warps), used)
        jump, count, back, literals = pack_runs(shapes.first, shapes.runs)
        tables = [[self._index, self._shape], [warps.ravel()], [np.diff(shapes.first)]]
        tables += [[jump, count, back], [literals], [w.rows[name] for name in STORED]]
        streams = np.split(w.residuals, np.cumsum(place_streams(w.rows)))[:-1]
        self._clear()
        return pack_tables(tables) + b"".join(pack(s, delta=False) for s in streams)

    def _walk(self, table, slot_first, warps) -> Walk:
        """The collected addresses, their lists copied into record order."""
        addresses = np.concatenate([*self._addresses, np.empty(0, ADDRESS)])
        pools = np.concatenate([*self._pools, np.empty(0, np.int64)])
        given = starts(np.array([len(p) for p in self._pools], np.int64))
        shape, index = np.array(self._shape, np.int64), np.array(self._index, np.int64)
        links = np.empty(len(addresses), np.int64)
        nothing = np.empty(0, np.int64)
        first = np.zeros(len(shape) + 1, np.int64)
        w = Walk(
            nothing,
            nothing,
            addresses,
            nothing,
            first,
            links,
            table,
            slot_first,
            warps,
            shape,
            index,
        )
        bad, size = _collect(w, pools, given)
        if bad < 0:
            w = w._replace(pool=np.empty(bounded(size, pools.dtype), np.int64))
            bad, _ = _collect(w, pools, given)
        if bad >= 0:
            x, y, _ = self._kernel.grid
            where = (index[bad] % x, index[bad] // x % y, index[bad] // x // y)
            message = "an address list outside its pool, or not beginning at its first address"
            raise self._error(tuple(map(int, where)), message)
        return w


def _taken(warps: np.ndarray) -> np.ndarray | int:
    """Which address records the warps use, in warp order: a count if simply the first ones."""
    first, counts = warps["first_address"], warps["addresses"]
    total = int(counts.sum())
    begins = np.cumsum(counts) - counts
    if np.array_equal(first[counts > 0], begins[counts > 0]):
        return total
    return np.repeat(first - begins, counts) + np.arange(total)


@jit
def _collect(w, pools, given):
    """Copy the lists to ``w.pool`` if it has room; returns a bad CTA or -1, and the room needed."""
    record, at = np.int64(0), np.int64(0)
    for cta in range(len(w.shape)):
        for slot in range(w.warps.shape[1]):
            s = w.warps[w.shape[cta], slot]
            for k in range(w.slot_first[s], w.slot_first[s + 1]):
                target = w.addresses[record]
                record += 1
                if target["pool"] < 0:
                    continue
                begin, lanes = given[cta] + target["pool"], lanes_of(w.slots[k].mask)
                if begin + lanes > given[cta + 1] or pools[begin] != target["first"]:
                    return cta, at
                for i in range(min(lanes, len(w.pool) - at)):
                    w.pool[at + i] = pools[begin + i]
                at += lanes
    return -1, at
