"""Makes the accesses of CTAs from their records."""

from collections.abc import Sequence

import numpy as np

from lockstep._jit import Context, Records, as_records, inline, jit
from lockstep.caches.accesses import (
    BARRIER,
    CODE,
    Batch,
    access,
    add_step,
    described,
)
from lockstep.caches.workspace import Workspace
from lockstep.plain_bytes import plain
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
        self._space = Workspace(
            _Coalescing,
            {
                "code": as_records(np.zeros(0, CODE)),
                "warps": as_records(np.zeros(kernel.warps, WARP)),
                "runs": as_records(np.zeros(256, RUN)),
                "addresses": as_records(np.zeros(256, ADDRESS)),
                "pool": np.zeros(256, np.int64),
                "begins": np.zeros((3, 1), np.int64),
            },
        )
        self._space.begin(kernel, threads or kernel.warps * kernel.warp_size)

    def __call__(self, cta: Cta) -> CtaAccesses:
        """The accesses of a CTA; arrays of its own."""
        first, steps, lines = self.batch([cta])
        return CtaAccesses(first[0].copy(), steps.copy(), lines.copy())

    def batch(self, ctas: Sequence[Cta]) -> Batch:
        """The accesses of some CTAs, which are valid until more are asked for."""
        space, warps = self._space, len(ctas[0].warps)
        if len(space["code"]) < len(self._kernel.code):
            space.put("code", as_records(described(self._kernel.code.instructions)))
        space.spec.warps = warps
        if space["first"].shape[0] < len(ctas) or space["first"].shape[1] != warps + 1:
            space.put("first", np.zeros((len(ctas), warps + 1), np.int64))
            space.put("begins", np.zeros((3, len(ctas)), np.int64))
        self._join("warps", [cta.warps for cta in ctas])
        for row, name in zip(space["begins"], ("runs", "addresses", "pool")):
            parts = [getattr(cta, name) for cta in ctas]
            row[1 : len(ctas)] = np.cumsum([len(part) for part in parts[:-1]])
            self._join(name, parts)
        return space.make(coalesce, len(ctas))

    def _join(self, name: str, parts: list[np.ndarray]) -> None:
        """Put the arrays of some CTAs one behind the other."""
        held, count = self._space[name], sum(map(len, parts))
        if len(held) < count:
            made = np.zeros(2 * count, held.dtype)
            self._space.put(name, as_records(made) if held.dtype.names else made)
        to = plain(self._space[name])[:count]
        np.concatenate([part.view(to.dtype) for part in parts], out=to)


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
