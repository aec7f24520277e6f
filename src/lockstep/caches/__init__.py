"""Caches by streams of accesses, without the detail of SMs: many configurations at once.

Read ``points.py``, what is explored, and ``exploration.py``, the whole; then along an access's way:
``accesses.py``, made by ``coalescer.py`` of records and by ``written.py`` of what blocks wrote;
``order.py`` with ``turns.py``; ``beside.py``, a thread of its own for what follows; ``passes.py``
with ``lookups.py``, ``stacks.py`` and ``tagged.py``, and, where lines know when they were used,
``uses.py``, ``meetings.py`` and ``recency.py``.
``geometry.py`` says where a line lies. ``ahead.py`` has prefetchers, ``dram.py`` and
``dram_map.py`` what is behind an L2.
"""

from lockstep.caches.dram import DramPoint
from lockstep.caches.exploration import Exploration, Sweep, own
from lockstep.caches.points import CachePoint, grid, l1_of, l2_of

__all__ = ["CachePoint", "DramPoint", "Exploration", "Sweep", "grid", "l1_of", "l2_of", "own"]
