"""What a running launch consists of: machine, CTAs, threads, frames."""

from dataclasses import dataclass, field

from ptx_twin.memory import Memory

# Where the other state spaces lie in the generic address space.
WINDOWS = {"shared": 0x7000_0000_0000, "local": 0x6000_0000_0000, "param": 0x5000_0000_0000}
WINDOW_SIZE = 1 << 40
FUNCTION_BASE = 0x1000  # the address of the first function


@dataclass
class Frame:
    """One activation of a function."""

    function: object
    call: object = None  # the Call that made it
    pc: int = 0
    registers: dict = field(default_factory=dict)
    addresses: dict = field(default_factory=dict)  # variable: (space, address)
    carry: int = 0
    mark: tuple = ()  # where the thread's local and parameter memory ended before it


@dataclass(eq=False)
class Thread:
    """One thread; ``waiting`` says what for, None if it can run."""

    cta: object
    index: tuple  # %tid
    number: int  # within the CTA
    local: Memory = field(default_factory=lambda: Memory(16))
    param: Memory = field(default_factory=lambda: Memory(16))
    frames: list = field(default_factory=list)
    waiting: object = None
    came: int = 0  # how often it has arrived at the barrier of its cluster
    steps: int = 0

    @property
    def frame(self):
        return self.frames[-1]

    @property
    def lane(self):
        return self.number % 32

    @property
    def machine(self):
        return self.cta.machine

    @property
    def exited(self):
        return not self.frames


@dataclass(eq=False)
class Cta:
    """One CTA: its threads, shared memory and barriers."""

    machine: object
    index: tuple
    shared: Memory
    rank: int = 0  # in its cluster
    symbols: dict = field(default_factory=dict)  # shared variable: address
    dynamic_bytes: int = 0
    threads: list = field(default_factory=list)
    barriers: dict = field(default_factory=dict)  # number: [(thread, action), ...]
    transactions: dict = field(default_factory=dict)  # address: mbarrier

    def warp_of(self, thread):
        first = thread.number // 32 * 32
        return self.threads[first : first + 32]


@dataclass(eq=False)
class Machine:
    """A launch of one kernel."""

    module: object
    grid: tuple
    block: tuple
    memory: Memory
    symbols: dict = field(default_factory=dict)  # global and const variable: address
    cluster: tuple = (1, 1, 1)
    output: list = field(default_factory=list)  # what was printed
    ctas: list = field(default_factory=list)
    clusters: dict = field(default_factory=dict)  # CTAs by rank, by the cluster's index
    clock: int = 0

    def function_address(self, name):
        return FUNCTION_BASE + 16 * list(self.module.functions).index(name)

    def function_at(self, address):
        return list(self.module.functions.values())[(address - FUNCTION_BASE) // 16]


@dataclass
class Gathering:
    """A thread waits at a warp-wide instruction for the threads of ``members``.

    ``members`` None: for all of its warp that can still come.
    """

    instruction: object
    place: tuple
    members: int | None
