"""A translated kernel: basic blocks as machine code, and what the scheduler knows of them."""

import functools
from enum import IntEnum, IntFlag
from typing import Any

import msgspec
import numpy as np

from lockstep.execution.checks.kinds import Check
from lockstep.execution.programs.counted import CountedPlaces
from lockstep.execution.programs.services import QUEUES
from lockstep.isa.instruction import OpClass, Space
from lockstep.workload import Origin

_CHANGES = (
    OpClass.STORE, OpClass.ATOMIC, OpClass.REDUCTION, OpClass.ASYNC_COPY, OpClass.BULK_COPY,
    OpClass.BULK_STORE, OpClass.TILE_COPY, OpClass.TILE_STORE, OpClass.SURFACE, OpClass.BARRIER,
    OpClass.ARRIVE, OpClass.CLUSTER_ARRIVE, OpClass.CLUSTER_WAIT,
)  # fmt: skip
LONGEST_LOOK = 48  # instructions
_BULK = (OpClass.BULK_COPY, OpClass.BULK_STORE, OpClass.TILE_COPY, OpClass.TILE_STORE)


class Ending(IntEnum):
    """What the lanes that a block's function returns do at its end; the others go to `next`."""

    JUMP = 0  # all lanes go to `next`, whatever it returns
    BRANCH = 1  # go to `taken`
    EXIT = 2
    INDIRECT = 3  # each lane goes to the block in its scratch word
    BARRIER = 4  # wait for the threads of the CTA, then `taken`
    ARRIVE = 5  # count as arrived at the barrier, then `taken`
    HOST = 6  # leave to Python for a service, then `taken`
    TRAP = 7  # end the launch
    BREAK = 8  # leave the region of a convergence barrier; all lanes go to `next`
    SLEEP = 9  # let their warp sleep; all lanes go to `next`
    MEET = 10  # wait for lanes that the last instruction names; all lanes go to `next`


class Meeting(IntEnum):
    """For whom lanes wait at a block: for lanes that an instruction names.

    That is its first one, or the last one of a block that ends by MEET: each group of lanes that
    arrives has executed it then.
    """

    NOBODY = 0
    OPERATION = 1  # that come to the same operation
    PATHS = 2  # where paths join: of those who began together; not for lanes that spin
    ANYWHERE = 3  # that come to a plain synchronisation, this one or another
    ALONE = 4  # as OPERATION, and those who named others execute the block apart


class Recording(IntFlag):
    """What the blocks of a program tell of what they do."""

    NOTHING = 0
    EVERYTHING = 1  # streams for the timing model: each block, and all addresses
    AT_ISSUE = 3  # everything, in blocks in which only the first instruction depends on time
    PROFILE = 4  # counters
    INIT = 8  # which bytes were written; reads of others are noted
    RACES = 16  # accesses to shared memory are compared with those before
    LINES = 32  # lines of device memory that are touched, and how; see memory.touched
    ACCESSES = 64  # streams of what caches see: accesses beyond shared memory, and barriers


_CHECKS = {Check.INIT: Recording.INIT, Check.RACES: Recording.RACES}


def recording_of(checks: Check) -> Recording:
    """What blocks must tell for some checks."""
    found = Recording.NOTHING
    for check, recording in _CHECKS.items():
        found |= recording if check in checks else Recording.NOTHING
    return found


def checks_in(recording: Recording) -> Check:
    """The inverse, for the checks that need it."""
    found = Check.NOTHING
    for check, wanted in _CHECKS.items():
        found |= check if wanted in recording else Check.NOTHING
    return found


EXITED = -1  # as a target: the lanes end
NOWHERE = -2  # an indirect branch or call to what is no target
SURELY = 2  # spins: it looks at the time, or sleeps
ARRIVALS = 3  # spins: it waits for an mbarrier, where other warps mostly arrive
TOO_DEEP = -3  # a call for which the stack has no room
WORD_GRANULE = 2

