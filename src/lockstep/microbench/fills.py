"""What buffers hold at first; the driver for GPUs (``driver/driver.cpp``) writes the same."""

import numpy as np

from lockstep.microbench.benchmark import Buffer, Fill

_FACTORS = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9)
_INDEX = 4  # bytes


def fill(memory: np.ndarray, address: int, buffer: Buffer) -> None:
    """Fill a buffer that lies at ``address``; ``memory`` are its bytes."""
    if buffer.fill is Fill.ZERO:
        memory[:] = 0
    elif buffer.fill is Fill.CHAIN:
        nodes = np.arange(min(buffer.count, buffer.visited or buffer.count), dtype=np.uint64)
        _link(memory, address, buffer, nodes, (nodes + np.uint64(1)) % np.uint64(buffer.count))
    elif buffer.fill is Fill.CYCLE:
        order = cycle(buffer.count)
        reached = min(buffer.count, buffer.visited or buffer.count)
        _link(memory, address, buffer, order[:reached], np.roll(order, -1)[:reached])
    elif buffer.fill is Fill.INDICES:
        memory[:] = 0
        step = buffer.stride // _INDEX
        following = (np.arange(buffer.count) + 1) % buffer.count * step
        memory.view(np.uint32)[: buffer.count * step : step] = following
    elif buffer.fill is Fill.OWN:
        words = np.arange(memory.size // _INDEX, dtype=np.uint32)
        memory.view(np.uint32)[:] = words * _INDEX // buffer.stride * buffer.stride
    elif buffer.fill is Fill.WORDS:
        memory[:] = 0
        memory.view(np.uint64)[: len(buffer.words)] = buffer.words


def cycle(count: int) -> np.ndarray:
    """The nodes of a chain in the order of a hash of their numbers; node 0 is the first."""
    hashed = np.arange(count, dtype=np.uint64) * np.uint64(_FACTORS[0])
    hashed ^= hashed >> np.uint64(29)
    hashed *= np.uint64(_FACTORS[1])
    hashed ^= hashed >> np.uint64(32)
    return np.argsort(hashed).astype(np.uint64)


def _link(
    memory: np.ndarray, address: int, buffer: Buffer, nodes: np.ndarray, following: np.ndarray
) -> None:
    """Let each node hold the address of the one that follows."""
    places = (nodes * np.uint64(buffer.stride)).astype(np.int64)
    targets = following * np.uint64(buffer.stride) + np.uint64(address)
    memory.view(np.uint64)[places // 8] = targets
