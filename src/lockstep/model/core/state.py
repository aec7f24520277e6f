"""State of the SMs: one record a thing, flat arrays, sizes in values.

Cycle numbers are absolute core cycles. ``NEVER`` is later than any. An entry of ``Sm.ready`` is a
cycle shifted left by two, or-ed with what produces the register (``FIXED``, ``LONG``, ``SHORT``),
so that the latest operand also says why a warp waits.
"""

import numpy as np

from lockstep._jit import Context, Records
from lockstep.model.cache.l1_state import L1State
from lockstep.model.cache.line_misses import LineMisses
from lockstep.model.cache.tags import Tags
from lockstep.model.coherence.l1_state import CoherentL1
from lockstep.model.control import Control
from lockstep.model.core.attribution import Attribution
from lockstep.model.core.paging import Paging
from lockstep.model.core.release_state import Releases
from lockstep.model.core.vmu_state import AccessQueue
from lockstep.model.modules.pages import Owners
from lockstep.model.modules.state import Gate
from lockstep.model.records import ints, words
from lockstep.model.witness import Witness

FIXED, LONG, SHORT = 0, 1, 2
MAX_CHECKS = 12  # operand ranges of an instruction: MAX_DESTINATIONS + MAX_SOURCES
MAX_READS = 8  # vector registers read through the ports, at most
SLOT_PLACE, OFFSET_PLACE = 24, 28  # of a read: slot, and which register of its operand it is
BANK_BITS, WRITE_BITS = 6, 16  # of a register bank; of a bank and how many registers it gets
# Banks that a result goes to, at most: what fits into a word, and more than the two banks of every
# built-in GPU with ports. Of more banks, the others are not found busy.
MAX_WRITES = 3
RESULTS = 16  # of variable latency that a sub-core keeps in mind until they are written
DEPENDENCE_BARRIERS = 6
GROUPS = 8  # groups of asynchronous copies in flight a warp
THOUSAND = 1000  # in which CTAs and warps are started: parts of a cycle
SUBCYCLES = 16  # ports of another clock keep time in sixteenths of a core cycle


SPEC = np.dtype(
    words(
        "sms", "subcores", "warps", "warp_size", "ctas", "registers",
        "barrier_latency", "barrier_interval", "named_barrier_latency", "exit_waits", "drain",
        "fence_latency", "fence_interval", "local_fence_waits", "policy", "issue_width",
        "line_bytes", "stream_buffer", "l1i_latency", "l2i_latency", "fill_interval", "divergence",
        "collectors_style", "banks", "window", "collectors", "reuse_cache", "slots",
        "queue", "address_interval", "wide_address_interval", "accept_interval", "whole_lines",
        "accesses",
        "lines",  # of an access, at most
        "shared_banks", "shared_bank_bytes",
        "bank_mask", "bank_shift",  # of powers of two, else -1: divisions take long
        "pass_lanes", "shared_cycles", "shared_pass",
        "wide_passes", "remote_cycles", "remote_interval", "lone_cluster_latency",
        "bulk_load_interval", "bulk_store_interval", "bulk_lines",
        "bulk_groups", "sleep_overhead", "shortest_sleep",
        "constant_line", "constant_latency", "constant_miss",
        "operand_miss", "operand_hold", "first_constants",
        "texture_cycles",
        "port_step",  # core cycles a flit takes at the SM's crossbar ports, in SUBCYCLES
        "reply_header",  # ... that the header of a reply with data takes there
        "atomic_sector", "atomic_word",  # ... that a sector, a lane on a word takes on its way out
        "atomic_result",  # ... that the result of a lane on a word takes
        "fill_cycles",  # reply taken from the port until a dependent instruction may issue
        "nack_retry", "nack_spread", "slices_per_channel",
        "overtakes",  # 1: a request whose partition gives no credit holds up no others
        "warp_interval",  # thousandths of a cycle
        "fetch_bytes",
        "line_pieces",  # of fetch_bytes, in a line of the instruction cache; 1 = it is by line
        "branch_latency", "lds_slack", "lds_latency", "vector_memory_buffer", "waitcnt_zero",
        "attributes",  # 1: events are counted by instruction, too: ``attribution.py``
        "ideal_coalescing", "ideal_banks", "ideal_local",  # limits that are lifted: ``GPU.ideal``
    )
)  # fmt: skip

