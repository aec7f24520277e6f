"""``.traceg`` files: thread blocks one after the other, streamed through a buffer."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from lockstep.errors import InputError
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
    reader = BlockReader(path, header, statics)
    with TextSource(path) as source:
        skip_header(source, header.bytes)
        for buffer, start, end in stretches(source.read_into, reader.fail):
            outcome = reader.feed(buffer, start, end)
            while outcome == BLOCK_DONE:
                yield reader.take()
                outcome = reader.advance()
    reader.require_all()


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
