"""What front ends produce and the model consumes: a workload of kernels, served CTA by CTA.

A warp's dynamic stream is a list of *runs*: ``count`` consecutive static instructions, from index
``static`` on, under one active mask. Each memory instruction of a run whose mask is not empty and
that has addresses (``width > 0``) takes the next address record of the warp. A basic block that a
functional front end executes is one run; a trace reader joins lines into runs.
"""

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from enum import IntEnum
from functools import cached_property
from typing import Protocol

import numpy as np

from lockstep import notebook
from lockstep.host_calls import HostCommand, MemoryCopy
from lockstep.isa.instruction import INSTRUCTION, WARP_SIZE
from lockstep.names import demangled

RUN = np.dtype([("static", "i4"), ("count", "i4"), ("mask", "i8")])
"""``count`` instructions from static index ``static``, all with active-and-predicate ``mask``.

Bit k of a mask stands for lane k: of a warp of 64 threads the last lane is the sign.
"""

ADDRESS = np.dtype([("first", "i8"), ("stride", "i4"), ("pool", "i4")])
"""Addresses of one memory instruction, one for each active lane, in lane order.

``pool < 0``: active lane k (k-th set bit of the mask) accesses ``first + k * stride``.
Otherwise its address is ``cta.pool[pool + k]`` and ``first`` equals the first one. An address of
NOWHERE is that of an active lane that accesses nothing: a copy of no bytes.
"""
NOWHERE = -1

TILE_AXES = 4
TILE_HEAD, TILE_AXIS = 5, 6  # words before those of the axes, and of each axis
TILE_BARRIER = TILE_HEAD + TILE_AXIS * TILE_AXES
TILE_WORDS = TILE_BARRIER + 1
"""Words that describe the memory of one bulk copy: rows of bytes, found along four axes.

Base address, bytes of a row (0 = nothing is accessed), number of rows, repeats, and bytes from one
repeat of all rows to the next. Then for each axis, innermost first: first position, lowest and
highest one, step, last one that exists (the first is 0), and stride in bytes. Rows are taken from
the first positions on; an axis that would go past its highest position goes back to its lowest one
and the next axis goes a step further. A row is at base + sum of positions times strides; it is
accessed if all positions exist. The last word is one more than where in shared memory the barrier
object is that the copy completes, or 0.

An instruction of class TILE_COPY or TILE_STORE is executed for one lane at a time. Its run has a
mask of TILE_MASK all the same: these words are its addresses.
"""
TILE_MASK = (1 << TILE_WORDS) - 1

OBJECTS = 64
"""Barrier objects of a CTA that are told apart: an address is that of number address / 8 modulo 64.

An instruction of class OBJECT_WAIT has, for each lane, the address of its barrier object in shared
memory in the low OBJECT_SHIFT bits. The bits above are how many copies, of the whole CTA from its
start on, must have completed objects of that number before the warp goes on: those that had when
the wait ended in the program's execution. 0: the phase was not over, and nothing is waited for.
"""
OBJECT_SHIFT = 32


def object_number(word: int) -> int:
    """Of which number the barrier object is whose address the low OBJECT_SHIFT bits hold.

    Compiled code of both sides has it as a part; this module must not need Numba.
    """
    return (word & ((1 << OBJECT_SHIFT) - 1)) // 8 % OBJECTS


WARP = np.dtype(
    [
        ("first_run", "i8"),
        ("runs", "i8"),
        ("first_address", "i8"),
        ("addresses", "i8"),
        ("warp_instructions", "i8"),  # sum of the runs' counts
        ("thread_instructions", "i8"),  # the same, times active lanes
    ]
)
"""Where one warp's stream lies in its CTA's arrays."""


# x, y, z; CUDA C++ Programming Guide, technical specifications per compute capability
MOST_GRID = (2**31 - 1, 65535, 65535)  # CTAs
MOST_BLOCK = (1024, 1024, 64)  # threads; MOST_THREADS together
MOST_REGISTERS = 256  # of a thread
MOST_SHARED_BYTES = (1 << 31) - 1  # of a CTA; no GPU has as much
NEWEST_ARCHITECTURE = 999  # SASS version, of GPUs to come


