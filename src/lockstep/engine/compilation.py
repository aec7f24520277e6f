"""Machine code before the clock starts: compiled once, then loaded from the disk cache."""

from collections.abc import Callable
from time import perf_counter

import numpy as np
from msgspec.structs import replace

from lockstep._jit import is_compiled
from lockstep.engine.machine import Machine
from lockstep.gpus.spec import GPU
from lockstep.model import partition
from lockstep.model.sm import sm

NOTICE = "Compiling the model: this happens once for each version, and takes about a minute."
_loaded: set[bool] = set()


def compile_model(gpu: GPU, notice: Callable[[str], None] | None = None) -> float:
    """Make all entry points ready by running an idle one-SM machine; returns the seconds it took.

    ``notice`` is told if machine code must be compiled and not only loaded.
    """
    if _loaded:
        return 0.0
    begin = perf_counter()
    if notice and not (is_compiled(sm.run) and is_compiled(partition.run)):
        notice(NOTICE)
    tiny = replace(gpu, sm=replace(gpu.sm, count=1), dram=replace(gpu.dram, channels=1))
    machine = Machine(tiny, 1, {})
    machine.dispatch(np.zeros(gpu.launch.concurrent_kernels, np.int64), 0, 0, 1)
    machine.prepare_l1(1)
    machine.copy_to_device(0, 0)
    machine.run_windows(0, 1, 1, 1)
    machine.settle(1)
    machine.close()
    _loaded.add(True)
    return perf_counter() - begin
