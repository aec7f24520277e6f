"""What the engine hands over when a run ends: raw counters and events, no formulas."""

import math
from collections.abc import Iterable
from typing import NamedTuple

import msgspec
import numpy as np
from msgspec.structs import asdict

from lockstep.engine.attributed import InstructionCounts, thawed
from lockstep.engine.host.record import HostRun
from lockstep.model.counters import MODULE_COUNTERS, PARTITION_COUNTERS, SM_COUNTERS
from lockstep.names import demangled

CTA_EVENT = np.dtype(
    [("kernel", "i8"), ("cta", "i8"), ("sm", "i8"), ("start", "i8"), ("end", "i8")]
)
"""One finished CTA: ``kernel`` indexes Run.kernels, ``cta`` is the linear block id."""

SAMPLE = np.dtype([("cycle", "i8"), ("sm", SM_COUNTERS), ("partition", PARTITION_COUNTERS)])
"""Counters at a cycle, summed over SMs and partitions, cumulative over the whole run."""


class RankWork(NamedTuple):
    """What one of several machines of a GPU did."""

    host: str
    sms: int  # that it ran
    partitions: int
    worked: float = 0.0  # seconds between exchanges
    busy: float = 0.0  # CPU seconds of these, in the thread that came last to the exchange
    waited: float = 0.0  # seconds of exchanges: for others, and for the way there
    exchanges: int = 0
    words: int = 0  # of 8 bytes, that it sent in them


class LeftOut(NamedTuple):
    """CTAs in a row that did not run; their accesses passed through the L2 alone."""

    ctas: int
    warp_instructions: int
    sectors: int  # that they would have moved between the L2 and the memory


class Ended(NamedTuple):
    """A CTA that has ended, for stop rules."""

    start: int
    end: int
    lasted: int  # cycles from its start to the end of each of its warps, all together


def _nothing_of_modules() -> np.ndarray:
    return np.zeros(0, MODULE_COUNTERS)


class KernelRun(msgspec.Struct):
    """One kernel of a run. Cycles are absolute core cycles of the run."""

    id: int
    name: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    stream: int
    registers: int
    shared_bytes: int
    architecture: int
    dependence: str  # "scoreboard", "control" or "counters"
    ctas_per_sm: int  # that fit
    limiter: str  # what limits them: "warps", "registers", "shared memory", "CTAs"
    launched: int  # the launch began
    start: int  # the first CTA was dispatched
    end: int  # the last CTA finished
    running: int  # cycles in which any kernel had a CTA, while the counters below were counted
    warp_instructions: int
    thread_instructions: int
    sm: np.ndarray  # SM_COUNTERS, one an SM: what the kernel added (GPU-wide while it ran)
    partition: np.ndarray  # PARTITION_COUNTERS, one a memory partition
    modules: np.ndarray = msgspec.field(default_factory=_nothing_of_modules)  # MODULE_COUNTERS
    unknown: dict[str, int] = {}  # opcode -> warp instructions
    complete: bool = True
    first_cta: int = 0  # those before it did not run
    ctas_done: int = 0  # that have ended
    left_out: list["LeftOut"] = []  # by a rule, in the order of CTAs
    stopped: str = ""  # why a rule ended it, before all CTAs had; "" = none did
    limits: dict[str, int] = {}  # CTAs that fit, by what limits them
    source: InstructionCounts | None = None  # what its instructions did, where that was asked for
    forced: int = 0  # times that lanes went on without others that could not come
    launched_by: int = 0  # the id of the kernel that launched it; 0 = the host did

    @property
    def title(self) -> str:
        """Its name in C++; ``name`` is the one that linkers see."""
        return demangled(self.name)

    @property
    def ctas(self) -> int:
        """How many its grid has."""
        return math.prod(self.grid)

    @property
    def skipped(self) -> int:
        """CTAs that a rule left out."""
        return sum(each.ctas for each in self.left_out)

    @property
    def cycles(self) -> int:
        """Core cycles from launch to the end of the last CTA, launch overhead included."""
        return self.end - self.launched


_COUNTERS = ("sm", "partition", "modules")


def frozen_kernels(kernels: list[KernelRun]) -> dict:
    """Kernels as plain values, and their counters in two arrays, one behind the other."""
    plain = [{k: v for k, v in asdict(run).items() if k not in _COUNTERS} for run in kernels]
    counters = {name: [getattr(k, name) for k in kernels] for name in _COUNTERS}
    return {"plain": plain} | {name: np.stack(c) if c else None for name, c in counters.items()}


def thawed_kernels(frozen: dict, first: int, end: int) -> list[KernelRun]:
    """Some of the kernels that were frozen."""
    kernels = []
    for k in range(first, end):
        plain = dict(frozen["plain"][k])
        plain |= {name: tuple(plain[name]) for name in ("grid", "block")}
        plain |= {name: frozen[name][k] for name in _COUNTERS}
        plain["source"] = thawed(plain["source"])
        kernels.append(KernelRun(**plain))
    return kernels


class Run(msgspec.Struct):
    """A finished or interrupted simulation."""

    kernels: list[KernelRun]
    cycles: int  # of the whole run, from the first launch to the end of the last kernel
    running: int  # of these cycles, those in which a kernel had a CTA
    sm: np.ndarray  # SM_COUNTERS, one an SM, of the whole run: what kernels share counts once
    partition: np.ndarray  # PARTITION_COUNTERS, one a memory partition
    samples: np.ndarray  # SAMPLE, one an interval; empty without an interval
    cta_events: np.ndarray  # CTA_EVENT; empty unless asked for
    copies: list[tuple[int, int]]  # (address, bytes) of host-to-device copies
    threads: int
    read_seconds: float  # in the front end, compilation excluded
    simulate_seconds: float  # everything else, compilation excluded
    compile_seconds: float
    policies: dict[str, dict] = {}  # the user's, as they are recorded
    host: HostRun | None = None  # where the host takes time
    stopped: str = ""  # why the run ended early; several lines for a deadlock; "" = it did not
    ranks: list[RankWork] = []  # of several
    modules: np.ndarray = msgspec.field(default_factory=_nothing_of_modules)  # MODULE_COUNTERS
    module_samples: np.ndarray = msgspec.field(default_factory=lambda: stacked([]))  # a row each


def stacked(samples: list[np.ndarray]) -> np.ndarray:
    """MODULE_COUNTERS of several samples: a row a sample, a column a module."""
    return np.stack(samples) if samples else np.zeros((0, 0), MODULE_COUNTERS)


def totals(records: np.ndarray) -> np.void:
    """One record with the sum of each counter over all shards."""
    flat = records.view(np.ndarray).view(np.int64).reshape(len(records), -1)
    return flat.sum(axis=0).view(records.dtype)[0]


def covered(spans: Iterable[tuple[int, int]]) -> int:
    """Cycles that lie in at least one of the spans (first cycle, end)."""
    cycles, reached = 0, 0
    for start, end in sorted(spans):
        cycles += max(0, end - max(start, reached))
        reached = max(reached, end)
    return cycles
