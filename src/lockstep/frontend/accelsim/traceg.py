"""``.traceg`` files: thread blocks one after the other, streamed through a buffer."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from lockstep.errors import InputError
from lockstep.frontend.accelsim.blocks import BlockReader
from lockstep.frontend.accelsim.header import MOST_BYTES, Header, parse_header
from lockstep.frontend.accelsim.parser import BLOCK_DONE
from lockstep.frontend.accelsim.source import Source
from lockstep.frontend.accelsim.statics import Statics
from lockstep.workload import Cta

BUFFER = 1 << 22  # bytes; the longest line a trace may have


def read_header(path: Path) -> Header:
    """The header of a text trace; the rest is not read."""
    with Source(path) as source:
        text = source.read_start(1 << 14)
        if len(text) == 1 << 14 and b"\n#" not in text:
            text += source.read_start(MOST_BYTES)
        return parse_header(text, path)


def read_blocks(path: Path, header: Header, statics: Statics) -> Iterator[Cta]:
    """Serve the blocks in file order."""
    reader = BlockReader(path, header, statics)
    with Source(path) as source:
        skip_header(source, header.bytes)
        for buffer, start, end in stretches(source.read_into, reader.fail):
            outcome = reader.feed(buffer, start, end)
            while outcome == BLOCK_DONE:
                yield reader.take()
                outcome = reader.advance(buffer)
    reader.require_all()


def stretches(
    read_into: Callable[[memoryview], int], fail: Callable[[str], None], whole: bool = False
) -> Iterator[tuple[np.ndarray, int, int]]:
    """Whole lines of a text: ``(buffer, start, end)``, to be used before asking for the next.

    The last line need not end in a newline, unless ``whole``.
    """
    data = bytearray(BUFFER + 1)  # room for the newline that the last line may lack
    buffer, view = np.frombuffer(data, np.uint8), memoryview(data)
    filled = 0
    while True:
        count = read_into(view[filled:BUFFER])
        filled += count
        if not count and filled:
            if whole:
                fail("the file is truncated: its last line is not complete")
            data[filled], filled = 10, filled + 1
        end = data.rfind(b"\n", 0, filled) + 1
        if end:
            yield buffer, 0, end
        elif filled == BUFFER:
            fail(f"expected lines of at most {BUFFER} bytes")
        if not count:
            return
        data[: filled - end] = data[end:filled]
        filled -= end


def skip_header(source: Source, size: int) -> None:
    """Skip the header of the text."""
    if len(source.read_start(size)) != size:
        raise InputError(source.path, "", "the file became shorter while it was read")
