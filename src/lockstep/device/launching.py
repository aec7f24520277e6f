"""What becomes of a launch: it is queued for the simulation, or executed at once."""

from typing import Protocol

from lockstep.device.execution import execute, workload_kernel, written
from lockstep.device.launch import Launch
from lockstep.device.owner import OwningDevice
from lockstep.device.peers import noting_peer_accesses
from lockstep.device.timing import Timing
from lockstep.device.treatment import Treatment
from lockstep.device.warmth import StreamLines
from lockstep.device.watching import StreamWatcher, Watcher, reads_streams
from lockstep.errors import EndOfKernel, LockstepError
from lockstep.execution.programs import program as programs
from lockstep.execution.programs.program import Recording
from lockstep.execution.streams.written import can_be_read


class LaunchingDevice(OwningDevice, Protocol):
    """A device, as far as launches need it."""

    watcher: Watcher | None
    launches: list[Launch]
    profiling: bool
    at_issue: bool


def recording_of(device: LaunchingDevice) -> Recording:
    """What launches of a device tell of what they do: as much as anybody wants to know."""
    recording = programs.recording_of(device.findings.checks)
    if device.profiling:
        recording |= Recording.PROFILE
    if device.at_issue:
        return recording | Recording.AT_ISSUE
    if device.timing is not None or device.recorder is not None:
        return recording | Recording.EVERYTHING
    if device.watcher is None or not device.watcher.reads:
        return recording
    streams = reads_streams(device.watcher)
    return recording | (Recording.ACCESSES if streams else Recording.EVERYTHING)


def check_watcher(device: LaunchingDevice, watcher: Watcher) -> None:
    """Raise :class:`LockstepError` if the launches of a device cannot be watched so."""
    device.check_open()
    if device.watcher is not None:
        raise LockstepError("the launches of this device are being watched already")
    if watcher.reads and device.timing:
        raise LockstepError("CTAs are read as they are executed: without timing=True")


def begin(device: LaunchingDevice, launch: Launch) -> None:
    """Queue a launch, or execute it, as it is to be treated; who watches is told."""
    timing = device.timing
    simulated = launch.treatment is Treatment.SIMULATE
    if timing and not simulated:
        if timing.launches:
            device.synchronize()
        timing.passed(launch)
        timing = None
    if device.watcher is not None:
        device.watcher.launched(launch)
    elif device.profiling or (timing and simulated):
        device.launches.append(launch)
    if timing:
        queue(device, launch, timing)
        return
    perform(device, launch)
    if device.watcher is not None:
        device.watcher.ended(launch)


def queue(device: LaunchingDevice, launch: Launch, timing: Timing) -> None:
    """Have a launch simulated."""
    recording = device.recording
    if not device.recorder and launch.kernel.executor(recording).program.awaits_others:
        recording = recording & ~Recording.EVERYTHING | Recording.AT_ISSUE
    command = workload_kernel(launch, recording)
    if device.memory.reaches_others and not device.peers.cross_fabric:
        command = noting_peer_accesses(command, device.memory, device.peers.note_accesses)
    if device.recorder:
        device.recorder.launch(command)
    timing.launch(launch, command)


def perform(device: LaunchingDevice, launch: Launch) -> None:
    """Execute a launch now; who wants to see what it does is told."""
    recording = device.recording & ~Recording.AT_ISSUE
    recorder = device.recorder if device.recorder and device.recorder.records(launch) else None
    noted = launch.treatment is Treatment.WARM or bool(
        device.recorder and device.recorder.notes_lines
    )
    if noted:
        recording |= Recording.LINES
    by_itself = not noted or launch.kernel.executor(recording).program.notes_all_lines
    watcher = device.watcher if device.watcher is not None and device.watcher.reads else None
    if recorder is None and by_itself and watcher is None:
        execute(launch, recording)
        return
    reader = stream_reader(watcher, launch, recording) if recorder is None and by_itself else None
    if reader is None:
        recording = recording & ~Recording.ACCESSES | Recording.EVERYTHING
    else:
        recording |= Recording.ACCESSES
    command = workload_kernel(launch, recording)
    if recorder:
        recorder.launch(command)
    lines = None if by_itself else StreamLines(command, device.memory.touched)
    try:
        if reader is not None:
            for ctas in written(launch, recording):
                reader.read_written(command, ctas)
            return
        for cta in command.ctas():
            if lines:
                lines.take(cta)
            if watcher is not None:  # it may be empty, and false, so far
                watcher.read(command, cta)
    except EndOfKernel:
        assert launch.error is not None, "what ended the kernel noted it"
        raise launch.error from None


def stream_reader(
    watcher: Watcher | None, launch: Launch, recording: Recording
) -> StreamWatcher | None:
    """A watcher that wants the streams of a launch, if these say all that caches see of it."""
    if not reads_streams(watcher) or launch.geometry.cluster_ctas > 1:
        return None
    program = launch.kernel.executor(recording | Recording.ACCESSES).program
    return watcher if can_be_read(program) else None