ISSUE = np.dtype(
    words(
        "pc",
        "line",  # of the instruction cache; of a CU, the piece of one that its last byte is in
        "ahead",  # line that the fetch of the instruction buffer is in when this one issues, or -1
        "awaits",  # if all else is there: unit + 1, instances and slack above it; 0 = more
        "writes", "immediate",
    )
    + ints("u4", "check", MAX_CHECKS) + ints("u4", "read", MAX_READS)
    + ints(
        "i4",
        "latency", "interval",
        "slack",  # cycles that it may wait for its unit after it has been issued
        "constant",  # operand in constant memory, as in INSTRUCTION; -1 = none, or always there
        "span",  # bytes from this instruction to the one behind it, at most
        "redirect",  # cycles that a branch takes to go on elsewhere
        "arrivals",  # warps that a barrier waits for; 0 = all of the CTA
        "stall", "more_writes",
    )
    + ints(
        "i2",
        "unit",
        "instances",  # of its unit that execute it: the first ones
        "passes",  # over shared memory where others take one
        "width", "cache", "reuse",
    )
    + ints(
        "u1",
        "op", "result", "branch", "space", "destinations", "checks", "reads",
        "parameters",  # reads bank 0: AT_ISSUE, or its result comes LATE, if not 0
        "memory",  # goes through the memory pipeline if any lane is active
        "together",  # lanes at one word share a pass, also of an atomic operation
        "rows",  # lanes of which shared memory has addresses, at most
        "yields", "write_barrier", "read_barrier", "wait_mask",
        "kind",  # of a CU: which of its units takes it, see ``kinds.py``
    )
)  # fmt: skip
"""A static instruction as one GPU executes it. ``check``: first register + count << 16, the
destinations first; ``read``: vector registers read, each with its bank << 16, the slot by which it
is kept << SLOT_PLACE and its number in its operand << OFFSET_PLACE; ``writes``: for each bank that
gets results WRITE_BITS, the bank and from BANK_BITS on the number of its registers;
``more_writes``: cycles that these take beyond the first; ``result``: FIXED, LONG or SHORT;
``immediate``: of a fence beyond the CTA, the cycles that it takes at least, of a product of a
warpgroup, the registers of a lane that it reads while it runs; ``cache``: CachePolicy,
and above ``release_state.PLACE`` what it waits for and does under scopes."""

WRITE_PORT = np.dtype(words("taken", "since"))
"""A register bank's write port: bit k of ``taken``: it writes in cycle ``since`` + k."""

RESULT = np.dtype(words("cycle", "first", "writes", "owner"))
"""A result of variable latency under way: the cycles of its last and first write if it meets no
other, where it goes as in ISSUE, and whose it is (``write_ports.owner_of``)."""

KERNEL = np.dtype(
    words(
        "active", "code", "control", "warps", "shared_base", "local_base",
        "fetch_base", "register_rows",
        "cluster",  # CTAs of a cluster
        "constant_base",  # where its constants begin among those of all launches
        "source", "source_context",  # addresses of what executes it at issue; 0 = nobody does
        "ring",  # address records of a warp, if it is executed at issue
    )
)  # fmt: skip
"""A kernel slot. ``code``: where its ISSUE records begin."""

SM_STATE = np.dtype(
    words(
        "memory_next", "age", "resident_ctas", "resident_warps",
        "last_start",  # of a CTA
        "accounted", "inject_free", "fill_free",
        "accept_free", "arbiter",
        "current",  # access in the L1 / shared stage, or -1
        "position", "transactions",  # next and number of its transactions
        "free_access",
        "blocked", "l1_ready",
        "began",  # cycle in which the access came to the L1 stage
        "words_free",  # cycle from which words may be read over the L1's banks
        "queue_blocked",  # 1: the L1 stage waits for room in the miss queue
        "line_blocked",  # 1: it waits for a way of a set whose ways all wait for fills
        "no_credit",  # cycle at which the L1 stage, a request could not go on, or -1
        "bulk_first", "bulk_last",  # accesses whose bulk copies are being sent, or -1
        "bulk_ready",  # when the next line may be sent, in SUBCYCLES
        "barrier_free",  # cycle from which the barrier unit takes the next arrival
        "fence_free",  # cycle from which the next fence beyond the CTA may begin
        "start_free",  # from when on the next warp may start, in thousandths of a cycle
    )
)  # fmt: skip

