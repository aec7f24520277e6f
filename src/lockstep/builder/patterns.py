"""Address patterns of hand-written kernels: functions of where an instruction executes.

A pattern is any callable that takes a :class:`Site` and returns byte addresses that broadcast to
(warps, executions, lanes). Those here cover the usual cases; a lambda covers the rest::

    address = lambda at: 0x7F0000000000 + 4 * (at.global_thread * 3 + at.i)

A mask is made the same way, from booleans, or is an integer whose bit k stands for lane k.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from lockstep.isa.instruction import WARP_SIZE

BANKS = 32
BANK_BYTES = 4

Pattern = Callable[["Site"], np.ndarray]
Mask = int | Callable[["Site"], np.ndarray]


@dataclass(frozen=True, slots=True)
class Site:
    """Where and when one instruction executes: integers, and int64 arrays that broadcast.

    The axes are warps of the CTA, executions of the instruction by a warp, lanes.
    """

    cta: int  # linear index in the grid, x fastest
    block: tuple[int, int, int]  # block index x, y, z
    threads: int  # in a CTA
    warp: np.ndarray  # (warps, 1, 1)
    loops: tuple[np.ndarray, ...]  # iteration of each loop around, outermost first: (1, n, 1)
    execution: np.ndarray  # (1, n, 1) counts the instruction's executions by a warp
    warp_size: int = WARP_SIZE  # lanes of a warp

    @property
    def lane(self) -> np.ndarray:
        """Lane of the warp, from 0 on."""
        return np.arange(self.warp_size, dtype=np.int64).reshape(1, 1, -1)

    @property
    def thread(self) -> np.ndarray:
        """Linear thread index in the CTA."""
        return self.warp * self.warp_size + self.lane

    @property
    def global_thread(self) -> np.ndarray:
        """Linear thread index in the grid."""
        return self.cta * self.threads + self.thread

    @property
    def i(self) -> np.ndarray:
        """Iteration of the innermost loop around; 0 outside of loops."""
        return self.loops[-1] if self.loops else np.zeros_like(self.execution)


def coalesced(base: int, size: int = 4, step: int = 0) -> Pattern:
    """Thread t of the grid accesses element t of ``size`` bytes; ``step`` bytes on an iteration."""
    return lambda at: base + size * at.global_thread + step * at.i


def strided(base: int, stride: int, step: int = 0) -> Pattern:
    """Neighbouring threads are ``stride`` bytes apart; ``step`` bytes on an iteration."""
    return coalesced(base, stride, step)


def broadcast(base: int, step: int = 0) -> Pattern:
    """All lanes of all warps access one address; ``step`` bytes on an iteration."""
    return lambda at: base + step * at.i + 0 * at.thread


def random(base: int, span: int, size: int = 4, seed: int = 0) -> Pattern:
    """Each access is to a random multiple of ``size`` in ``span`` bytes from ``base`` on.

    The same place in the grid gets the same address whatever the order of evaluation.
    """
    elements = np.uint64(span // size)

    def addresses(at: Site) -> np.ndarray:
        place = np.uint64(seed) + _mix(at.global_thread.astype(np.uint64))
        drawn = _mix(place + at.execution.astype(np.uint64)) % elements
        return base + size * drawn.astype(np.int64)

    return addresses


def pointer_chase(addresses: Sequence[int]) -> Pattern:
    """Execution n accesses the n-th address of the list, over and over, in all active lanes."""
    chain = np.asarray(addresses, np.int64)
    return lambda at: chain[at.execution % len(chain)] + 0 * at.thread


def bank_conflict(ways: int, base: int = 0) -> Pattern:
    """Shared-memory offsets of which ``ways`` lanes at a time (1 to all) fall into one bank."""
    row = BANKS * BANK_BYTES
    return lambda at: base + at.lane // ways * BANK_BYTES + at.lane % ways * row + 0 * at.warp


def tile(
    base: int, pitch: int, width: int = 32, size: int = 4, block_step: tuple[int, int] = (0, 0)
) -> Pattern:
    """Threads of a CTA cover a 2-D tile, ``width`` to a row; rows are ``pitch`` bytes apart.

    ``block_step`` is by how many bytes the tile moves with the block's x and y.
    """

    def addresses(at: Site) -> np.ndarray:
        origin = base + at.block[0] * block_step[0] + at.block[1] * block_step[1]
        return origin + at.thread // width * pitch + at.thread % width * size

    return addresses


def below(threads: int) -> Mask:
    """The mask of a grid's tail: threads of the grid from ``threads`` on are off."""
    return lambda at: at.global_thread < threads


def _mix(value: np.ndarray) -> np.ndarray:
    """A bijective 64-bit hash (finaliser of SplitMix64: Steele, Lea and Flood, OOPSLA 2014)."""
    value = value + np.uint64(0x9E3779B97F4A7C15)
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))
