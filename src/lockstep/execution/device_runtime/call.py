"""A call of a function of the device runtime, and what the functions of one device share."""

import struct
from collections.abc import Hashable, Iterator
from enum import IntEnum
from itertools import count

import msgspec
import numpy as np

from lockstep.execution.device_runtime.tasks import FORGET, TAIL, GridTasks, Launchable
from lockstep.execution.launches.calling import ServiceCall
from lockstep.execution.launches.heap import Heap, ParameterBuffers
from lockstep.execution.launches.remarks import Remarks
from lockstep.execution.memory.device_memory import DeviceMemory

MOST_PENDING = 2048  # CUDA's default of cudaLimitDevRuntimePendingLaunchCount
PER_THREAD_STREAM = 2  # cudaStreamPerThread
_OF_BLOCK = (0, 1)  # the default stream by its two numbers
_FIRST_HANDLE = 1 << 16


class CudaError(IntEnum):
    """``cudaError_t``, as far as device code gets it."""

    SUCCESS = 0
    INVALID_VALUE = 1
    OUT_OF_MEMORY = 2
    INVALID_CONFIGURATION = 9
    INVALID_DIRECTION = 21
    TOO_DEEP = 65
    TOO_MANY_PENDING = 69
    INVALID_FUNCTION = 98
    INVALID_DEVICE = 101
    UNSUPPORTED_LIMIT = 215
    INVALID_HANDLE = 400
    OUT_OF_RESOURCES = 701
    NOT_SUPPORTED = 801


class CallFailed(Exception):
    """What a function returns instead of success."""

    def __init__(self, error: CudaError):
        super().__init__(error)
        self.error = error


class RuntimeState(msgspec.Struct):
    """What all launches of a device share.

    ``most_pending``: tasks of a block that may wait. ``attributes``: the device's by their numbers;
    ``index`` and ``devices``: which one it is of how many.
    """

    memory: DeviceMemory
    heap: Heap
    remarks: Remarks
    buffers: ParameterBuffers
    most_pending: int = MOST_PENDING
    attributes: np.ndarray = msgspec.field(default_factory=lambda: np.zeros(0, np.int32))
    index: int = 0
    devices: int = 1
    texts: dict[str, int] = {}  # that kernels were given, and where they are
    handles: Iterator[int] = msgspec.field(default_factory=lambda: count(_FIRST_HANDLE))


class RuntimeCall(msgspec.Struct, frozen=True):
    """One thread's call; ``grid``: what its grid has asked for so far."""

    state: RuntimeState
    call: ServiceCall
    grid: GridTasks

    @property
    def thread(self) -> Hashable:
        """The thread that calls, within its grid."""
        return self.call.cta, self.call.thread

    def kernel(self, address: int) -> Launchable:
        """The kernel at an address. Raises :class:`CallFailed` if there is none."""
        kernels = self.call.resident.kernels
        found = kernels.kernel_at(address) if kernels is not None else None
        if found is None:
            raise CallFailed(CudaError.INVALID_FUNCTION)
        return found

    def stream(self, handle: int) -> Hashable:
        """What stands for a stream in the tasks of the grid.

        Raises :class:`~.tasks.UnknownHandle` if the grid has not made it.
        """
        if handle in _OF_BLOCK:
            return self.call.cta
        if handle == PER_THREAD_STREAM:
            return self.thread
        if handle not in (TAIL, FORGET):
            self.grid.check_stream(handle)
        return handle

    def give(self, address: int, form: str, *values: int) -> None:
        """Write what the caller wants to know to where it wants it."""
        if address == 0:
            raise CallFailed(CudaError.INVALID_VALUE)
        self.call.write(address, struct.pack(form, *values))

    def text(self, text: str) -> int:
        """Address of a text in device memory."""
        places = self.state.texts
        if text not in places:
            raw = text.encode() + b"\0"
            places[text] = self.state.memory.allocate(len(raw), hidden=True)
            self.state.memory.view(places[text], len(raw))[:] = bytearray(raw)
            self.call.resident.follow(self.state.memory)
        return places[text]

    def say(self, text: str) -> None:
        """Say on stderr, once for each kernel, what was refused."""
        self.state.remarks.on_refusal(self.call.resident.program, self.call.instruction(), text)