SUBCORE = np.dtype(
    words(
        "next", "accounted",
        "awaiting", "awaited",  # bit k: the warp at place k of the order awaits this; see LOOK
        "free",  # since when it is there, or until when it is not
        "hold_until",
        "product_since", "product_until",  # cycles in which products of warpgroups run
        "constant_until",  # nothing issues before this cycle, because of a constant operand
        "result_next", "result_head",  # the ring of results under way
        "address_free",
        "pass_free",  # cycle from which shared memory takes its next access
        "stream_line",
        "filled",  # cycle at which the line comes that was asked for last
    )
    + ints(
        "i4",
        "why",
        "why_not",  # the reason why what is awaited is not free
        "last", "count",
        "turn",  # warp that issued last, also if it has yielded
        "queue_head", "queue_count", "result_count", "room_wanted", "stream_count",
        "product_interval",  # cycles of the last product
        "product_reads",  # registers of a lane that it reads meanwhile
    )
)  # fmt: skip
"""``next``: earliest cycle at which a warp may issue; ``count`` warps in ``Sm.order``."""

LOOK = np.dtype(words("wake", "awaits") + ints("i4", "reason", "place"))
"""What a scheduler looks at of every warp in every cycle. ``wake``: cycle at which to look further;
``reason``: why it did not issue when that was last done; ``awaits``: as in ISSUE, of an instruction
that waits for its unit or for the register ports, and for nothing else; 0 = look at all of it;
``place``: its place in ``Sm.order``, -1 = it has ended."""

WARP_STATE = np.dtype(
    # A cache line of the host that each issue looks at,
    words(
        "mask",
        "line",  # instruction cache line of the last instruction, or -1
        "ahead",  # line asked for ahead of issue, or -1
        "stall_until", "issued", "last_issue",
    )
    + ints("i4", "static", "left")
    + ints("i2", "kernel", "cta")
    + ints("i1", "barrier", "cleared", "lanes")
    + ints("u1", "op")  # of the instruction that was looked at last
    # one of accesses, runs and lines,
    + words(
        "run", "run_end", "address", "accessed",
        "ahead_ready",  # when the line that was asked for ahead is in the L0
        "age",
        "product", "products_before",  # when products of a warpgroup are there: all, older groups'
    )
    # one of control bits,
    + ints("i8", "clear", DEPENDENCE_BARRIERS) + ints("i2", "pending", DEPENDENCE_BARRIERS)
    + ints("i1", "comes", "active") + ints("u1", "index", "far")
    # and what is rare.
    + words("fenced")  # cycle at which the fence it is at was reached, or -1
    + ints(
        "i4",
        "outstanding", "arrived", "group",
        "object", "copies",  # at a barrier object: its number, copies that must have completed it
        "stores",
    )
    + ints("i4", "groups", GROUPS) + ints("i8", "landed", GROUPS)
)  # fmt: skip
"""``left``: instructions of the run, 0 = the next is not known, -1 = begins a block that the front
end has yet to execute; ``lanes``: active in ``mask``; ``cleared``: CLEARED = the next instruction
was fetched and its operands are there, which nothing but its issue can change, UNREAD = so it is,
but its constant operand is still to be looked up; ``barrier``: named barrier waited at, or -1;
``arrived``: bit b: is counted at barrier b; ``comes``: barrier at which all its lanes wait after
the block that the front end has executed, or -1; ``outstanding``: memory operations of the warp
that have not ended; ``stores``: those among them that are stores; ``accessed``: when the last of
those that have ended is there; ``pending`` and ``clear``: dependence barriers with unknown and
known ends; ``far``: bit b: of barrier b, an access to other than shared memory is among them;
``groups`` and ``landed``: asynchronous copies under way, and when the last that has ended is
there."""

