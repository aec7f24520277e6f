"""What launches have changed in device memory: a copy of it before, compared with it after."""

import numpy as np

from lockstep.execution.memory.device_memory import DeviceMemory


def content(memory: DeviceMemory) -> dict[int, np.ndarray]:
    """A copy of each allocation, hidden ones too, by its address (uint8)."""
    places = memory.table[: len(memory)].tolist()
    return {address: memory.view(address, size).copy() for address, size in places if size}


def differing(old: np.ndarray, new: np.ndarray, piece: int) -> list[int]:
    """Where pieces of some bytes begin whose content is not the same; the last may be shorter."""
    whole = len(old) // piece * piece
    differ = (old[:whole] != new[:whole]).reshape(-1, piece).any(axis=1)
    starts = (np.flatnonzero(differ) * piece).tolist()
    return starts + [whole] * bool((old[whole:] != new[whole:]).any())
