"""Caches by streams of accesses, without the detail of SMs: many configurations at once."""

from lockstep.caches.dram import DramPoint
from lockstep.caches.exploration import Exploration, Sweep, own
from lockstep.caches.points import CachePoint, grid, l1_of, l2_of

__all__ = ["CachePoint", "DramPoint", "Exploration", "Sweep", "grid", "l1_of", "l2_of", "own"]
