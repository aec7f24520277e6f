"""The status codes that programs get, from the errors of lockstep."""

from enum import IntEnum

from lockstep.device import Stopped
from lockstep.errors import LockstepError, WorkloadError
from lockstep.execution.launches.faults import LaunchError
from lockstep.execution.memory.device_memory import DeviceMemoryError


class Status(IntEnum):
    """``cudaError_t``, as far as the simulator returns it."""

    INVALID_VALUE = 1
    OUT_OF_MEMORY = 2
    INVALID_CONFIGURATION = 9
    INVALID_SYMBOL = 13
    INVALID_DEVICE = 101
    INVALID_IMAGE = 200
    NO_BINARY = 209
    PEER_ACCESS_UNSUPPORTED = 217
    INVALID_PTX = 218
    INVALID_HANDLE = 400
    NOT_FOUND = 500
    ILLEGAL_ADDRESS = 700
    LAUNCH_OUT_OF_RESOURCES = 701
    LAUNCH_TIMEOUT = 702
    PEER_ACCESS_ALREADY_ENABLED = 704
    PEER_ACCESS_NOT_ENABLED = 705
    ASSERT = 710
    HARDWARE_STACK_ERROR = 714
    MISALIGNED_ADDRESS = 716
    INVALID_PC = 718
    LAUNCH_FAILURE = 719
    COOPERATIVE_TOO_LARGE = 720
    NOT_SUPPORTED = 801
    INVALID_CLUSTER_SIZE = 912
    UNKNOWN = 999


_FAULTS = {
    "illegal_address": Status.ILLEGAL_ADDRESS,
    "misaligned": Status.MISALIGNED_ADDRESS,
    "shared_out_of_bounds": Status.ILLEGAL_ADDRESS,
    "local_out_of_bounds": Status.ILLEGAL_ADDRESS,
    "parameter_out_of_bounds": Status.ILLEGAL_ADDRESS,
    "assert": Status.ASSERT,
    "stack_overflow": Status.HARDWARE_STACK_ERROR,
    "bad_target": Status.INVALID_PC,
    "deadlock": Status.LAUNCH_TIMEOUT,
    "limit": Status.LAUNCH_TIMEOUT,
}


def status_of(error: LockstepError | MemoryError) -> Status:
    """What a program is told of an error."""
    if isinstance(error, LaunchError):
        return _FAULTS.get(error.kind, Status.LAUNCH_FAILURE)
    if isinstance(error, Stopped):
        return Status.LAUNCH_TIMEOUT
    if isinstance(error, (DeviceMemoryError, MemoryError)):
        return Status.OUT_OF_MEMORY
    if isinstance(error, WorkloadError):
        return Status.INVALID_VALUE
    return Status.LAUNCH_FAILURE