CLEARED, UNREAD = 1, 2
AT_ISSUE, LATE = 1, 2
UNIT_BITS, SLACK_PLACE = 16, 32  # of what an instruction awaits: slack above instances above unit

WAIT_COUNTERS, WAIT_RING = 3, 32
WAIT_LINES = 2  # that a scalar load touches, at most
WAITS = np.dtype(
    ints("i8", "ends", WAIT_COUNTERS * WAIT_RING)
    + ints("i8", "issued", WAIT_COUNTERS)
    + ints("i8", "awaits", WAIT_RING)
    + ints("i8", "lines", WAIT_LINES * WAIT_RING)
    + words("flying", "acknowledged", "lines_awaited")
)
"""The wait counters of a CU's wavefront. ``issued``: instructions that have raised each counter;
``ends``: when those ended, the last WAIT_RING of each, or NEVER; ``awaits``: of a store that has
been sent, how many acknowledgements the wavefront has got when its own are among them, 0 = it is
none; ``flying``: accesses that are not yet sent or here; ``acknowledged``: parts of stores;
``lines``: of the scalar load at each place, the lines that are on their way, plus one, 0 = none;
``lines_awaited``: how many in all."""

CU_STATE = np.dtype(
    words(
        "lds_free",  # cycle from which the LDS takes its next instruction
        "leader",  # the CU with whose number the caches are kept that neighbours share
        "buffered",
        "accounted",  # instructions in the vector memory buffer; until when counted
        "entry_wanted",  # 1: a wavefront waits until it can ask for one more line
        "no_credit",  # cycle at which a request for a line could not go on, or -1
        "answer_free",  # cycle from which an answer of the coherence protocol can leave
    )
)
"""What only a compute unit has."""

CTA_STATE = np.dtype(
    words(
        "active", "kernel", "cta", "warps", "finished", "outstanding", "written", "started",
        "lasted",  # cycles from then on of its warps that have ended, all together
        "runs", "addresses", "pool", "thread_base", "place",
        "cluster", "rank",  # row of its cluster, -1 = it is alone; its rank there
        "told",  # message ARRIVED of it in this window, from 1 on; 0 = none yet
        "came", "last_came",  # warps at the barrier of the cluster, and when the last one came
        "opens",  # cycle at which that barrier opened last
    )
)  # fmt: skip
"""``outstanding``: memory operations of all its warps that have not ended; ``written``: those among
them that are stores on their way; ``place``: what the front end calls it, if it is executed at
issue."""

BARRIER = np.dtype(words("arrived", "expected"))
"""A named barrier: warps that arrived, and how many open it; 0 = all unfinished ones."""

ACCESS = np.dtype(
    words("mask", "address", "ready_at", "latest")
    + ints("i4", "code", "remaining", "next")
    + ints(
        "i4",
        "lane", "sent",  # of a bulk copy: the active lane and how many of its bytes
    )
    + ints("i2", "warp", "group")
    + ints("i1", "space", "lanes")
    + ints("i2", "passes")  # over the L1's banks, to read the words of a load; 0: that is not told
    + ints("i4", "place")  # of a CU's instruction in the ring of its wait counter
)  # fmt: skip
"""A memory instruction in flight. ``remaining``: sectors not yet here, plus one while it is in
the pipeline; ``latest``: when its last hit returns; ``code`` and ``address`` are relative to the
kernel's code and the CTA's addresses, because arenas move."""

TRANSACTION = np.dtype(
    words(
        "line", "sectors",
        "full",  # sectors that are written in every byte
        "turn",  # how many before it have the same tag bank
        "nth",  # which transaction goes into the L1 as the one of this index; by turns
    )
    + [("cover", "i8", (8,))]
)  # fmt: skip
"""One line of the access in the L1 stage. ``turn`` and ``nth``: only where there are tag banks."""

DONE = np.dtype(words("kind", "index", "cycle"))
"""An event inside the SM that is dealt with at one place, at the end of the memory cycle."""
DONE_ACCESS = 0  # all data of an access is there at ``cycle``
DONE_ACKNOWLEDGED = 1  # a store reached the L2; ``index``: of whom, as in ``stores.writer_of``
DONE_WARP = 2  # a warp of CTA slot ``index`` has finished

