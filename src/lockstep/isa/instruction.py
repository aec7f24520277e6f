"""The ISA-independent static instruction: one record, filled by front ends, read by the model.

Registers of all files share one numbering, so that one scoreboard covers them:
vector registers first, then predicates, uniform registers, uniform predicates. The zero and true
registers are never listed: they carry no dependence. Instructions of AMD's GPUs list no registers:
their compilers say by wait counts what waits for memory, and nothing else has to.
"""

from enum import IntEnum, IntFlag

import numpy as np

from lockstep.errors import LockstepError


class OpClass(IntEnum):
    """What an instruction does, as far as timing can tell: selects unit, latency and interval."""

    UNKNOWN = 0
    FP32 = 1
    FP16 = 2
    FP64 = 3
    INT32 = 4
    IMAD = 5
    MOVE = 6
    CONVERT = 7
    SFU = 8
    SHUFFLE = 9
    VOTE = 10
    SPECIAL_REGISTER = 11
    UNIFORM = 12
    HMMA = 13
    IMMA = 14
    DMMA = 15
    LOAD = 16
    STORE = 17
    ATOMIC = 18  # returns the old value
    REDUCTION = 19  # an atomic without a result
    ASYNC_COPY = 20  # global to shared without a register (LDGSTS)
    BULK_COPY = 21  # the tensor memory accelerator: from global memory
    TEXTURE = 22
    SURFACE = 23
    BRANCH = 24
    CONVERGENCE = 25  # BSSY, BSYNC, WARPSYNC, SSY, SYNC and their kin
    EXIT = 26
    BARRIER = 27  # waits for other warps of the CTA
    ARRIVE = 28  # arrives at a barrier and goes on
    FENCE = 29
    COMMIT_GROUP = 30  # closes a group of asynchronous copies
    WAIT_GROUP = 31  # waits until at most `immediate` groups are open
    NOP = 32
    CACHE_CONTROL = 33
    SLEEP = 34
    BULK_STORE = 35  # the tensor memory accelerator: to global memory
    TILE_COPY = 36  # as BULK_COPY, of memory that a tile describes: workload.TILE_WORDS
    TILE_STORE = 37  # as BULK_STORE, likewise
    OBJECT_WAIT = 38  # waits until bulk copies have completed a barrier object: workload.OBJECTS
    CLUSTER_ARRIVE = 39  # arrives at the barrier of the cluster and goes on
    CLUSTER_WAIT = 40  # waits for the opening of the barrier at which it has arrived
    IMAD_WIDE = 41  # a product of 64 bits, or its high half
    SPECIAL_MOVE = 42  # a special register at a fixed latency (CS2R)
    MATCH = 43  # compares a value over the lanes of a warp
    REDUX = 44  # reduces a value over the lanes of a warp
    PACK = 45  # a conversion that the ALU does (F2FP, I2FP)
    GMMA = 46  # a product of a warpgroup, of `immediate` columns: the warp goes on meanwhile
    GMMA_ARRIVE = 47  # opens a group of such products
    GMMA_WAIT = 48  # waits until at most `immediate` such groups are open
    LOCAL_FENCE = 49  # orders what the SM does, for nobody beyond it
    # Of AMD's compute units. Wait counters rise with the instruction and fall with its end: that of
    # vector memory for global loads, stores and atomics, LGKM for shared memory and SCALAR_LOAD.
    SCALAR = 50  # arithmetic of a whole wavefront
    SCALAR_LOAD = 51  # `width` bytes for a whole wavefront: one address record of one lane
    WAIT_COUNT = 52  # until the wait counters are at most what `immediate` says, as WAIT_FIELDS


OF_CUS = (OpClass.SCALAR, OpClass.SCALAR_LOAD, OpClass.WAIT_COUNT)
"""What only compute units execute."""


class Space(IntEnum):
    """Which memory an instruction addresses."""

    NONE = 0
    GLOBAL = 1
    SHARED = 2
    LOCAL = 3
    CONSTANT = 4
    GENERIC = 5  # global, shared or local, told apart by the address
    TEXTURE = 6


