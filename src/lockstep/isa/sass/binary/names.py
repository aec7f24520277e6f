"""C++ names of kernels from the names that linkers see."""

import functools

import itanium_demangler


@functools.lru_cache(maxsize=4096)
def demangled(name: str) -> str:
    """``void scale<float>(float*, int)`` for ``_Z5scaleIfEvPT_i``; other names as they are."""
    if not name.startswith("_Z"):
        return name
    try:
        parsed = itanium_demangler.parse(name)
        return str(parsed) if parsed is not None else name
    except (NotImplementedError, ValueError, IndexError, AttributeError, RecursionError, TypeError):
        return name
