"""Running a launch: at once, or CTA by CTA as a workload's kernel."""

from collections.abc import Iterator

import numpy as np

from lockstep.device.launch import Launch
from lockstep.errors import EndOfKernel, LockstepError
from lockstep.frontend.exec.profile import Profiler
from lockstep.frontend.exec.program import Recording
from lockstep.frontend.exec.state import LOCAL_WINDOW, SHARED_WINDOW
from lockstep.workload import Code, Cta, Kernel


def _block(launch: Launch) -> np.ndarray:
    return launch.kernel.block(launch.parameters, launch.geometry)


def execute(launch: Launch, profile: bool) -> None:
    """Run a launch to its end."""
    executor = launch.kernel.executor(Recording.PROFILE if profile else Recording.NOTHING)
    if profile:
        launch.counters = Profiler(executor.program).start(launch.geometry.grid)
        executor.run_recorded(launch.geometry, _block(launch), launch.counters.add)
    else:
        executor.run(launch.geometry, _block(launch))
    launch.arguments = ()


def workload_kernel(launch: Launch, profile: bool) -> Kernel:
    """A launch as the timing model sees it; reading its CTAs executes it, once.

    An error ends the CTAs early and is kept in the launch.
    """
    kernel, geometry = launch.kernel, launch.geometry
    executor = kernel.executor(Recording.EVERYTHING)
    program, block = executor.program, _block(launch)
    if profile:
        launch.counters = Profiler(program).start(geometry.grid)

    def ctas() -> Iterator[Cta]:
        count = launch.counters.add if launch.counters else None
        try:
            yield from executor.ctas(geometry, block, count)
        except LockstepError as error:
            launch.error = error
            raise EndOfKernel from error

    return Kernel(
        id=launch.id,
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