class Ask(IntEnum):
    """What the model wants of a kernel's :class:`Source`."""

    START = 0  # begin a CTA: the answer is its ``place``
    LOOK = 1  # where does the warp go on
    EXECUTE = 2  # execute the block that it was told then


class Answer(IntEnum):
    """What a :class:`Source` says of a warp."""

    ENDED = 0
    WAITS = 1  # for other warps: ask again later
    READY = 2


STEP_RUNS = 64
"""Most runs of a block that is executed at issue."""

STEP = np.dtype(
    [
        ("ask", "i8"),  # Ask
        ("cta", "i8"),  # linear id; to start one
        ("sm", "i8"),  # where it starts
        ("place", "i8"),  # of the CTA: said by the source
        ("warp", "i8"),  # in the CTA
        ("cycle", "i8"),  # now
        ("static", "i8"),  # READY to LOOK: the first instruction of the next block
        ("mask", "i8"),  # ... and the lanes that will execute it
        ("runs", "i8"),  # READY to EXECUTE: runs of the block, 1 to STEP_RUNS
        ("addresses", "i8"),  # ... and its address records, 0 or 1
        ("comes", "i8"),  # ... and the barrier at which all living lanes now wait, or -1
    ]
)
"""One question of the model to a kernel's source, and the answer."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """Memory in which the model and a source meet; the source writes all but the questions.

    Pool places in an address record count from the start of ``pool``.
    """

    step: np.ndarray  # STEP [1]
    runs: np.ndarray  # RUN [STEP_RUNS]
    addresses: np.ndarray  # ADDRESS [1]
    pool: np.ndarray  # int64 [threads of a warp]


class Source(Protocol):
    """Executes a kernel while it is simulated, a block when its first instruction issues.

    So a program whose path depends on time takes the path of the simulated time. Machine code at
    ``function``, ``int64 f(void *context, int32)``, answers one question in the exchange; the
    simulation calls it from one thread. A block holds at most one memory access, its first
    instruction.
    """

    @property
    def function(self) -> int:
        """Address of the machine code."""
        ...

    @property
    def context(self) -> int:
        """What it is called with."""
        ...

    @property
    def warp_instructions(self) -> int:
        """Executed so far."""
        ...

    @property
    def thread_instructions(self) -> int:
        """The same, times active lanes."""
        ...

    def failed(self) -> bool:
        """Whether the kernel ended early; all its warps end as soon as they ask."""
        ...

    def close(self) -> None:
        """The kernel has ended."""
        ...


Keep = Callable[["Cta"], None]
"""Takes the streams of a CTA that was executed at issue, once it has ended."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a static instruction comes from."""

    function: str
    line: int  # of the text; 0 = there is none: machine code
    sources: tuple[tuple[str, int], ...] = ()  # file and line that it was made from, inlined first
    text: str = ""  # machine code in full


class Code:
    """The static instructions of a kernel; a trace reader may append while CTAs are served.

    ``instructions`` is an array of :data:`~lockstep.isa.instruction.INSTRUCTION`; records never
    move or change once appended. ``texts`` holds the display text of each opcode, ``origins`` of
    each instruction where it comes from, if that is known, and ``file`` the name of their text.
    """

    def __init__(
        self,
        instructions: np.ndarray | None = None,
        texts: list[str] | None = None,
        origins: Sequence[Origin] = (),
        file: str = "",
    ):
        self._records = np.zeros(64, INSTRUCTION)
        self._count = 0
        self.texts: list[str] = list(texts or ())
        self._origins, self.file = origins, file
        if instructions is not None:
            self.extend(instructions)

    def __len__(self) -> int:
        return self._count

    def text_of(self, static: int) -> str:
        """An instruction in full, where that is known, else its opcode."""
        full = self._origins[static].text if static < len(self._origins) else ""
        return full or self.texts[int(self._records[static]["text"])]

    def places_of(self, static: int) -> tuple[tuple[str, int], ...]:
        """File and line of an instruction, then of the calls that it was inlined at; or none."""
        if static >= len(self._origins):
            return ()
        origin = self._origins[static]
        return origin.sources or (((self.file, origin.line),) if origin.line else ())

    @property
    def instructions(self) -> np.ndarray:
        """A view of the records so far."""
        return self._records[: self._count]

    def extend(self, records: np.ndarray) -> int:
        """Append records; returns the static index of the first."""
        first, need = self._count, self._count + len(records)
        if need > len(self._records):
            grown = np.zeros(max(need, 2 * len(self._records)), INSTRUCTION)
            grown[:first] = self._records[:first]
            self._records = grown
        self._records[first:need] = records
        self._count = need
        return first


