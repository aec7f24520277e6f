"""Raw ``.trace`` files: what the tracer writes before post-processing, in order of arrival.

Every line starts with its thread block and warp. One pass over the text sorts the lines into
temporary files by ranges of blocks (a range too large to hold is split again); then block after
block is parsed, in increasing linear number with x fastest, warp after warp.
"""

import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import IO

import numpy as np

from lockstep._jit import Records
from lockstep.errors import InputError
from lockstep.frontend.accelsim import partition as split
from lockstep.frontend.accelsim.blocks import PREFIX_OLD, PREFIX_RAW_CLUSTER, BlockReader
from lockstep.frontend.accelsim.header import Header
from lockstep.frontend.accelsim.parser import records
from lockstep.frontend.accelsim.problems import found
from lockstep.frontend.accelsim.scan import NEWLINE
from lockstep.frontend.accelsim.source import TextSource
from lockstep.frontend.accelsim.statics import Statics
from lockstep.frontend.accelsim.traceg import skip_header, stretches
from lockstep.workload import Cta

GROUPS = 32  # temporary files of one split
GROUP_BYTES = 1 << 24  # a range of blocks up to this size is held in memory
WINDOW = 1 << 18  # bytes of each group that are collected before they are written
_SPOOL = 1 << 18  # a temporary file up to this size stays in memory


def read_blocks(path: Path, header: Header, statics: Statics) -> Iterator[Cta]:
    """Serve the blocks in increasing order."""
    reader = RawReader(path, header, statics)
    with TextSource(path) as source:
        skip_header(source, header.bytes)
        groups = _Split(reader, 0, header.blocks, source.read_into, header.lines + 1)
    yield from groups.blocks()
    reader.require_all()


class RawReader(BlockReader):
    """A block reader fed with the lines of one warp at a time."""

    def __init__(self, path: Path, header: Header, statics: Statics):
        super().__init__(path, header, statics)
        self.state.raw, self.state.prefix = 1, 0
        self._numbers = np.array([header.lines])

    def where(self) -> str:
        """The line of the file, not of the sorted text."""
        return f"line {int(self._numbers[min(int(self.state.line), len(self._numbers) - 1)])}"

    def warp_lines(self, warp: int, numbers: np.ndarray, text: np.ndarray, size: int) -> None:
        """Parse all lines of one warp, which came from the lines ``numbers`` of the file."""
        self._numbers, self.state.line = numbers, 0
        if not self.state.prefix:
            self.state.prefix = self._prefix(text[: min(size, 4096)].tobytes())
        self.open_warp(warp)
        self.feed(text, 0, size)
        self.close_warp()

    def _prefix(self, text: bytes) -> int:
        """Version 6 writes the cluster behind the warp: then no mask is where one should be."""
        words = text.split(b"\n", 1)[0].split()
        mask = PREFIX_OLD + int(self.header.lineinfo) + 1
        plain = len(words) > mask and re.fullmatch(rb"[0-9a-fA-F]{8}", words[mask])
        return PREFIX_OLD if plain or self.header.tracer < 6 else PREFIX_RAW_CLUSTER


