"""The arrays in which a coalescer works: they grow, and compiled code finds them in a context."""

from collections.abc import Callable
from typing import Any

import numpy as np

from lockstep._jit import Context, as_records
from lockstep.caches.accesses import COALESCING, LINE, STEP, Batch
from lockstep.model.core import tile
from lockstep.workload import Kernel


class Workspace:
    """Arrays by the names that a kind of context has for them."""

    def __init__(self, kind: type[Context], arrays: dict[str, Any]):
        """``arrays``: those of this kind alone."""
        self._kind = kind
        self._context: Context | None = None
        self._arrays: dict[str, Any] = arrays | {
            "spec": as_records(np.zeros(1, COALESCING)),
            "place": np.zeros(tile.STATE_WORDS, np.int64),
            "first": np.zeros((1, 2), np.int64),
            "steps": as_records(np.zeros(1024, STEP)),
            "lines": as_records(np.zeros(4096, LINE)),
        }
        self.spec = self._arrays["spec"][0]

    def __getitem__(self, name: str) -> Any:
        return self._arrays[name]

    def put(self, name: str, array: np.ndarray) -> None:
        """Have another array of a name."""
        self._arrays[name], self._context = array, None

    def begin(self, kernel: Kernel, threads: int) -> None:
        """A launch; ``threads``: as of :class:`~lockstep.caches.coalescer.Coalescer`."""
        spec = self.spec
        spec.lanes, spec.warps, spec.cluster = kernel.warp_size, kernel.warps, kernel.cluster_ctas
        spec.threads = threads
        spec.shared_base, spec.local_base = kernel.shared_base, kernel.local_base

    def make(self, coalesce: Callable[[Any], None], ctas: int) -> Batch:
        """The accesses of so many CTAs, by compiled code that says if there was no room."""
        self.spec.ctas = ctas
        while True:
            self._context = self._context or self._kind(**self._arrays)
            coalesce(self._context)
            if not self.spec.full:
                break
            for name, dtype in ("steps", STEP), ("lines", LINE):
                self.put(name, as_records(np.zeros(2 * len(self[name]), dtype)))
        return Batch(
            self["first"][:ctas], self["steps"][: self.spec.steps], self["lines"][: self.spec.lines]
        )
