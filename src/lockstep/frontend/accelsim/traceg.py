"""``.traceg`` files: thread blocks one after the other, streamed through a buffer."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from lockstep._jit import bound
from lockstep.errors import InputError
from lockstep.frontend.accelsim import collecting
from lockstep.frontend.accelsim.blocks import BlockReader
from lockstep.frontend.accelsim.header import MOST_BYTES, Header, parse_header
from lockstep.frontend.accelsim.parser import BLOCK_DONE
from lockstep.frontend.accelsim.scan import NEWLINE
from lockstep.frontend.accelsim.source import TextSource
from lockstep.frontend.accelsim.statics import Statics
from lockstep.workload import Cta

BUFFER = 1 << 18  # bytes of text at a time; more only if a line is longer
MOST_LINE = 1 << 22  # bytes


def read_header(path: Path) -> Header:
    """The header of a text trace; the rest is not read."""
    with TextSource(path) as source:
        text = source.read_start(1 << 14)
        if len(text) == 1 << 14 and b"\n#" not in text:
            text += source.read_start(MOST_BYTES)
        return parse_header(text, path)


def read_blocks(path: Path, header: Header, statics: Statics) -> Iterator[Cta]:
    """Serve the blocks in file order."""
    reader = TextReader(path, header, statics)
    with TextSource(path) as source:
        skip_header(source, header.bytes)
        for stretch in stretches(source.read_into, reader.fail):
            yield from reader.blocks(*stretch)
    reader.require_all()


class TextReader(BlockReader):
    """A block reader for text with sections, which says where blocks end."""

    def __init__(self, path: Path, header: Header, statics: Statics):
        self._collection = to = collecting.build(header.warps)
        self._used = to.used.view(np.ndarray)[0]  # attributes of records are slower than items
        arrays = to.blocks, to.warps, to.runs, to.addresses, to.pool
        self._collected = [array.view(np.ndarray) for array in arrays]
        super().__init__(path, header, statics)

    def bind(self) -> None:
        """Be ready to parse, with the arrays that there are now."""
        self._advance = bound(collecting.collect, self._buffer, self._parser, self._collection)

    def blocks(self, buffer: np.ndarray, position: int, end: int) -> Iterator[Cta]:
        """The blocks that end in a stretch of text, as of ``feed``.

        What is wrong with the text is raised behind the blocks before it.
        """
        self.begin(buffer, position, end)
        outcome = BLOCK_DONE
        while outcome == BLOCK_DONE:
            try:
                outcome = self.advance()
            except BaseException:
                yield from self._take_all()
                raise
            yield from self._take_all()
            if outcome == BLOCK_DONE:
                yield self.take()

    def _take_all(self) -> Iterator[Cta]:
        """The blocks in the collection, which is empty then; they share their memory."""
        used, (blocks, *arrays) = self._used, self._collected
        count, ends = int(used["blocks"]), [used[name] for name in ("runs", "addresses", "pool")]
        if not count:
            return
        rows = blocks[:count].tolist()
        warps = arrays[0][:count].copy()
        runs, addresses, pool = (a[:end].copy() for a, end in zip(arrays[1:], ends))
        for name in collecting.USED.names or ():
            used[name] = 0
        run = address = value = 0
        for own, (x, y, z, line, runs_end, addresses_end, pool_end) in zip(warps, rows):
            self.note(x, y, z, line)
            yield Cta(
                (x, y, z),
                own,
                runs[run:runs_end],
                addresses[address:addresses_end],
                pool[value:pool_end],
            )
            run, address, value = runs_end, addresses_end, pool_end


def stretches(
    read_into: Callable[[memoryview], int], fail: Callable[[str], None], whole: bool = False
) -> Iterator[tuple[np.ndarray, int, int]]:
    """Whole lines of a text: ``(buffer, start, end)``, to be used before asking for the next.

    The last line need not end in a newline, unless ``whole``.
    """
    data, filled = bytearray(BUFFER + 1), 0
    while True:
        filled, ended = _fill(read_into, data, filled)
        if ended and filled:
            if whole:
                fail("the file is truncated: its last line is not complete")
            data[filled] = NEWLINE  # there is always room for the one that may lack
            filled += 1
        end = data.rfind(b"\n", 0, filled) + 1
        if end:
            yield np.frombuffer(data, np.uint8), 0, end
        if ended:
            return
        rest = data[end:filled]
        if not end and len(data) > MOST_LINE:
            fail(f"expected lines of at most {MOST_LINE} bytes")
        if not end and filled == len(data) - 1:
            data = bytearray(2 * len(data))
        filled = len(rest)
        data[:filled] = rest


def _fill(read_into: Callable[[memoryview], int], data: bytearray, filled: int) -> tuple[int, bool]:
    """Read behind what ``data`` holds; ``(bytes held, whether the text has ended)``."""
    count = read_into(memoryview(data)[filled:-1])
    return filled + count, count == 0


def skip_header(source: TextSource, size: int) -> None:
    """Skip the header of the text."""
    if len(source.read_start(size)) != size:
        raise InputError(source.path, "", "the file became shorter while it was read")
