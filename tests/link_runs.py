"""Results with links, written by hand: of a GPU of two modules, and of a system of two GPUs."""

import numpy as np
from msgspec.structs import replace

from gpu_systems import small_system
from lockstep.engine.host.copy_link import LinkRun
from lockstep.engine.host.record import CallRun, CopyRun, HostRun, PeerRun
from lockstep.gpus import library
from lockstep.host_calls import Direction
from lockstep.metrics.result import Result
from lockstep.metrics.system import SystemResult
from lockstep.model.counters import MODULE_COUNTERS
from metrics.synthetic import make_result, small_gpu

MICROSECOND = 1_000_000  # picoseconds


def counted(size: int) -> np.ndarray:
    """Counters of two modules of which the first has sent so many bytes to the second."""
    modules = np.zeros(2, MODULE_COUNTERS)
    modules["bytes"][0, 0] = size
    return modules


def of_modules(bandwidth: float = 10.0, samples: int = 4) -> Result:
    """Two kernels of 1,000 and 2,000 bytes over one link at 1 GHz; samples at equal distances."""
    gpu = library.replace(small_gpu(), **{"modules.count": 2, "modules.bandwidth": bandwidth})
    made = make_result(samples=samples)
    run = made.run
    for kernel, size in zip(run.kernels, (1000, 2000)):
        kernel.modules = counted(size)
    run.modules = counted(3000)
    steps = [counted(3000 * k * k // samples**2) for k in range(1, samples + 1)]
    run.module_samples = np.stack(steps) if steps else np.zeros((0, 0), MODULE_COUNTERS)
    return Result(run, gpu, made.workload)


def of_system() -> SystemResult:
    """Two GPUs with the same kernels; of two links one that was busy from 10 to 20 of 100 us."""
    gpus = tuple(make_result() for _ in range(2))
    for k, gpu in enumerate(gpus):
        gpu.run = replace(gpu.run, running=gpu.run.running // (k + 1))
    begins, ends = 10 * MICROSECOND, 20 * MICROSECOND
    links = [
        LinkRun("GPU 0 > GPU 1", 25.0, 4096, 1, 10 * MICROSECOND, [(begins, ends)]),
        LinkRun("GPU 1 > GPU 0", 25.0),
    ]
    host = HostRun(
        calls=[CallRun("copy", "", 0, MICROSECOND, 4 * MICROSECOND)],
        copies=[CopyRun(Direction(0), 0, 0, 0, 512, 0, MICROSECOND)],
        end=100 * MICROSECOND,
        peers=[PeerRun(0, 1, 3, 4096, False, begins, ends, 1)],
        links=links,
    )
    return SystemResult(small_system(2), gpus, host)