class _Split:
    """Lines of a range of blocks, sorted into groups: each a part of the range."""

    def __init__(
        self,
        reader: RawReader,
        first: int,
        blocks: int,
        read_into: Callable[[memoryview], int],
        line: int,
    ):
        """Read all text; ``line`` is the number of the first line, 0 if the lines have theirs."""
        self._reader, self._first, self._count = reader, first, blocks
        self._span = -(-blocks // GROUPS)
        groups = -(-blocks // self._span)
        self._files = ExitStack()
        spool = tempfile.SpooledTemporaryFile
        self._spills = [self._files.enter_context(spool(_SPOOL)) for _ in range(groups)]
        self._splitter = self._new_splitter(groups, first, line)
        try:
            self._read(read_into)
        except BaseException:
            self._files.close()
            raise

    def _new_splitter(self, groups: int, first: int, line: int) -> split.Splitter:
        state = records(1, split.SPLIT)
        s = state[0]
        s.first, s.span, s.line, s.numbered = first, self._span, line, int(line == 0)
        s.grid, s.warps = self._reader.header.grid, self._reader.header.warps
        windows = np.zeros((groups, WINDOW), np.uint8)
        return split.Splitter(state, windows, np.zeros(groups, np.int64))

    def _read(self, read_into: Callable[[memoryview], int]) -> None:
        s = self._splitter.state[0]
        for buffer, s.position, s.end in stretches(read_into, self._fail, whole=True):
            outcome = split.partition(buffer, self._splitter)
            while outcome == split.FULL:
                self._write(int(s.group))
                outcome = split.partition(buffer, self._splitter)
            if outcome != split.SPILLED:
                self._fail(self._problem(outcome, buffer))
        for group in range(len(self._spills)):
            self._write(group)

    def _write(self, group: int) -> None:
        """Append what a group's window has collected to its file."""
        filled = self._splitter.filled
        try:
            self._spills[group].write(self._splitter.windows[group, : filled[group]])
        except OSError as error:
            self._fail(f"the lines cannot be sorted: temporary file: {error.strerror}")
        filled[group] = 0

    def _fail(self, message: str):
        line = int(self._splitter.state[0].line)
        raise InputError(self._reader.path, f"line {line}", message)

    def _problem(self, outcome: int, buffer: np.ndarray) -> str:
        s, header = self._splitter.state[0], self._reader.header
        if outcome == split.BLOCK_OUTSIDE:
            return f"the thread block lies outside the grid {header.grid}"
        if outcome == split.WARP_OUTSIDE:
            return f"expected a warp from 0 to {header.warps - 1}, found {int(s.warp)}"
        if outcome == split.TOO_LONG:
            return f"expected lines of less than {WINDOW} bytes"
        return f"expected 'x y z warp' before the pc, found {found(buffer, int(s.fault))}"

    def blocks(self) -> Iterator[Cta]:
        """Serve the blocks, group after group."""
        with self._files:
            for group, spill in enumerate(self._spills):
                first = self._first + group * self._span
                size = spill.tell()
                spill.seek(0)
                if size <= GROUP_BYTES or self._span == 1:
                    yield from self._parse(spill, size, first)
                else:
                    count = min(self._span, self._first + self._count - first)
                    yield from _Split(self._reader, first, count, _filler(spill), 0).blocks()
                spill.close()

    def _parse(self, spill: IO[bytes], size: int, first: int) -> Iterator[Cta]:
        """Parse the blocks of a group that fits into memory."""
        text = np.frombuffer(spill.read(size), np.uint8)
        lines = records(int(np.count_nonzero(text == NEWLINE)), split.LINE)
        splitter = self._splitter
        splitter.state[0].first, splitter.state[0].numbered = first, 1
        split.index(text, splitter, lines)
        lines = lines[np.argsort(lines.key, kind="stable")]
        blocks = lines.key // split.WARPS
        edges = np.flatnonzero(np.diff(blocks, prepend=-1, append=-1))
        for start, stop in pairwise(edges):
            yield self._block(first + int(blocks[start]), text, lines[start:stop])

    def _block(self, number: int, text: np.ndarray, lines: Records) -> Cta:
        """Parse one block from its lines, which are sorted by warp."""
        reader, header = self._reader, self._reader.header
        x, rest = number % header.grid[0], number // header.grid[0]
        place = (x, rest % header.grid[1], rest // header.grid[1])
        reader.open_block(*place)
        warps = lines.key % split.WARPS
        target = np.zeros(int((lines.stop - lines.start).sum()), np.uint8)
        edges = np.searchsorted(warps, np.arange(header.warps + 1))
        for warp in range(header.warps):
            mine = lines[edges[warp] : edges[warp + 1]]
            if not len(mine):
                x, y, z = place
                reader.fail(f"thread block {x},{y},{z} has no line of warp {warp}")
            reader.warp_lines(warp, mine.number, target, split.gather(text, mine, target))
        return reader.take()


def _filler(file: IO[bytes]) -> Callable[[memoryview], int]:
    """A ``read_into`` over an open file."""

    def read_into(target: memoryview) -> int:
        filled = 0
        while filled < len(target):
            count = file.readinto(target[filled:])
            if not count:
                break
            filled += count
        return filled

    return read_into
