"""Address space at chosen places of this process; pages take memory when they are touched."""

import ctypes
import functools
import mmap

NORESERVE = 0x4000
_FIXED_NOREPLACE = 0x100000


@functools.cache
def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    return libc


def map_at(address: int, size: int, file: int = -1) -> bool:
    """Map zeros, or a file that others share, at a place; false if something is there already."""
    kind = mmap.MAP_SHARED if file >= 0 else mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    found = _libc().mmap(
        ctypes.c_void_p(address),
        ctypes.c_size_t(size),
        mmap.PROT_READ | mmap.PROT_WRITE,
        kind | NORESERVE | _FIXED_NOREPLACE,
        file,
        ctypes.c_long(0),
    )
    if found == address:
        return True
    if found not in (None, ctypes.c_void_p(-1).value):
        unmap(found, size)
    return False


def unmap(address: int, size: int) -> None:
    """Return a mapping to the system; every pointer into it becomes invalid."""
    _libc().munmap(ctypes.c_void_p(address), ctypes.c_size_t(size))
