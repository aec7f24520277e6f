"""Writing a trace file while its kernels run, several at a time if need be."""

import contextlib
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from lockstep.files import replacing, unwritable
from lockstep.frontend.tracefile import index
from lockstep.frontend.tracefile.build import ChunkBuilder
from lockstep.frontend.tracefile.writer import flush, write_with
from lockstep.workload import ADDRESS, RUN, WARP, Cta, Kernel, MemoryCopy, Workload
from lockstep.workload.at_issue import Keep
from lockstep.workload.warm import WarmSet

Place = tuple[int, index.StoredChunk]
"""Where a chunk lies in the temporary file, and the chunk."""
_STREAMS = {"warps": WARP, "runs": RUN, "addresses": ADDRESS, "pool": np.dtype(np.int64)}


class Aside(NamedTuple):
    """A CTA whose streams wait in the temporary file, one behind the other."""

    index: tuple[int, int, int]
    start: int  # byte of the file
    lengths: list[int]  # items of each stream


class TraceRecording:
    """A trace under construction: its chunks wait in a temporary file until ``close``."""

    def __init__(self, path: Path, name: str, gpu: str = ""):
        """``gpu``: the name of the GPU that runs what is recorded.

        Raises :class:`InputError` if nothing can be written beside ``path``.
        """
        self.path, self._name, self._gpu = path, name, gpu
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._chunks = tempfile.TemporaryFile(dir=path.parent)  # noqa: SIM115 (closed by the last calls)
        except OSError as error:
            raise unwritable(path, error) from error
        self._commands: list[MemoryCopy | Kernel | WarmSet] = []
        self._places: dict[int, list[Place]] = {}  # of complete kernels, by identity

    def copy(self, copy: MemoryCopy | WarmSet) -> None:
        """Append a copy, or the warm set of a live point."""
        self._commands.append(copy)

    def kernel(self, kernel: Kernel) -> Callable[[], Iterator[Cta]]:
        """Append a kernel; what is returned yields its CTAs and keeps them."""
        read = kernel.ctas
        self._commands.append(kernel)

        def ctas() -> Iterator[Cta]:
            add = self._adder(kernel)
            for cta in read():
                add(cta)
                yield cta

        return ctas

    def running_kernel(self, kernel: Kernel) -> Keep:
        """Append a kernel; what is returned keeps its CTAs, which may end in any order.

        The trace has them in the order of the grid, in which they were dispatched. Those that end
        before their turn wait in the temporary file.
        """
        self._commands.append(kernel)
        add, turn = self._adder(kernel), 0
        early: dict[int, Aside] = {}

        def keep(cta: Cta) -> None:
            nonlocal turn
            x, y, z = cta.index
            width, height, _ = kernel.grid
            number = x + width * (y + height * z)
            if number != turn:
                early[number] = self._put_aside(cta)
                return
            add(cta)
            turn += 1
            while turn in early:
                add(self._take_back(early.pop(turn)))
                turn += 1

        return keep

    def _put_aside(self, cta: Cta) -> Aside:
        start, streams = self._chunks.seek(0, 2), [getattr(cta, name) for name in _STREAMS]
        with self._writing():
            for stream in streams:
                self._chunks.write(stream.tobytes())
        return Aside(cta.index, start, [len(stream) for stream in streams])

    def _take_back(self, aside: Aside) -> Cta:
        self._chunks.seek(aside.start)
        return Cta(
            aside.index,
            *(
                np.frombuffer(self._chunks.read(length * dtype.itemsize), dtype)
                for dtype, length in zip(_STREAMS.values(), aside.lengths)
            ),
        )

    def _adder(self, kernel: Kernel) -> Keep:
        """Keeps the CTAs of a kernel that it is called with, in their order in the trace."""
        builder, places, count = ChunkBuilder(kernel), [], 0

        def add(cta: Cta) -> None:
            nonlocal count
            builder.add(cta)
            count += 1
            last = count == kernel.n_ctas  # whoever reads them may not ask for another
            if builder.full or last:
                places.append(self._keep(builder))
            if last:
                self._places[id(kernel)] = places

        return add

    def _keep(self, builder: ChunkBuilder) -> Place:
        with self._writing():
            start = self._chunks.seek(0, 2)
            return start, flush(builder, self._chunks)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        """The temporary file has no name: a full disk is that of the trace."""
        try:
            yield
        except OSError as error:
            raise unwritable(self.path, error) from error

    def close(self, points: str = "") -> None:
        """Write the file; kernels that were not read to their end are left out.

        ``points``: that of live points, which are all there to their end.
        """
        whole = [c for c in self._commands if not isinstance(c, Kernel) or id(c) in self._places]
        workload = Workload(self._name, whole, gpu=self._gpu, points=points)
        index.check(workload)
        with (
            self._writing(),
            self._chunks,
            replacing(self.path) as temporary,
            temporary.open("wb") as file,
        ):
            write_with(workload, file, self._copy_chunks)

    def _copy_chunks(self, kernel: Kernel, file: BinaryIO) -> Iterator[index.StoredChunk]:
        for start, chunk in self._places[id(kernel)]:
            self._chunks.seek(start)
            file.write(self._chunks.read(chunk.size))
            yield chunk

    def discard(self) -> None:
        """Write nothing."""
        with contextlib.suppress(OSError):  # what it could not write nobody needs
            self._chunks.close()