class CachePolicy(IntFlag):
    """How a memory instruction asks the caches to treat it."""

    DEFAULT = 0
    BYPASS_L1 = 1  # .STRONG.GPU, .CG, GLC
    STREAMING = 2  # evict first: .EF, .CS, SLC
    KEEP = 4  # evict last: .EL
    VOLATILE = 8  # .STRONG.SYS, .CV: past the L1, never merged
    NO_ALLOCATE = 16
    INVALIDATE = 32  # CCTL.IVALL: the L1 forgets all that it holds
    # What a coherence protocol with scopes looks at, and nothing else.
    OF_CTA = 64  # .STRONG.SM, .cta: other SMs need not see it
    ACQUIRE = 128  # later accesses of the thread come after it
    RELEASE = 256  # ... and earlier ones before it


ORDERING = CachePolicy.OF_CTA | CachePolicy.ACQUIRE | CachePolicy.RELEASE
"""The bits that say what an access or a fence orders; the others are for caches."""


WAIT_FIELDS = ((0, 4), (4, 3), (8, 5))
"""First bit and bits of the fields of a WAIT_COUNT's ``immediate``: what may be on its way then.

Vector memory (in order), stores that have not read their data (in order), LGKM (in any order), as
the operand of s_waitcnt [Southern Islands ISA, 4.4]. A field of ones waits for nothing.
"""

MAX_DESTINATIONS = 4
MAX_SOURCES = 8
PREDICATES = 256  # first number of the predicate file; vector registers are 0 to 255
UNIFORM_REGISTERS = 272
UNIFORM_PREDICATES = 336
REGISTER_COUNT = 344
SLOTS = 4  # source operands that can be kept in the register-file cache
SLOT_SHIFT, SLOT_BITS = 8, 2
NO_CONTROL = -1  # `stall` of an instruction whose scheduling control bits are not known
NO_BARRIER = 7  # dependence barrier number that means "none"
NAMED_BARRIERS = 16  # of a CTA
THREADS_SHIFT = 16  # number | threads << this is kept of a barrier that registers name
NO_CONSTANT = -1  # `constant` of an instruction without one
CONSTANT_BANK = 1 << 16  # bytes that a bank of constant memory can have
CONSTANT_BANKS = 32  # that an instruction can name
WARP_SIZE = 32  # threads of a warp of NVIDIA's GPUs, and of a kernel unless it says otherwise
ALL_LANES = (1 << WARP_SIZE) - 1  # of NVIDIA's warps, as members of an operation
WARP_SIZES = (WARP_SIZE, 64)  # that a GPU may have
# CUDA C++ Programming Guide, technical specifications per compute capability
MOST_THREADS = 1024  # of a CTA
RESERVED_SHARED = 1024  # bytes a CTA that CUDA keeps of shared memory from sm_80 on (Ampere guide)
LONGEST_SLEEP = 1_000_000  # nanoseconds; PTX ISA, nanosleep: at most a millisecond
MOST_CLUSTER_CTAS = 16  # of the largest, non-portable cluster of an H100

INSTRUCTION = np.dtype(
    [
        ("pc", "i8"),  # byte offset in the kernel
        ("text", "i8"),  # index into Code.texts
        ("op", "i8"),  # OpClass
        ("space", "i8"),  # Space
        ("width", "i8"),  # bytes a thread accesses; 0 = no address record. Of BARRIER, ARRIVE and
        # SLEEP, 4 = registers say which one and how long: that is kept as an address is
        ("cache", "i8"),  # CachePolicy
        ("immediate", "i8"),  # barrier number, group count, nanoseconds, bytes of a bulk copy (0 =
        # not known), else what the trace says
        ("destinations", "i8"),  # how many of the ranges below are valid
        ("sources", "i8"),
        ("destination", "i8", (MAX_DESTINATIONS,)),  # first register of each range
        ("destination_count", "i8", (MAX_DESTINATIONS,)),
        ("source", "i8", (MAX_SOURCES,)),
        ("source_count", "i8", (MAX_SOURCES,)),
        # Scheduling control bits; stall is NO_CONTROL where they are not known.
        ("stall", "i8"),  # cycles before the warp may issue again, 0 to 15
        ("yields", "i8"),  # 1 = prefer another warp next
        ("write_barrier", "i8"),  # 0 to 5, falls when the result is written; 7 = none
        ("read_barrier", "i8"),  # 0 to 5, falls when the sources are read; 7 = none
        ("wait_mask", "i8"),  # bit b: wait until barrier b is zero
        # Bit s: keep source operand slot s in the register-file cache; from SLOT_SHIFT on, two
        # bits a source: how many slots behind its number it is, because others are no registers.
        ("reuse", "i8"),
        ("threads", "i8"),  # that a barrier waits for, whole warps; 0 = all of the CTA
        ("constant", "i8"),  # operand in constant memory that is no load's: bank << 16 | byte
        # offset; NO_CONSTANT = there is none, or its place is not known
    ]
)


