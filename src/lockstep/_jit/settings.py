"""How Numba is told to compile: by its own environment variables, which are read without it."""

import os

OPTIONS = {"error_model": "numpy", "nogil": True, "_nrt": False}
CALLBACK_OPTIONS = {"nopython": True, "error_model": "numpy", "_nrt": False}
_NEUTRAL = ("NUMBA_DISABLE_JIT", "NUMBA_CACHE_DIR", "NUMBA_NUM_THREADS")


def _disabled() -> bool:
    try:
        return bool(int(os.environ.get("NUMBA_DISABLE_JIT") or 0))
    except ValueError:  # Numba warns, and compiles
        return False


DISABLED = _disabled()
"""Whether everything runs as plain Python."""


def environment() -> list[tuple[str, str]]:
    """The variables that may change machine code."""
    named = (item for item in os.environ.items() if item[0].startswith("NUMBA_"))
    return sorted(item for item in named if item[0] not in _NEUTRAL)


ENTRY, CALLBACK = "entry", "callback"
"""The two forms of machine code: called with one block of words, or as C functions are."""
