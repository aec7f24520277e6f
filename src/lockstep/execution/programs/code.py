"""The machine code of a program's blocks in this process.

That of a large program comes part by part, when a block of it is first executed: most of the code
of a program that was built for a debugger, or of large libraries, never runs.
"""

import ctypes

import numpy as np

from lockstep._jit import SignalHold
from lockstep._jit.loading import Loaded
from lockstep.execution.programs.program import FIRST_SITE, Objects, Part, Program
from lockstep.execution.programs.routines import addresses

_FROM_C = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int32)


class BlockCode:
    """Where the blocks of a program are; ``addresses`` of those that are not there yet are 0.

    ``fetch`` is the address of what fetches a block; if it cannot, ``problem`` is why. Where
    blocks run, ``hold`` must be held as long as the code is not ``complete``.
    """

    def __init__(self, program: Program):
        self._program = program
        self.addresses = np.zeros(len(program.blocks), np.int64)
        self._loaded = 0  # parts
        self._files: list[Loaded] = []
        self.problem: BaseException | None = None
        self.hold = SignalHold()
        self._callback = _FROM_C(self._fetch)
        self.fetch = ctypes.cast(self._callback, ctypes.c_void_p).value
        for part in program.parts:
            if part.objects is not None:
                self._load(part, part.objects)

    @property
    def complete(self) -> bool:
        """Whether all blocks are there: nothing is fetched any more."""
        return self._loaded == len(self._program.parts)

    def _load(self, part: Part, objects: Objects) -> None:
        numbers = {FIRST_SITE: part.first_site, **addresses(objects.routines)}
        found: dict[str, int] = {}
        for file in objects.files:
            loaded = Loaded(file.code, file.functions, numbers)
            found |= {name: loaded.address(name) for name in file.functions}
            self._files.append(loaded)
        own = range(part.end - part.first)
        self.addresses[part.first : part.end] = [found[f"block{k}"] for k in own]
        self._loaded += 1

    def _fetch(self, _, block: int) -> int:
        """Called by the scheduler: the address of a block, 0 if there was a problem."""
        try:
            with self.hold.paused():
                part = next(p for p in self._program.parts if p.first <= block < p.end)
                self._load(part, self._program.supply(part))
        except BaseException as problem:
            self.problem = problem
            return 0
        return int(self.addresses[block])