def blank(n: int = 1) -> np.ndarray:
    """``n`` instruction records with no operands, no memory access and no control bits."""
    records = np.zeros(n, INSTRUCTION)
    records["stall"] = NO_CONTROL
    records["write_barrier"] = records["read_barrier"] = NO_BARRIER
    records["constant"] = NO_CONSTANT
    return records


def constant_place(bank: int, offset: int) -> int:
    """The field ``constant`` of an operand, or NO_CONSTANT where no bank has such a place."""
    if 0 <= bank < CONSTANT_BANKS and 0 <= offset < CONSTANT_BANK:
        return bank * CONSTANT_BANK + offset
    return NO_CONSTANT


def verify(code: np.ndarray, texts: list[str], warp_size: int = WARP_SIZE) -> None:
    """Raise :class:`LockstepError` for the first record that the model could not execute.

    ``warp_size``: threads of the warps that execute it.
    """
    for i, r in enumerate(code):
        problem = _problem(r, len(texts), warp_size)
        if problem:
            text = texts[r["text"]] if 0 <= r["text"] < len(texts) else "?"
            raise LockstepError(f"instruction {i} (pc {r['pc']:#x}, {text}): {problem}")


def _problem(r: np.void, n_texts: int, warp_size: int) -> str:
    if not 0 <= r["text"] < n_texts:
        return f"text index {r['text']} of {n_texts} texts"
    if r["op"] not in OpClass._value2member_map_:
        return f"unknown operation class {r['op']}"
    if r["space"] not in Space._value2member_map_:
        return f"unknown memory space {r['space']}"
    if not (0 <= r["width"] <= 64):
        return f"access width of {r['width']} bytes; expected 0 to 64"
    if r["pc"] < 0:
        return "negative pc"
    for kind, limit in (("destination", MAX_DESTINATIONS), ("source", MAX_SOURCES)):
        count = r[kind + "s"]
        if not 0 <= count <= limit:
            return f"{count} {kind}s; expected 0 to {limit}"
        for j in range(count):
            first, width = r[kind][j], r[kind + "_count"][j]
            if width < 1 or first < 0 or first + width > REGISTER_COUNT:
                return f"{kind} {j} is registers {first} to {first + width - 1}"
    if not NO_CONTROL <= r["stall"] <= 15:
        return f"stall count {r['stall']}; expected -1 (unknown) to 15"
    for name in ("write_barrier", "read_barrier"):
        if r[name] != NO_BARRIER and not 0 <= r[name] <= 5:
            return f"{name} {r[name]}; expected 0 to 5, or 7 for none"
    if not 0 <= r["wait_mask"] < 64:
        return f"wait mask {r['wait_mask']:#x}; expected 6 bits"
    if not NO_CONSTANT <= r["constant"] < CONSTANT_BANKS * CONSTANT_BANK:
        return f"constant {r['constant']:#x}; expected -1, or bank << 16 | offset"
    return thread_count_problem(int(r["threads"]), warp_size)


def thread_count_problem(threads: int, warp_size: int = WARP_SIZE) -> str:
    """What is wrong with the thread count of a barrier, or nothing."""
    if 0 <= threads <= MOST_THREADS and threads % warp_size == 0:
        return ""
    return f"a barrier of {threads} threads; expected a multiple of {warp_size} to {MOST_THREADS}"
