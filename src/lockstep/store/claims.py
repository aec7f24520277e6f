"""One process makes an entry while others that want it wait.

Processes that start together on an empty cache (ranks, points of a campaign) would each compile
the model. A claim is a lock on a byte of one empty file in a place; the system forgets the claims
of a process that is killed.
"""

import errno
import fcntl
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from time import monotonic, sleep

from lockstep.store.content import file_name
from lockstep.store.places import writable

_FILE = "claims"  # in a place
_LOCK = struct.Struct("hhqqi")  # Linux's struct flock: type, whence, start, length, process
_LONGEST_SECONDS = 300.0
_POLL_SECONDS = 0.05


@contextmanager
def claimed(kind: str, key: str) -> Iterator[None]:
    """Nobody else who claims the same entry makes it inside; look for it there once more.

    Where nothing can be locked, and after five minutes, everybody makes it: only time is lost.
    Claims may nest if whoever does so claims in the same order.
    """
    place, flags = writable(), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    handle, start = None, int(file_name(f"{kind}/{key}")[:15], 16)
    with suppress(OSError):
        if place:
            handle = os.open(place.path / _FILE, flags, 0o644)
    if handle is None:
        yield
        return
    try:
        with suppress(OSError):  # NFS may have no locks
            _wait(handle, start)
        yield
    finally:
        with suppress(OSError):  # a forked child may have the file open, too
            _lock(handle, fcntl.F_UNLCK, start)
        os.close(handle)


def _wait(handle: int, start: int) -> None:
    """Until the byte is ours, or it takes too long."""
    end = monotonic() + _LONGEST_SECONDS
    while monotonic() < end:
        try:
            return _lock(handle, fcntl.F_WRLCK, start)
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EACCES):
                raise
        sleep(_POLL_SECONDS)


def _lock(handle: int, kind: int, start: int) -> None:
    """A lock of this opening of the file, not of the process: threads wait for each other."""
    fcntl.fcntl(handle, fcntl.F_OFD_SETLK, _LOCK.pack(kind, os.SEEK_SET, start, 1, 0))
