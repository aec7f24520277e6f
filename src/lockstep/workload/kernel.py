"""A kernel launch: its geometry, its needs, its code and its CTAs; and how large it can be."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from lockstep import notebook
from lockstep.isa.instruction import WARP_SIZE
from lockstep.names import demangled
from lockstep.workload.at_issue import Source
from lockstep.workload.code import Code
from lockstep.workload.streams import Cta

# x, y, z; CUDA C++ Programming Guide, technical specifications per compute capability
MOST_GRID = (2**31 - 1, 65535, 65535)  # CTAs
MOST_BLOCK = (1024, 1024, 64)  # threads; MOST_THREADS together
MOST_REGISTERS = 256  # of a thread
MOST_SHARED_BYTES = (1 << 31) - 1  # of a CTA; no GPU has as much
NEWEST_ARCHITECTURE = 999  # SASS version, of GPUs to come


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
