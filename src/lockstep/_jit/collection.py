"""Garbage collection while code is made, or a machine."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collection() -> Iterator[None]:
    """Keep Python from looking for garbage where much is made of which nothing is left over.

    It took a quarter of the time to emit LLVM's instructions, and a tenth of Numba's.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