@dataclass(slots=True)
class Cta:
    """The streams of one thread block (cooperative thread array), complete and immutable."""

    index: tuple[int, int, int]  # block index x, y, z
    warps: np.ndarray  # WARP, one for each warp of the block, in warp order
    runs: np.ndarray  # RUN
    addresses: np.ndarray  # ADDRESS
    pool: np.ndarray  # int64


@dataclass
class Kernel:
    """One kernel launch: its geometry, its needs, its code and a way to read its CTAs."""

    id: int
    name: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    registers: int  # per thread
    shared_bytes: int  # per CTA, static and dynamic
    code: Code
    ctas: Callable[[], Iterator[Cta]] = field(repr=False)  # each call reads from the start
    stream: int = 0  # CUDA stream: kernels of one stream run one after the other
    architecture: int = 0  # SASS binary version (70 = Volta); 0 = unknown
    shared_base: int = 0  # generic address at which shared memory begins
    local_base: int = 0  # generic address at which local memory begins
    cluster: tuple[int, int, int] = (1, 1, 1)
    warp_size: int = WARP_SIZE  # threads of a warp, one of WARP_SIZES
    scalar_registers: int = 0  # of a wavefront of a compute unit
    source: Callable[..., Source] | None = field(default=None, repr=False)
    """Executes it at issue, ``source(exchange, keep=None)``; ``ctas`` is not used then.

    ``keep`` is a :data:`Keep`: it gets each CTA some time after it has ended, in any order.
    """
    executes: bool = False  # reading ``ctas`` executes them: those that do not run are read, too
    again: Callable[[], Iterator[Cta]] | None = field(default=None, repr=False)
    """Executes it as it was executed before a checkpoint, CTA by CTA; None: nobody sees that."""

    @property
    def title(self) -> str:
        """Its name in C++."""
        return demangled(self.name)

    @property
    def row(self) -> dict[str, object]:
        """What notebooks show of it."""
        return {
            "id": self.id,
            "kernel": self.title,
            "grid": self.grid,
            "block": self.block,
            "registers": self.registers,
            "shared, B": self.shared_bytes,
            "stream": self.stream,
        }

    def _repr_html_(self) -> str:
        """What notebooks show."""
        return notebook.facts(self.title, self.row)

    @property
    def n_ctas(self) -> int:
        """Thread blocks in the grid."""
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def threads(self) -> int:
        """Threads in a block."""
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def warps(self) -> int:
        """Warps in a block."""
        return -(-self.threads // self.warp_size)

    @property
    def cluster_ctas(self) -> int:
        """CTAs in a cluster."""
        return math.prod(self.cluster)

    @property
    def whole_clusters(self) -> bool:
        """Whether clusters divide the grid."""
        return all(ctas % each == 0 for ctas, each in zip(self.grid, self.cluster))


@dataclass(frozen=True, slots=True)
class MemoryPass:
    """Memory that passes through the L2 before a launch, as a profiler saves and restores it.

    No part of a program: it is in no trace, and not counted. ``written``: what is written, which is
    dirty; what is read is found at its home alone where the L2 has two sides.
    """

    address: int
    bytes: int
    written: bool = False


L2_LINE, L2_SECTOR = 128, 32
"""Bytes of a line and of a sector of a :class:`WarmSet`, whatever those of the GPU are."""
L2_RUN = np.dtype([("first", "i8"), ("lines", "i8"), ("sectors", "i8"), ("dirty", "i8")])
"""``lines`` lines, from number ``first`` (address / L2_LINE) on, with the same ``sectors``, every
byte of which is here, and the same ``dirty`` ones: bit k of a mask stands for sector k. Of one that
is dirty, and not among ``sectors``, a part is here."""


LAUNCHED = np.dtype([("kernel", "i8"), ("ctas", "i8")])
"""A launch: the number of its kernel among all, and how many CTAs it has."""


@dataclass(frozen=True, slots=True, eq=False)
class WarmSet:
    """What launches that are not simulated have left for the next one.

    The L2 holds ``runs`` of lines, in the order of last use, the oldest in front: one that has no
    room for all holds the end. ``launches``: all from the start of the program on, and the next
    one itself. They say on which SM it begins, and which SMs have its code. The SMs are those
    behind the first ``there`` of them, the last of which was simulated; ``alone``: none was, and
    nothing else is there. ``constants``: addresses of sectors (int64) that all
    SMs have read as constants. No part of a program, and not counted.
    """

    runs: np.ndarray  # L2_RUN
    launches: np.ndarray  # LAUNCHED
    there: int = 0
    alone: bool = True
    constants: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))


