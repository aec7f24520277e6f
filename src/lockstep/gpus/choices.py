"""The names that parameters of a GPU choose from: each list stands here and nowhere else.

The specification refers to these types, so that error messages and the documentation have them from
here; the model takes the numbers by which it knows a name from :func:`numbered`.
"""

from collections.abc import Mapping
from typing import Any, Literal, get_args

Core = Literal["sm", "cu"]
WarpSize = Literal[32, 64]
RequestJoin = Literal["none", "coalesce", "merge", "both"]
AccessOrder = Literal["line", "multi2sim"]
VmuPhases = Literal[1, 4]
WaitCount = Literal["counts", "zero"]
UnitScope = Literal["subcore", "sm"]
WarpScheduler = Literal["gto", "lrr", "gty", "oldest", "grr"]
Dependence = Literal["auto", "scoreboard", "control"]
OperandStyle = Literal["ports", "collectors"]
Coalescer = Literal["sector", "line"]
Allocation = Literal["fill", "miss"]
Replacement = Literal["lru", "fifo", "nru", "random"]
IndexHash = Literal["linear", "xor", "ipoly"]
L1Protocol = Literal["write_through", "write_evict"]
L1Prefetcher = Literal["none", "stride"]
L2Prefetcher = Literal["none", "stream"]
PrefetchDegree = Literal[1, 2, 4, 8]
StreamWindow = Literal[8, 16, 32]
FullMshr = Literal["stall", "nack"]
L2Protocol = Literal["write_validate", "write_fetch"]
RequestOrder = Literal["sm", "partition"]
SideReads = Literal["home", "near"]
SideWrites = Literal["home", "both"]
DramScheduler = Literal["frfcfs", "fcfs", "bank_round_robin", "fixed"]
Page = Literal["open", "closed"]
BankHash = Literal["linear", "xor"]
CoherenceProtocol = Literal["none", "nmoesi", "si", "vi"]
L2AtLaunch = Literal["kept", "flush", "replay"]
Copies = Literal["instant", "timed"]
MemorySpace = Literal["discrete", "coherent", "migrating"]
Migration = Literal["first_touch", "access_counters"]
FabricTopology = Literal["nvlink", "pcie", "nvswitch"]
Topology = Literal["ring", "mesh", "full"]
CtaPlacement = Literal["round_robin", "contiguous"]
PagePlacement = Literal["interleaved", "first_touch"]


def numbered(choice: Any, constants: Mapping[str, Any]) -> dict[str, int]:
    """The number of each name: that of the constant with this name in capitals.

    ``constants`` are those of a module. Raises ``KeyError`` on import where one is missing.
    """
    return {name: constants[name.upper()] for name in get_args(choice)}
