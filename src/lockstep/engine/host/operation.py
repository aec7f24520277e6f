"""What the host asks for in a stream."""

import msgspec

from lockstep.host_calls import MemoryCopy, RecordEvent, WaitEvent
from lockstep.workload import Command, Kernel

Enqueued = Kernel | MemoryCopy | RecordEvent | WaitEvent
"""What a stream can have."""


class Operation(msgspec.Struct, eq=False):
    """What a stream has to do. Times in picoseconds."""

    command: Enqueued
    ready: int  # it may begin then, as far as is known
    awaits: int = 0  # operations that have to end before
    followers: list["Operation"] = []
    end: int = -1  # once it is known; it may lie ahead
    over: bool = False
    before: list[Command] = []  # of a kernel: what is done to caches
    seat: int = 0  # the GPU whose stream has it

    @property
    def copy(self) -> MemoryCopy:
        """Of an operation that is one."""
        assert isinstance(self.command, MemoryCopy), "only copies have an engine"
        return self.command

    @property
    def kernel(self) -> Kernel:
        """Of an operation that is one."""
        assert isinstance(self.command, Kernel), "only kernels are launched"
        return self.command