CANDIDATE = np.dtype(words("ready", "age", "slot", "cta", "op", "issued", "last_issue", "reason"))
"""What a user's warp scheduler sees of a warp."""


class Policies(Context):
    """Functions of the user, called through their addresses, or their stand-ins."""

    scheduler: object
    l1_victim: object
    l1_prefetcher: object
    slice_hash: object


class Sm(Context):
    """All SMs. First index: the SM, unless said otherwise."""

    spec: Records
    sms: Records  # SM_STATE
    subcores: Records  # SUBCORE, sms x subcores
    warps: Records  # WARP_STATE, sms x warps; slot w belongs to sub-core w % subcores
    looks: Records  # LOOK, sms x warps
    order: np.ndarray  # sms x subcores x warps: slots of a sub-core, oldest first
    ready: np.ndarray  # sms x warps x registers
    fetches: np.ndarray  # of CUs, sms x subcores: the next cycle at which a SIMD may fetch
    lines: LineMisses  # of CUs: what the caches of constants and instructions ask the L2 for
    waits: Records  # WAITS, sms x warps; of SMs none
    cus: Records  # CU_STATE, sms; of SMs none
    ctas: Records  # CTA_STATE, sms x CTA slots
    barriers: Records  # BARRIER, sms x CTA slots x NAMED_BARRIERS
    objects: np.ndarray  # sms x CTA slots x OBJECTS: copies that completed barrier objects
    units: np.ndarray  # sms x (subcores + 1) x instances: busy until; last row: SM-wide units
    unit_table: np.ndarray  # kinds of units x 2: first instance, 1 if SM-wide
    register_ports: np.ndarray  # sms x subcores x (banks + collectors): busy until
    write_ports: Records  # WRITE_PORT, sms x subcores x banks
    results: Records  # RESULT, sms x subcores x RESULTS: a ring, by cycle
    reuse: np.ndarray  # sms x subcores x 4: register-file cache: warp << 16 | register, or -1
    l0i: Tags  # line caches of instructions, of the sub-cores: sms * subcores
    l1i: Tags  # ... of instructions and constants: sms
    constants: Tags  # ... of constants that are loaded: sms
    operand_constants: Tags  # ... of those that are operands: sms * subcores
    parameters: np.ndarray  # sms x kernel slots: from when on bank 0 is there
    streams: np.ndarray  # sms x subcores x stream buffer: arrival of prefetched lines
    accesses: Records  # ACCESS, sms x accesses
    queues: np.ndarray  # sms x subcores x queue: accesses waiting
    # sms x accesses x words: where the lanes' bulk copies begin, or the tile of one
    bulk_places: np.ndarray
    transactions: Records  # TRANSACTION, sms x (lines of an access + 1)
    scratch: np.ndarray  # sms x (1 + lanes of a pass) * banks: bank conflict search
    done: Records  # DONE, sms x room
    n_done: np.ndarray  # sms
    left: np.ndarray  # sms x kernel slots: stores on their way of CTAs that have ended
    candidates: Records  # CANDIDATE, sms x subcores x warps, flat
    kernels: Records  # KERNEL, slots
    code: Records  # ISSUE, arena
    warp_streams: Records  # workload.WARP, arena
    runs: Records  # workload.RUN, arena
    addresses: Records  # workload.ADDRESS, arena
    pool: np.ndarray  # int64, arena
    step: Records  # workload.STEP, one: what is asked of a kernel's source, and its answer
    step_runs: Records  # workload.RUN, STEP_RUNS
    step_addresses: Records  # workload.ADDRESS, one
    step_pool: np.ndarray  # int64, threads of a warp
    vmu: AccessQueue
    l1: L1State
    coherent: CoherentL1
    slices: Owners  # address -> L2 slice
    gate: Gate  # to partitions of other modules
    policies: Policies
    control: Control  # what the CTA scheduler says, and is told
    paging: Paging  # pages that are not here
    releases: Releases  # stores, as far as releases look at them
    counters: Records  # SM_COUNTERS
    attribution: Attribution
    witness: Witness