BLOCK = np.dtype(
    [
        ("first", "i8"),  # static index of its first instruction
        ("count", "i8"),  # instructions
        ("ending", "i8"),  # Ending
        ("taken", "i8"),
        ("next", "i8"),
        ("spins", "i8"),  # 1 = ends a turn of a loop that waits for others; SURELY, ARRIVALS
        ("looks", "i8"),  # 1 = ... of a short one that only looks whether it may go on
        ("meeting", "i8"),  # Meeting
        ("collects", "i8"),  # 1 = lanes that come at different times go on together: see groups
        ("parts", "i8"),  # 1 = even the whole warp may be of lanes that wait for others: see waits
        ("members", "i8"),  # the member mask, if it is a constant
        ("members_slot", "i8"),  # else the byte offset of the register that holds it; -1 = none
        ("breaks_slot", "i8"),  # byte offset of the barrier register that lanes leave
        ("together", "i8"),  # 1 = lanes that were found converged go on at once, before others join
        ("barrier", "i8"),  # its number; -1 = each lane's number and count are in its scratch words
        ("threads", "i8"),  # that the barrier expects; 0 = all of the CTA
        ("reduces", "i8"),  # 1 = a predicate is reduced over the barrier
        ("service", "i8"),  # which one a host call asks for
        ("overtakes", "i8"),  # 1 = begins with a write before which a warp lets others read
        ("stream_words", "i8"),  # what one execution appends to the stream
        ("guard_slot", "i8"),  # byte offset of its first instruction's guard; -1 = none
        ("guard_negated", "i8"),
    ]
)
"""One basic block. Blocks are numbered so that a smaller number should run first."""


def marked(places: list[int], count: int) -> np.ndarray:
    """Which of so many instructions these are: bool."""
    made = np.zeros(count, bool)
    made[places] = True
    return made


def loop_of(blocks: np.ndarray, code: np.ndarray, end: int) -> np.ndarray:
    """Those of the instructions, or of what there is for each, that are of a loop whose turns a
    block ends; none if it goes on elsewhere."""
    block = blocks[end]
    starts = [int(n) for n in (block["taken"], block["next"]) if 0 <= n <= end]
    loop = blocks[min(starts) : end + 1] if starts else blocks[:0]
    parts = [code[b["first"] : b["first"] + b["count"]] for b in loop]
    return np.concatenate([code[:0], *parts])


def find_looks(blocks: np.ndarray, code: np.ndarray, idle_atomics: list[int]) -> None:
    """Mark the blocks that end turns of short loops which only look whether they may go on."""
    changes = np.isin(code["op"], _CHANGES) & ~marked(idle_atomics, len(code))
    for end in np.flatnonzero(blocks["spins"]).tolist():
        loop = loop_of(blocks, changes, end)
        blocks["looks"][end] = 0 < len(loop) <= LONGEST_LOOK and not loop.any()


class Item(msgspec.Struct):
    """What a block appends to the stream for an instruction, after its two words of header.

    ``guarded``: one word, the lanes that execute it; others are addresses, one word a lane.
    ``tiled``: of the words that describe a tile, each for all lanes. ``waits``: the addresses are
    those of barrier objects, with WAITED where a phase is over.
    """

    instruction: int  # static index
    word: int  # where, from the start of the block's entry
    guarded: bool = False
    tiled: bool = False
    waits: bool = False


class ObjectFile(msgspec.Struct, frozen=True):
    """Object code of one module, and the functions that it has."""

    code: bytes
    functions: tuple[str, ...]


class Objects(msgspec.Struct, frozen=True):
    """Object code, and the symbols of the routines that it calls: see ``kept.routine``."""

    files: tuple[ObjectFile, ...]
    routines: tuple[str, ...] = ()


class Part(msgspec.Struct, frozen=True):
    """Blocks that are compiled together: their functions are ``block0``, ``block1`` and so on.

    Those of a large program are compiled, each part apart, when the first of its blocks runs. Then
    ``key`` says what the object code depends on, and its symbol FIRST_SITE is ``first_site``.
    """

    first: int  # number of its first block
    end: int
    key: str = ""
    first_site: int = 0
    objects: Objects | None = None


FIRST_SITE = "first_site"


def _registers(first: np.ndarray, count: np.ndarray) -> set[int]:
    """Those of some ranges."""
    ranges = zip(np.ravel(first).tolist(), np.ravel(count).tolist())
    return {register for start, n in ranges for register in range(start, start + n)}


