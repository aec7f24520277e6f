"""Records as plain bytes, which NumPy copies at once: of records it looks at each field."""

from collections.abc import Sequence
from typing import Any

import numpy as np

LARGE = 256  # records of an array that is copied by itself


def plain(array: np.ndarray) -> np.ndarray:
    """Records as elements of so many bytes, in the same memory; an array of numbers as it is."""
    if not array.dtype.names:
        return array
    raw = np.dtype((np.void, array.dtype.itemsize))
    return np.ascontiguousarray(array).view(np.ndarray).view(raw)


def copied(array: np.ndarray) -> np.ndarray:
    """A copy of records, or of numbers."""
    return plain(array).copy().view(array.dtype)


def together(parts: Sequence[np.ndarray], kind: np.dtype) -> np.ndarray:
    """Arrays of records of one kind one after the other; of a single one, itself."""
    if len(parts) == 1:
        return parts[0]
    return np.concatenate([plain(part) for part in parts]).view(kind)


def put_together(parts: Sequence[np.ndarray], target: np.ndarray) -> None:
    """Copy arrays, of the kind of a target that they fill, into it one after the other.

    As NumPy joins them, each of many small arrays takes ten times as long; large ones would be
    copied twice.
    """
    kind = target.dtype
    raw = plain(target)
    if len(target) > LARGE * len(parts):
        place = 0
        for part in parts:
            raw[place : place + len(part)] = plain(part.astype(kind, copy=False))
            place += len(part)
        return
    if {part.dtype for part in parts} != {kind}:
        parts = [part.astype(kind) for part in parts]
    told: Any = parts  # arrays are buffers, which their type does not say
    raw[...] = np.frombuffer(b"".join(told), raw.dtype)
