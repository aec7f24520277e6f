"""The code of the kernels that run, in one growing array, as the model issues it."""

from functools import lru_cache, partial

import numpy as np

from lockstep.engine import attributed
from lockstep.engine.running import Running
from lockstep.engine.streams import Streams
from lockstep.gpus.spec import GPU
from lockstep.isa.instruction import INSTRUCTION
from lockstep.model.core import bind
from lockstep.model.core.state import ISSUE
from lockstep.model.records import records

TRANSLATIONS = 16  # of code that are kept: programs launch the same few kernels again and again


class CodeArena:
    """Keeps each kernel's instructions side by side, also while a trace reveals more of them."""

    def __init__(self, streams: Streams, gpu: GPU):
        self._streams = streams
        self.used = 0  # records, from the front on
        self._translate = lru_cache(TRANSLATIONS)(partial(_translate, gpu))

    def clear(self) -> None:
        """Begin at the front again, when no kernel runs."""
        self.used = 0

    def bind(self, run: Running) -> None:
        """Translate new static instructions; the kernel's code moves to the end of the arena."""
        kernel, sm = run.kernel, self._streams.sm
        code, state = kernel.code.instructions, sm.kernels[run.slot]
        new, texts = code[run.bound :].tobytes(), tuple(kernel.code.texts)
        fresh = self._translate(new, texts, run.control, kernel.architecture)
        old = sm.code[int(state.code) : int(state.code) + run.bound]
        start, end = self.used, self.used + len(code)
        if end > len(sm.code):
            grown = records(max(end, 2 * len(sm.code)), ISSUE)
            grown[:start] = sm.code[:start]
            self._streams.replace(code=grown, **attributed.grown(sm, len(grown)))
            sm = self._streams.sm
            state = sm.kernels[run.slot]
        sm.code[start : start + run.bound] = old
        sm.code[start + run.bound : end] = fresh
        attributed.move(sm, int(state.code), start, run.bound, len(code))
        state.code, run.bound, self.used = start, len(code), end
        for kind in ("destination", "source"):
            rows = int((code[kind] + code[f"{kind}_count"]).max(initial=0))
            state.register_rows = max(int(state.register_rows), rows)


def _translate(
    gpu: GPU, code: bytes, texts: tuple[str, ...], control: bool, architecture: int
) -> np.ndarray:
    """ISSUE records of the bytes of INSTRUCTION records."""
    return bind.issue_records(np.frombuffer(code, INSTRUCTION), gpu, control, architecture, texts)
