"""What CUDA calls the errors that device code gets, and what it says of them."""

from lockstep.execution.device_runtime.call import CudaError, RuntimeCall

_UNKNOWN = ("unrecognized error code",) * 2
ERRORS: dict[int, tuple[str, str]] = {
    CudaError.SUCCESS: ("cudaSuccess", "no error"),
    CudaError.INVALID_VALUE: ("cudaErrorInvalidValue", "invalid argument"),
    CudaError.OUT_OF_MEMORY: ("cudaErrorMemoryAllocation", "out of memory"),
    CudaError.INVALID_CONFIGURATION: (
        "cudaErrorInvalidConfiguration",
        "invalid configuration argument",
    ),
    CudaError.INVALID_DIRECTION: (
        "cudaErrorInvalidMemcpyDirection",
        "invalid copy direction for memcpy",
    ),
    CudaError.TOO_DEEP: (
        "cudaErrorLaunchMaxDepthExceeded",
        "launch would exceed maximum depth of nested launches",
    ),
    CudaError.TOO_MANY_PENDING: (
        "cudaErrorLaunchPendingCountExceeded",
        "launch failed because launch would exceed cudaLimitDevRuntimePendingLaunchCount",
    ),
    CudaError.INVALID_FUNCTION: ("cudaErrorInvalidDeviceFunction", "invalid device function"),
    CudaError.INVALID_DEVICE: ("cudaErrorInvalidDevice", "invalid device ordinal"),
    CudaError.UNSUPPORTED_LIMIT: (
        "cudaErrorUnsupportedLimit",
        "limit is not supported on this architecture",
    ),
    CudaError.INVALID_HANDLE: ("cudaErrorInvalidResourceHandle", "invalid resource handle"),
    CudaError.OUT_OF_RESOURCES: (
        "cudaErrorLaunchOutOfResources",
        "too many resources requested for launch",
    ),
    CudaError.NOT_SUPPORTED: ("cudaErrorNotSupported", "operation not supported"),
}


def error_name(c: RuntimeCall, error: int) -> int:
    """``cudaGetErrorName``."""
    return c.text(ERRORS.get(error, _UNKNOWN)[0])


def error_string(c: RuntimeCall, error: int) -> int:
    """``cudaGetErrorString``."""
    return c.text(ERRORS.get(error, _UNKNOWN)[1])
