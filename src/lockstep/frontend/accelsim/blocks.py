"""Thread blocks from the text of a trace: feeds the jitted reader and collects what it finds."""

from bisect import bisect_right
from pathlib import Path

import numpy as np

from lockstep._jit import bound
from lockstep.errors import InputError, LockstepError
from lockstep.frontend.accelsim import parser
from lockstep.frontend.accelsim.header import Header
from lockstep.frontend.accelsim.parser import STATE, Parser
from lockstep.frontend.accelsim.problems import describe
from lockstep.frontend.accelsim.sections import advance, begin_lines, end_lines
from lockstep.frontend.accelsim.statics import Statics
from lockstep.isa.instruction import WARP_SIZE
from lockstep.workload import Cta

MOST_RECORDS = (1 << 31) - 1  # of one kind in a block: a WARP's pool index has 32 bits
PREFIX_OLD, PREFIX_RAW_CLUSTER = 4, 11  # x y z warp; and the cluster's coordinates and rank


class BlockReader:
    """One pass over a kernel's text; the arrays it fills are used again for every block."""

    def __init__(self, path: Path, header: Header, statics: Statics):
        self.path, self.header, self._statics = path, header, statics
        self._seen = BlockSet(header.grid)
        state = parser.records(1, STATE)
        self.state = s = state[0]
        self._row = state.view(np.ndarray)[0]  # the same: attributes are slower than items
        s.version, s.lineinfo, s.warps = header.tracer, int(header.lineinfo), header.warps
        s.last_lanes = (1 << (header.threads - 1) % WARP_SIZE + 1) - 1
        s.prefix = PREFIX_OLD if header.tracer < 3 else 0
        s.grid = header.grid
        s.line = header.lines + 1
        self._generation = statics.generation
        self._parser = Parser(state, **statics.arrays(), **parser.output(header.warps))
        self._output = _plain(self._parser)
        self._buffer = np.zeros(0, np.uint8)
        self.bind()
        self._begin_block()

    def bind(self) -> None:
        """Be ready to parse, with the arrays that there are now."""
        self._advance = bound(advance, self._buffer, self._parser)

    @property
    def blocks_seen(self) -> int:
        """Complete blocks so far."""
        return self._seen.count

    def where(self) -> str:
        """The current line, for errors; readers of other files than text give their own."""
        return f"line {int(self.state.line)}"

    def fail(self, message: str):
        """Raise the error for the current place."""
        raise InputError(self.path, self.where(), message)

    def feed(self, buffer: np.ndarray, position: int, end: int) -> int:
        """Parse a stretch of text in ``buffer``: whole lines, so a newline ends it."""
        self.begin(buffer, position, end)
        return self.advance()

    def begin(self, buffer: np.ndarray, position: int, end: int) -> None:
        """Be in front of a stretch of text."""
        self._buffer = buffer
        self.bind()
        self._row["position"], self._row["end"] = position, end

    def advance(self) -> int:
        """Parse up to the end of a block (BLOCK_DONE) or of the text (MORE)."""
        while True:
            outcome = self._advance()
            if outcome in (parser.MORE, parser.BLOCK_DONE):
                return outcome
            if outcome >= parser.FIRST_PROBLEM:
                missing = np.flatnonzero(self._parser.warps.runs < 0).tolist()
                self.fail(describe(outcome, self.state, self._buffer, self.header, missing))
            if outcome == parser.GROW:
                self._grow()
            else:
                self._learn(outcome)

    def open_block(self, x: int, y: int, z: int) -> None:
        """Begin a block whose text has no sections."""
        self.state.place[:3] = (x, y, z)
        self.state.warps_seen = 0

    def open_warp(self, warp: int) -> None:
        """Begin the stream of a warp in such a block; ``feed`` its lines."""
        begin_lines(self._parser, warp)

    def close_warp(self) -> None:
        """The warp is complete."""
        if self.state.pair:
            self.fail("expected the second line of an LDGSTS, found the end of the warp")
        end_lines(self._parser)

    def take(self) -> Cta:
        """The block that is complete now; the reader is ready for the next."""
        row, (runs, addresses, pool, warps) = self._row, self._output
        x, y, z, _ = row["place"].tolist()
        self.note(x, y, z, int(row["line"]) - 1)
        block = Cta(
            (x, y, z),
            warps.copy(),
            runs[: row["runs"]].copy(),
            addresses[: row["addresses"]].copy(),
            pool[: row["pool"]].copy(),
        )
        self._begin_block()
        return block

    def note(self, x: int, y: int, z: int, line: int) -> None:
        """A block is complete, with a line as its last one; it must be the first of its place."""
        if not self._seen.add(x, y, z):
            self._row["line"] = line
            self.fail(f"thread block {x},{y},{z} is given twice")

    def require_all(self) -> None:
        """The text is at its end: every block of the grid must have been in it."""
        if self.state.phase not in (parser.OUTSIDE, parser.LINES):
            self.fail("the file is truncated: expected the rest of the thread block and #END_TB")
        if self.blocks_seen != self.header.blocks:
            self.fail(
                f"the file is truncated: expected {self.header.blocks} thread blocks "
                f"(grid {self.header.grid}), found {self.blocks_seen}"
            )

    def _begin_block(self) -> None:
        row = self._row
        row["runs"] = row["addresses"] = row["pool"] = row["first_run"] = 0
        self._output[3]["runs"] = -1  # not seen

    def _learn(self, outcome: int) -> None:
        """Add the static instruction that the reader stopped at."""
        row = self._row
        try:
            if outcome == parser.NEW_HEAD:
                text = self._buffer[row["head_start"] : row["head_end"]].tobytes()
                self._statics.add_head(int(row["pc"]), text)
            else:
                self._statics.add_variant(int(row["head"]), int(row["immediate"]))
        except LockstepError as error:
            self.fail(str(error))
        if self._generation != self._statics.generation:
            self._generation = self._statics.generation
            self._parser = self._parser._replace(**self._statics.arrays())
            self.bind()

    def _grow(self) -> None:
        """Double the output arrays that are nearly full."""
        s, grown = self.state, {}
        for name, room in (("runs", 1), ("addresses", 1), ("pool", WARP_SIZE)):
            array = getattr(self._parser, name)
            if getattr(s, name) + room > len(array):
                if 2 * len(array) > MOST_RECORDS:
                    self.fail(f"the thread block has more than {MOST_RECORDS} {name}")
                grown[name] = np.concatenate((array, np.zeros_like(array))).view(type(array))
        self._parser = self._parser._replace(**grown)
        self._output = _plain(self._parser)
        self.bind()


