"""Recording a device's launches and copies as a trace."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

from lockstep.device.launch import Launch
from lockstep.device.owner import OwningDevice
from lockstep.errors import LockstepError
from lockstep.workload import Kernel, MemoryCopy

if TYPE_CHECKING:
    from lockstep.frontend.tracefile import TraceRecording

SYNCHRONIZATION = MemoryCopy(0, 0)  # a copy of nothing: waits for all kernels before it


class Recorder:
    """Writes what runs on a device from now on, until :meth:`stop` or the end of the context.

    The trace is one file of lockstep's format, or a directory for Accel-Sim, as the name says
    (see :func:`lockstep.save`). A launch that fails is left out.
    """

    def __init__(self, device: OwningDevice, path: str | Path, tracer: int):
        from lockstep import api
        from lockstep.frontend.tracefile import TraceRecording

        self.path, self._device, self._tracer = Path(path), device, tracer
        self._convert = not api.is_tracefile_name(self.path)
        beside = self.path.with_name(f".{self.path.name}.lst") if self._convert else self.path
        self._recording: TraceRecording | None = TraceRecording(
            beside, device.name, device.gpu.name
        )
        self._streams: set[int] = set()  # of the launches since all were waited for
        self._waited = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.stop()
        else:
            self.cancel()

    def copied(self, copy: MemoryCopy) -> None:
        """Note a copy from the host."""
        self._current.copy(copy)
        self._streams, self._waited = set(), True

    def waited(self) -> None:
        """Note that the host waited for all launches so far."""
        self._waited = True

    def awaits(self, stream: int) -> bool:
        """Whether a stream, by its number, has launches that nobody has waited for."""
        return not self._waited and stream in self._streams

    @property
    def notes_lines(self) -> bool:
        """Whether the next launch is to note which lines it touches."""
        return False

    def records(self, launch: Launch) -> bool:
        """Whether it wants to be told of a launch; asked of each, before it is executed."""
        return True

    def launch(self, kernel: Kernel) -> None:
        """Note a launch; from now on its CTAs are recorded when they are read, or have ended."""
        if self._waited and self._streams - {kernel.stream}:
            self._current.copy(SYNCHRONIZATION)
            self._streams = set()
        self._waited = False
        self._streams.add(kernel.stream)
        if kernel.source is None:
            kernel.ctas = self._current.kernel(kernel)
        else:
            kernel.source = partial(kernel.source, keep=self._current.running_kernel(kernel))

    def stop(self) -> None:
        """Wait for all launches, and write the trace."""
        self._device.synchronize()
        recording = self._detach()
        recording.close()
        if self._convert:
            from lockstep import api

            try:
                api.save(api.load(recording.path), self.path, self._tracer)
            finally:
                recording.path.unlink()

    def cancel(self) -> None:
        """Stop without writing anything."""
        self._detach().discard()

    @property
    def _current(self) -> "TraceRecording":
        if self._recording is None:
            raise LockstepError(f"the recording of {self.path} has ended")
        return self._recording

    def _detach(self) -> "TraceRecording":
        recording = self._current
        self._recording = self._device.recorder = None
        return recording


def check_recording(device: OwningDevice) -> None:
    """Raise :class:`LockstepError` if no trace of a device can begin now."""
    device.check_open()
    if device.timing and device.timing.continuation and device.timing.continuation.pending:
        raise LockstepError("a trace is recorded from the start of a run: without resume")
    if device.recorder is not None:
        raise LockstepError(f"already recording {device.recorder.path}")
