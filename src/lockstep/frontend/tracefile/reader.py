"""Reads trace files: the index at once, chunks when their CTAs are asked for."""

import bisect
import hashlib
import os
from collections.abc import Iterator
from functools import cached_property
from itertools import accumulate

from lockstep.errors import InputError
from lockstep.frontend.tracefile import chunk, container, index
from lockstep.frontend.tracefile.columns import Malformed
from lockstep.frontend.tracefile.shapes import memory_map
from lockstep.workload import Cta, Kernel, Workload


def load(path) -> Workload:
    """The workload of a trace file; CTAs are read when they are asked for.

    Raises :class:`~lockstep.errors.InputError` here or while CTAs are read.
    """
    file = container.File(os.fspath(path))
    payload, offset, version = file.index()

    def source(kernel, chunks):
        return StoredCtas(file, kernel, chunks)

    try:
        workload, end = index.decode(payload, container.HEADER.size, version, source)
        if end != offset:
            raise Malformed(f"expected the chunks to end here, not at byte {end}")
    except Malformed as problem:
        raise InputError(file.path, f"byte {offset}", f"index: {problem}") from None
    workload.path = file.path
    workload.digest = hashlib.sha256(payload).hexdigest()  # holds the checksum of every chunk
    return workload


def read_cta(kernel: Kernel, n: int) -> Cta:
    """The ``n``-th CTA, in file order, of a kernel that :func:`load` returned."""
    if not isinstance(kernel.ctas, StoredCtas):
        raise TypeError(f"kernel {kernel.id} does not come from a lockstep trace file")
    return kernel.ctas[n]


class StoredCtas:
    """The CTAs of one kernel: call it to stream them, index it to get one."""

    def __init__(self, file: container.File, kernel: Kernel, chunks: list[index.Placed]):
        self._file = file
        self._code, self._grid, self._warps = kernel.code, kernel.grid, kernel.warps
        self._chunks = chunks
        self._ends = list(accumulate(stored.ctas for _, stored in chunks))
        self._latest: tuple[int, chunk.Chunk] | None = None  # of random access

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def __call__(self) -> Iterator[Cta]:
        """Stream the CTAs from the first on; one chunk is in memory at a time."""
        for i in range(len(self._chunks)):
            yield from self._read(i)

    def __getitem__(self, n: int) -> Cta:
        if not 0 <= n < len(self):
            raise IndexError(f"CTA {n} of {len(self)}")
        i = bisect.bisect_right(self._ends, n)
        latest = self._latest  # another thread may replace it
        if latest is None or latest[0] != i:
            latest = self._latest = i, self._read(i)
        return latest[1].cta(n - (self._ends[i - 1] if i else 0))

    @cached_property
    def _geometry(self) -> chunk.ChunkGeometry:
        return chunk.ChunkGeometry(self._grid, self._warps, memory_map(self._code.instructions))

    def _read(self, i: int) -> chunk.Chunk:
        offset, stored = self._chunks[i]
        payload = self._file.section(offset, stored.size, stored.raw_size, stored.crc)
        try:
            return chunk.decode(payload, stored.ctas, self._geometry)
        except Malformed as problem:
            raise InputError(self._file.path, f"byte {offset}", f"chunk: {problem}") from None