def _plain(p: Parser) -> tuple[np.ndarray, ...]:
    """The output arrays without the attribute access of record arrays, which is slow."""
    return tuple(a.view(np.ndarray) for a in (p.runs, p.addresses, p.pool, p.warps))


class BlockSet:
    """Which blocks of a grid have been seen: intervals of their linear numbers, x fastest.

    Blocks mostly come in order, so that one interval holds them all.
    """

    def __init__(self, grid: tuple[int, int, int]):
        self._grid = grid
        self._starts: list[int] = []
        self._stops: list[int] = []
        self.count = 0

    def add(self, x: int, y: int, z: int) -> bool:
        """Add a block; False if it was there."""
        n = x + self._grid[0] * (y + self._grid[1] * z)
        i = bisect_right(self._starts, n)  # the interval before it is i - 1
        if i and n < self._stops[i - 1]:
            return False
        self.count += 1
        joins_left = i > 0 and self._stops[i - 1] == n
        joins_right = i < len(self._starts) and self._starts[i] == n + 1
        if joins_left and joins_right:
            self._stops[i - 1] = self._stops.pop(i)
            del self._starts[i]
        elif joins_left:
            self._stops[i - 1] = n + 1
        elif joins_right:
            self._starts[i] = n
        else:
            self._starts.insert(i, n)
            self._stops.insert(i, n + 1)
        return True
