"""How much memory this host has for what programs keep in device memory, and for what they do."""

import functools
import os
from contextlib import suppress
from pathlib import Path

_CGROUP_LIMITS = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)


@functools.cache
def memory_bytes() -> int | None:
    """Bytes of the host's memory, or of the container's that this is; None if nobody says."""
    try:
        size = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):  # not on every system
        return None
    for path in _CGROUP_LIMITS:
        with suppress(OSError):
            text = path.read_text(encoding="ascii").strip()
            if text.isdecimal():
                size = min(size, int(text))
    return size