@dataclass(frozen=True, slots=True)
class Warming:
    """A kernel of which only what it leaves behind in the caches is wanted.

    It takes no time and is not counted. It has ``ctas``, and no ``source``.
    """

    kernel: Kernel


Command = Kernel | MemoryCopy | HostCommand | MemoryPass | WarmSet | Warming
"""What a simulation is given to do."""


@dataclass
class Workload:
    """A program as the GPU sees it: copies and kernel launches, in order.

    Or some of its launches, apart from each other: *live points*. Then each kernel follows the
    WarmSet that it begins with, and ``points`` says what the launches stand for: a document in
    JSON, see :mod:`lockstep.sampling.points`.
    """

    name: str
    commands: Sequence[Kernel | MemoryCopy | WarmSet]
    path: str = ""  # where it was read from
    gpu: str = ""  # name of the GPU that it was recorded on, if that is known
    points: str = ""  # of live points

    def _repr_html_(self) -> str:
        """What notebooks show."""
        return notebook.rows(
            f"{self.name}: {len(self.kernels):,} kernels",
            [kernel.row for kernel in self.kernels],
        )

    @cached_property
    def digest(self) -> str:
        """Hash of its content, for the manifest.

        A front end sets it if it knows a quicker way than to read every CTA.
        """
        return _digest(self)

    @property
    def kernels(self) -> list[Kernel]:
        """The kernel launches, in order."""
        return [c for c in self.commands if isinstance(c, Kernel)]


_HASHED_OTHERWISE = ("name", "code", "ctas", "source", "again", "scalar_registers")
_HASHED_NUMBERS = [f.name for f in fields(Kernel) if f.name not in _HASHED_OTHERWISE]


def _digest(workload: Workload) -> str:
    """SHA-256 in hexadecimal of all copies, kernels, instructions and streams; reads every CTA."""
    digest = hashlib.sha256()
    for part in _hashed(workload):
        digest.update(b"%d:" % len(part))  # so that no part can pass for the end of another
        digest.update(part)
    return digest.hexdigest()


def _hashed(workload: Workload) -> Iterator[bytes]:
    yield _text(workload.name)
    if workload.points:
        yield _text(workload.points)
    for command in workload.commands:
        if isinstance(command, MemoryCopy):
            yield _text(f"copy {command.address} {command.bytes}")
        elif isinstance(command, WarmSet):
            yield command.runs.tobytes()
            yield command.launches.tobytes()
        else:
            yield from _hashed_kernel(command)


def _hashed_kernel(kernel: Kernel) -> Iterator[bytes]:
    yield _text(f"kernel {kernel.name}")
    for name in _HASHED_NUMBERS:
        value = getattr(kernel, name)
        yield _integers(value if isinstance(value, tuple) else (value,))
    if kernel.scalar_registers:  # without them a digest is what it was before there were any
        yield _integers((kernel.scalar_registers,))
    for cta in kernel.ctas():
        yield from _hashed_cta(cta)
    yield kernel.code.instructions.tobytes()  # last: reading the CTAs may append some
    yield from map(_text, kernel.code.texts)


def _hashed_cta(cta: Cta) -> Iterator[bytes]:
    yield _integers(cta.index)
    for array in (cta.warps, cta.runs, cta.addresses, cta.pool):
        yield array.tobytes()


def _integers(values: Iterable[int]) -> bytes:
    return " ".join(str(int(n)) for n in values).encode()


def _text(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
