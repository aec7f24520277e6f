"""Running a launch: at once, or CTA by CTA as a workload's kernel."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from lockstep.device.launch import Launch
from lockstep.errors import EndOfKernel, LockstepError
from lockstep.execution.programs.profile import Profile
from lockstep.execution.programs.program import Recording
from lockstep.execution.state import LOCAL_WINDOW, SHARED_WINDOW
from lockstep.execution.streams.written import WrittenCtas
from lockstep.workload import Code, Cta, Kernel
from lockstep.workload.at_issue import Exchange, Keep

if TYPE_CHECKING:
    from lockstep.execution.launches.at_issue import AtIssue


def _block(launch: Launch) -> np.ndarray:
    return launch.kernel.block(launch.parameters, launch.geometry)


def execute(launch: Launch, recording: Recording) -> None:
    """Run a launch to its end; nothing of it is kept for the timing model."""
    recording &= ~Recording.AT_ISSUE
    executor = launch.kernel.executor(recording)
    if Recording.PROFILE in recording:
        launch.counters = Profile(executor.program, launch.geometry.ctas)
    executor.run(launch.geometry, _block(launch), launch.counters, launch.ended)
    launch.arguments = ()


def written(launch: Launch, recording: Recording) -> Iterator[WrittenCtas]:
    """Execute a launch without clusters, and get its CTAs as their blocks wrote them.

    :func:`workload_kernel` describes it, with the same ``recording``. An error is kept in it, too.
    """
    executor = launch.kernel.executor(recording)
    try:
        yield from executor.written(launch.geometry, _block(launch), launch.counters, launch.ended)
    except LockstepError as error:
        launch.error = error
        raise EndOfKernel from error


def workload_kernel(launch: Launch, recording: Recording) -> Kernel:
    """A launch as the timing model sees it; reading its CTAs executes it, once.

    With ``Recording.PROFILE`` it is counted too, with ``Recording.AT_ISSUE`` it is executed while
    it is simulated instead. An error ends it early and is kept in the launch.
    """
    kernel, geometry = launch.kernel, launch.geometry
    executor = kernel.executor(recording)
    program, block = executor.program, _block(launch)
    if Recording.PROFILE in recording:
        launch.counters = Profile(program, geometry.ctas)

    def ctas() -> Iterator[Cta]:
        try:
            yield from executor.ctas(geometry, block, launch.counters, launch.ended)
        except LockstepError as error:
            launch.error = error
            raise EndOfKernel from error

    def source(exchange: Exchange, keep: Keep | None = None) -> "AtIssue":
        from lockstep.execution.launches.at_issue import AtIssue

        kilohertz = round(kernel.module.device.gpu.clock_mhz * 1000)
        begin = geometry, block, launch.counters, launch.ended
        return AtIssue(executor, begin, exchange, kilohertz, launch.fail, keep)

    return Kernel(
        id=launch.id,
        name=kernel.name,
        grid=geometry.grid,
        block=geometry.block,
        registers=program.registers,
        shared_bytes=program.shared_bytes + geometry.dynamic_shared,
        code=Code(program.code, program.texts, program.origins, program.file),
        ctas=ctas,
        stream=launch.stream,
        cluster=geometry.cluster,
        warp_size=geometry.lanes,
        scalar_registers=program.scalar_registers,
        architecture=kernel.module.architecture,
        shared_base=SHARED_WINDOW,
        local_base=LOCAL_WINDOW,
        source=source if Recording.AT_ISSUE in recording else None,
        executes=True,
    )
