"""Writes trace files, CTA by CTA."""

import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO

from lockstep.errors import WorkloadError
from lockstep.files import replacing
from lockstep.frontend.tracefile import container, index
from lockstep.frontend.tracefile.build import ChunkBuilder
from lockstep.frontend.tracefile.columns import LIMIT, Malformed
from lockstep.workload import Kernel, Workload

ChunkWriter = Callable[[Kernel, BinaryIO], Iterable[index.StoredChunk]]
"""Writes the CTAs of a kernel to a file and yields what the index must know of each chunk."""


def write(workload: Workload, path) -> None:
    """Write a workload; what stands at ``path`` is replaced only by a complete file.

    Memory holds one chunk at a time. Raises :class:`~lockstep.errors.WorkloadError` if the
    workload breaks the rules of :mod:`lockstep.workload`.
    """
    index.check(workload)
    with replacing(path) as temporary, temporary.open("wb") as file:
        write_with(workload, file, _chunks)


def write_with(workload: Workload, file: BinaryIO, chunks_of: ChunkWriter) -> None:
    """Write a workload; ``chunks_of`` writes the CTAs of one kernel."""
    head = container.header(index.version(workload))
    file.write(head)
    chunks = [list(chunks_of(kernel, file)) for kernel in workload.kernels]
    offset = file.tell()
    payload = index.encode(workload, chunks)
    if len(payload) > LIMIT:
        raise WorkloadError(f"more than {LIMIT} bytes of kernels and code")
    section = container.compress(payload)
    file.write(section + container.footer(head, offset, section, len(payload)))


def _chunks(kernel: Kernel, file: BinaryIO) -> Iterator[index.StoredChunk]:
    """Write the CTAs of a kernel; yields what the index must know of each chunk."""
    builder = ChunkBuilder(kernel)
    for cta in kernel.ctas():
        builder.add(cta)
        if builder.full:
            yield flush(builder, file)
    if builder.ctas:
        yield flush(builder, file)


def flush(builder: ChunkBuilder, file: BinaryIO) -> index.StoredChunk:
    """Write the CTAs that a builder has collected as one chunk."""
    ctas = builder.ctas
    try:
        payload = builder.encode()
    except Malformed as problem:
        raise WorkloadError(f"a CTA is too large: {problem}") from None
    if len(payload) > LIMIT:
        raise WorkloadError(f"more than {LIMIT} bytes of streams in a CTA")
    section = container.compress(payload)
    file.write(section)
    return index.StoredChunk(ctas, len(section), len(payload), zlib.crc32(section))
