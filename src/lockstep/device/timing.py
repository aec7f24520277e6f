"""Simulating a device's launches: functional runs feed the timing model, launch after launch."""

from collections.abc import Iterator

import numpy as np

from lockstep.device.launch import Launch
from lockstep.engine import Session
from lockstep.engine.record import Run
from lockstep.frontend.exec.state import LOCAL_WINDOW, SHARED_WINDOW
from lockstep.gpus.spec import GPU
from lockstep.workload import Code, Cta, Kernel, MemoryCopy

PADDING = 8  # bytes after the parameters, which wide loads may touch


def workload_kernel(launch: Launch, number: int) -> Kernel:
    """A launch as the timing model sees it; reading its CTAs executes it, once."""
    kernel, geometry = launch.kernel, launch.geometry
    executor = kernel.executor(recording=True)
    program = executor.program
    parameters = np.frombuffer(launch.parameters + bytes(PADDING), np.uint8).copy()

    def ctas() -> Iterator[Cta]:
        return executor.ctas(geometry, parameters)

    return Kernel(
        id=number,
        name=kernel.name,
        grid=geometry.grid,
        block=geometry.block,
        registers=program.registers,
        shared_bytes=program.shared_bytes + geometry.dynamic_shared,
        code=Code(program.code, program.texts),
        ctas=ctas,
        stream=launch.stream,
        shared_base=SHARED_WINDOW,
        local_base=LOCAL_WINDOW,
    )


class Timing:
    """The simulated GPU behind a device: it keeps its caches from launch to launch."""

    def __init__(self, gpu: GPU, **options):
        self._session = Session(gpu, **options)
        self._pending: list[Kernel | MemoryCopy] = []
        self._launches: list[Launch] = []
        self._finished = 0

    def launch(self, launch: Launch) -> None:
        """Queue a launch; it runs when somebody waits for it."""
        launch.id = len(self._launches) + 1
        self._launches.append(launch)
        self._pending.append(workload_kernel(launch, launch.id))

    def copied(self, address: int, size: int) -> None:
        """Queue a copy from the host, which passes through the L2."""
        self._pending.append(MemoryCopy(address, size))

    def synchronize(self) -> None:
        """Execute and simulate what is queued."""
        commands, self._pending = self._pending, []
        if not commands:
            return
        self._session.run(commands)
        for run in self.result().kernels[self._finished :]:
            self._launches[run.id - 1].run = run
            self._finished += 1

    def result(self) -> Run:
        """Counters of everything so far."""
        return self._session.result()

    def close(self) -> None:
        """End the simulation's threads."""
        self._session.close()
