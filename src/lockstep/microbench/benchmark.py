"""What a benchmark is: launches of the suite's kernels, and the rows that are read from them.

Everything here is data, which ``simulate.py`` runs on a modelled GPU and ``plan.py`` writes down
for a real one.
"""

from dataclasses import dataclass
from enum import StrEnum

from lockstep.microbench.measures import Measure

ARCHITECTURES = (70, 80, 90)
"""Those that the suite's kernels are compiled for."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where the suite runs: SMs, architecture of the code, memories, whether it is hardware.

    Hardware runs ``full`` sizes; a simulator runs those rows, and those sizes, that take it a
    second or less.
    """

    sms: int
    architecture: int
    l2_bytes: int = 50 << 20
    shared_bytes: int = 228 << 10
    full: bool = False


class Fill(StrEnum):
    """What a buffer holds at first.

    ZERO: nothing else matters. ANY: whatever. CHAIN: ``count`` nodes of 8 bytes, ``stride`` bytes
    apart, each with the address of the next, the last with that of the first. CYCLE: the same in
    an order by a hash of the node. INDICES: 32-bit words of which each ``stride``-th byte holds
    the index of the word that follows in the chain. OWN: the offset in bytes of the vector of
    ``stride`` bytes that a word is in. WORDS: 64-bit words, as listed.
    """

    ZERO = "zero"
    ANY = "any"
    CHAIN = "chain"
    CYCLE = "cycle"
    INDICES = "indices"
    OWN = "own"
    WORDS = "words"


@dataclass(frozen=True, slots=True)
class Buffer:
    """Device memory of a case; ``symbol`` names a ``__constant__`` variable ``file.name``.

    ``visited``: only so many nodes of a chain are ever reached, so that a simulator need not write
    the others.
    """

    name: str
    bytes: int
    fill: Fill = Fill.ZERO
    stride: int = 0
    count: int = 0
    words: tuple[int, ...] = ()
    symbol: str = ""
    texture: bool = False
    visited: int = 0


class Kind(StrEnum):
    """Types of arguments: the value is a number, a buffer's name, or three iteration counts."""

    BUFFER = "buffer"
    I32 = "i32"
    I64 = "i64"
    F32 = "f32"
    F64 = "f64"
    SEGMENTS = "segments"


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a kernel; ``offset`` bytes behind the start of a buffer."""

    kind: Kind
    value: int | float | str | tuple[int, int, int]
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Launch:
    """A launch of ``file.kernel``; ``grid`` and ``block`` are one-dimensional."""

    kernel: str
    grid: int
    block: int
    arguments: tuple[Argument, ...] = ()
    shared: int = 0
    cluster: int = 0  # CTAs, 0 for none
    cooperative: bool = False
    early: bool = False  # may start before the launch before it has ended


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy between host and device by the runtime: h2d, d2h, d2d or memset."""

    kind: str
    bytes: int
    pinned: bool = True


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the table; ``parameters`` may hold ``{names}`` that its measure fills in.

    ``stands_for``: of a row in another size than hardware runs, the parameters of that one.
    """

    name: str
    parameters: str
    unit: str
    measure: Measure
    notes: str = ""
    stands_for: str = ""


@dataclass(frozen=True, slots=True)
class Case:
    """Launches after each other, and the rows that are read from buffer ``out`` behind the last.

    ``warm`` launches run once, ``launches`` once for each repeat. ``cold``: nothing that the case
    uses may lie in the caches before. ``timed``: ``out`` gets the nanoseconds between two events
    around ``times`` repetitions of ``launches``, a launch or a copy each.
    """

    rows: tuple[Row, ...]
    launches: tuple[Launch | Copy, ...]
    buffers: tuple[Buffer, ...] = ()
    warm: tuple[Launch, ...] = ()
    repeats: int = 5
    cold: bool = False
    timed: bool = False
    times: int = 1

    @property
    def key(self) -> str:
        """What its raw results are called."""
        return f"{self.rows[0].name}|{self.rows[0].parameters}"


@dataclass(frozen=True, slots=True)
class Benchmark:
    """Cases that measure one thing.

    ``loop``: what the timed loop is in machine code. ``caveat``: what else the value holds.
    ``since``: the architecture that has the instructions. ``hardware_only``: why no model of the
    GPU can have its rows.
    """

    name: str
    group: str
    what: str
    cases: tuple[Case, ...]
    loop: str = ""
    caveat: str = ""
    since: int = 70
    until: int = 999
    hardware_only: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of its rows, its own first."""
        rows = (row.name for case in self.cases for row in case.rows)
        return tuple(dict.fromkeys((self.name, *rows)))

    def runs_on(self, target: Target) -> bool:
        """Whether the architecture has what it measures."""
        return self.since <= target.architecture <= self.until
