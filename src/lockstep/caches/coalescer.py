"""Makes the accesses of CTAs from their records."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from lockstep._jit import Context, Records, as_records, inline, jit
from lockstep.caches.accesses import (
    BARRIER,
    COALESCING,
    CODE,
    LINE,
    STEP,
    Batch,
    access,
    add_step,
    described,
    plain,
)
from lockstep.model.core import tile
from lockstep.workload import ADDRESS, RUN, WARP, Cta, Kernel


class CtaAccesses:
    """The accesses of a CTA: ``steps`` of :data:`STEP`, ``lines`` of :data:`LINE`.

    Those of warp ``w`` are ``steps[first[w] : first[w + 1]]``.
    """

    def __init__(self, first: np.ndarray, steps: np.ndarray, lines: np.ndarray):
        self.first, self.steps, self.lines = first, steps, lines


class _Coalescing(Context):
    """What the compiled side reads and writes for some CTAs."""

    spec: Records  # COALESCING, one
    code: Records  # CODE: an entry an instruction
    warps: Records
    runs: Records
    addresses: Records
    pool: np.ndarray
    begins: np.ndarray  # int64 [3, ctas]: where runs, addresses and pool of each CTA begin
    place: np.ndarray  # int64 [tile.STATE_WORDS]: of a tile
    first: np.ndarray  # int64 [ctas, warps + 1]: first step of each warp
    steps: Records
    lines: Records


class Coalescer:
    """Makes the accesses of CTAs of one kernel.

    ``threads``: of how many threads the words of local memory lie side by side, as those of a whole
    SM; 0 = those of the CTA.
    """

    def __init__(self, kernel: Kernel, threads: int = 0):
        self._kernel = kernel
        self._arrays: dict[str, Any] = {
            "spec": as_records(np.zeros(1, COALESCING)),
            "code": as_records(np.zeros(0, CODE)),
            "warps": as_records(np.zeros(kernel.warps, WARP)),
            "runs": as_records(np.zeros(256, RUN)),
            "addresses": as_records(np.zeros(256, ADDRESS)),
            "pool": np.zeros(256, np.int64),
            "begins": np.zeros((3, 1), np.int64),
            "place": np.zeros(tile.STATE_WORDS, np.int64),
            "first": np.zeros((1, kernel.warps + 1), np.int64),
            "steps": as_records(np.zeros(1024, STEP)),
            "lines": as_records(np.zeros(4096, LINE)),
        }
        self._context: _Coalescing | None = None
        spec = self._arrays["spec"][0]
        spec.lanes, spec.cluster = kernel.warp_size, kernel.cluster_ctas
        spec.threads = threads or kernel.warps * kernel.warp_size
        spec.shared_base, spec.local_base = kernel.shared_base, kernel.local_base

    def __call__(self, cta: Cta) -> CtaAccesses:
        """The accesses of a CTA; arrays of its own."""
        first, steps, lines = self.batch([cta])
        return CtaAccesses(first[0].copy(), steps.copy(), lines.copy())

    def batch(self, ctas: Sequence[Cta]) -> Batch:
        """The accesses of some CTAs, which are valid until more are asked for."""
        arrays = self._arrays
        spec = arrays["spec"][0]
        if len(arrays["code"]) < len(self._kernel.code):
            self._put("code", as_records(described(self._kernel.code.instructions)))
        spec.ctas, spec.warps = len(ctas), len(ctas[0].warps)
        if arrays["first"].shape[0] < len(ctas) or arrays["first"].shape[1] != spec.warps + 1:
            self._put("first", np.zeros((len(ctas), spec.warps + 1), np.int64))
            self._put("begins", np.zeros((3, len(ctas)), np.int64))
        self._join("warps", [cta.warps for cta in ctas])
        begins = arrays["begins"]
        for row, name in zip(begins, ("runs", "addresses", "pool")):
            parts = [getattr(cta, name) for cta in ctas]
            row[1 : len(ctas)] = np.cumsum([len(part) for part in parts[:-1]])
            self._join(name, parts)
        while True:
            self._context = self._context or _Coalescing(**arrays)
            coalesce(self._context)
            if not spec.full:
                break
            self._put("steps", as_records(np.zeros(2 * len(arrays["steps"]), STEP)))
            self._put("lines", as_records(np.zeros(2 * len(arrays["lines"]), LINE)))
        first, steps, lines = arrays["first"], arrays["steps"], arrays["lines"]
        return Batch(first[: len(ctas)], steps[: spec.steps], lines[: spec.lines])

    def _join(self, name: str, parts: list[np.ndarray]) -> None:
        """Put the arrays of some CTAs one behind the other."""
        held, count = self._arrays[name], sum(map(len, parts))
        if len(held) < count:
            made = np.zeros(2 * count, held.dtype)
            self._put(name, as_records(made) if held.dtype.names else made)
        to = plain(self._arrays[name])[:count]
        np.concatenate([part.view(to.dtype) for part in parts], out=to)

    def _put(self, name: str, array: np.ndarray) -> None:
        self._arrays[name], self._context = array, None


@jit
def coalesce(s):
    """Make the steps and lines of all warps; ``full`` is set if there was no room."""
    spec = s.spec[0]
    spec.steps = spec.lines = spec.full = 0
    for k in range(spec.ctas):
        spec.pool = s.begins[2, k]
        for w in range(spec.warps):
            s.first[k, w], spec.warp = spec.steps, w
            if not _warp(s, spec, s.warps[k * spec.warps + w], s.begins[0, k], s.begins[1, k]):
                spec.full = 1
                return
        s.first[k, spec.warps] = spec.steps


@inline
def _warp(s, spec, warp, runs, addresses):
    """The steps of one warp of a CTA whose runs and addresses begin there; false if there is no
    room."""
    address = addresses + warp.first_address
    for k in range(runs + warp.first_run, runs + warp.first_run + warp.runs):
        run = s.runs[k]
        if run.mask == 0:
            continue
        for static in range(run.static, run.static + run.count):
            code = s.code[static]
            if code.kind >= BARRIER:
                if spec.steps == len(s.steps):
                    return False
                add_step(s, spec, static, code.kind, 0)
            if code.width > 0:
                if 0 <= code.kind < BARRIER and not access(
                    s, spec, static, code, run.mask, address
                ):
                    return False
                address += 1
    return True