class Program(msgspec.Struct, dict=True, eq=False):
    """A kernel ready to run; everything but ``parts`` is independent of the host.

    ``supply`` makes the object code of a part that has none: ``supply(part)``. It is not kept.
    """

    name: str
    blocks: np.ndarray  # BLOCK
    parts: list[Part]  # of all blocks, in their order
    lanes: int  # of a warp
    register_bytes: int  # of the slots of one warp
    local_bytes: int  # of one thread, without the stack of recursive functions
    shared_bytes: int  # static, of one CTA, without the reserved ones
    sites: list[tuple[int, int]]  # of each memory site: static index of its instruction, Window
    symbols: list[str]  # names in the table of symbol addresses
    file: str = ""  # where its text comes from, for messages
    items: list[list[Item]] = msgspec.field(default_factory=list)  # for each block
    code: np.ndarray | None = None  # INSTRUCTION records, for the timing model
    texts: list[str] = msgspec.field(default_factory=list)
    origins: list[Origin] = msgspec.field(default_factory=list)  # of each static instruction
    registers: int = 0  # of a thread, for occupancy
    scalar_registers: int = 0  # of a wavefront
    entry: int = 0
    reserved_shared: int = 0  # bytes of shared memory that are the system's, at its beginning
    reserved_last: bool = False  # ... or at its end
    cleared_bytes: int = 0  # of the slots: those that a program may read before it writes them
    frame_bytes: int = 0  # largest frame of recursive functions on a thread's stack
    guarded: np.ndarray | None = None  # bool, of each static instruction; None = nothing counts
    targets: np.ndarray | None = None  # int64, block of each static index; for machine code
    recording: Recording = Recording.NOTHING
    clock_reads: list[int] = msgspec.field(default_factory=list)  # static indices
    idle_atomics: list[int] = msgspec.field(default_factory=list)  # ... of those that add nothing
    clustered: bool = False  # shared addresses tell the CTAs of a cluster apart: state.TAG_SHIFT
    granule: int = WORD_GRANULE  # log2 of the bytes of shared memory that are told apart in races
    supply: Any = None

    @functools.cached_property
    def counted(self) -> CountedPlaces:
        """What its counters belong to."""
        assert self.code is not None, "it was translated"
        return CountedPlaces.of(self.blocks, self.code)

    @functools.cached_property
    def notes_all_lines(self) -> bool:
        """Whether ``Recording.LINES`` tells of all its lines: bulk copies are in streams alone."""
        assert self.code is not None, "it was translated"
        return not np.isin(self.code["op"], _BULK).any()

    @functools.cached_property
    def asks_host(self) -> bool:
        """Whether it may ask the host for something: to print, to allocate, to launch kernels."""
        return bool((self.blocks["ending"] == Ending.HOST).any())

    @functools.cached_property
    def launches(self) -> bool:
        """Whether it may launch kernels, or have memory copied or filled after it has ended."""
        asks = self.blocks["ending"] == Ending.HOST
        return bool(np.isin(self.blocks["service"][asks], list(QUEUES)).any())

    @functools.cached_property
    def awaits_others(self) -> bool:
        """Whether it has a loop that only reads, again and again, what other CTAs may write.

        How often it does depends on when they do. An atomic operation that adds zero reads. A loop
        that tries to change what it reads, such as one that takes a lock, is none of these, unless
        somebody sleeps meanwhile: how long, the time tells.
        """
        assert self.code is not None, "it was translated"
        spins = np.flatnonzero(self.blocks["spins"])
        sleeps = len(spins) > 0 and bool((self.code["op"] == OpClass.SLEEP).any())
        return sleeps or any(self._only_reads(int(k)) for k in spins)

    def _only_reads(self, end: int) -> bool:
        """Whether the loop that a block ends reads one place of global memory, and changes none."""
        assert self.code is not None, "it was translated"
        code = loop_of(self.blocks, self.code, end)
        idle = loop_of(self.blocks, marked(self.idle_atomics, len(self.code)), end)
        if not len(code) or (np.isin(code["op"], _CHANGES) & ~idle).any():
            return False
        reads = (code["op"] == OpClass.LOAD) | idle
        reads &= np.isin(code["space"], (Space.GLOBAL, Space.GENERIC))
        written = _registers(code["destination"], code["destination_count"])
        return any(
            written.isdisjoint(_registers(one["source"], one["source_count"]))
            for one in code[reads]
        )

    def thread_bytes(self, stack: int) -> int:
        """Local memory of a thread; ``stack``: of recursive functions, if there are any."""
        if not self.frame_bytes:
            return self.local_bytes
        return self.local_bytes + -(-max(stack, self.frame_bytes) // 16) * 16
