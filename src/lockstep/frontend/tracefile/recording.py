"""Writing a trace file while its kernels run, several at a time if need be."""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from lockstep.files import replacing, unwritable
from lockstep.frontend.tracefile import index
from lockstep.frontend.tracefile.build import ChunkBuilder
from lockstep.frontend.tracefile.writer import flush, write_with
from lockstep.workload import Cta, Kernel, MemoryCopy, Workload

Place = tuple[int, index.StoredChunk]
"""Where a chunk lies in the temporary file, and the chunk."""


class Recording:
    """A trace under construction: its chunks wait in a temporary file until ``close``."""

    def __init__(self, path: Path, name: str):
        """Raises :class:`InputError` if nothing can be written beside ``path``."""
        self.path, self._name = path, name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._chunks = tempfile.TemporaryFile(dir=path.parent)  # noqa: SIM115 (closed by the last calls)
        except OSError as error:
            raise unwritable(path, error) from error
        self._commands: list[MemoryCopy | Kernel] = []
        self._places: dict[int, list[Place]] = {}  # of complete kernels, by identity

    def copy(self, copy: MemoryCopy) -> None:
        """Append a copy."""
        self._commands.append(copy)

    def kernel(self, kernel: Kernel) -> Callable[[], Iterator[Cta]]:
        """Append a kernel; what is returned yields its CTAs and keeps them."""
        read = kernel.ctas
        self._commands.append(kernel)

        def ctas() -> Iterator[Cta]:
            builder, places = ChunkBuilder(kernel), []
            for count, cta in enumerate(read(), 1):
                builder.add(cta)
                last = count == kernel.n_ctas  # whoever reads it may not ask for another
                if builder.full or last:
                    places.append(self._keep(builder))
                if last:
                    self._places[id(kernel)] = places
                yield cta

        return ctas

    def _keep(self, builder: ChunkBuilder) -> Place:
        start = self._chunks.seek(0, 2)
        return start, flush(builder, self._chunks)

    def close(self) -> None:
        """Write the file; kernels that were not read to their end are left out."""
        whole = [c for c in self._commands if isinstance(c, MemoryCopy) or id(c) in self._places]
        with self._chunks, replacing(self.path) as temporary, temporary.open("wb") as file:
            write_with(Workload(self._name, whole), file, self._copy_chunks)

    def _copy_chunks(self, kernel: Kernel, file: BinaryIO) -> Iterator[index.StoredChunk]:
        for start, chunk in self._places[id(kernel)]:
            self._chunks.seek(start)
            file.write(self._chunks.read(chunk.size))
            yield chunk

    def discard(self) -> None:
        """Write nothing."""
        self._chunks.close()
