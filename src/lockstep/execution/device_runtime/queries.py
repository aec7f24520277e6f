"""Functions that tell of errors, the device, and kernels."""

from lockstep.errors import WorkloadError
from lockstep.execution.device_runtime.call import CallFailed, CudaError, RuntimeCall
from lockstep.execution.device_runtime.tasks import Launchable

_PRINTF_BYTES = 1 << 20  # CUDA's default of cudaLimitPrintfFifoSize
_MOST_SHARED = 97  # cudaDevAttrMaxSharedMemoryPerBlockOptin
_SMS = 16  # cudaDevAttrMultiProcessorCount
_MAJOR, _MINOR = 75, 76  # cudaDevAttrComputeCapability
_VERSION = 13000  # of CUDA
_FOUR_BYTES = 1  # cudaSharedMemBankSizeFourByte
_MANY = (1 << 20, 1, 1)  # a grid that fills every GPU


def last_error(c: RuntimeCall) -> int:
    """``cudaGetLastError``: it is forgotten."""
    return c.grid.errors.pop(c.thread, CudaError.SUCCESS)


def peek_at_error(c: RuntimeCall) -> int:
    """``cudaPeekAtLastError``."""
    return c.grid.errors.get(c.thread, CudaError.SUCCESS)


def device(c: RuntimeCall, to: int) -> CudaError:
    """``cudaGetDevice``."""
    c.give(to, "<i", c.state.index)
    return CudaError.SUCCESS


def device_count(c: RuntimeCall, to: int) -> CudaError:
    """``cudaGetDeviceCount``."""
    c.give(to, "<i", c.state.devices)
    return CudaError.SUCCESS


def device_attribute(c: RuntimeCall, to: int, attribute: int, number: int) -> CudaError:
    """``cudaDeviceGetAttribute`` of the device that the kernel runs on."""
    if number != c.state.index:
        raise CallFailed(CudaError.INVALID_DEVICE)
    if not 0 < attribute < len(c.state.attributes):
        raise CallFailed(CudaError.INVALID_VALUE)
    c.give(to, "<i", int(c.state.attributes[attribute]))
    return CudaError.SUCCESS


def limit(c: RuntimeCall, to: int, which: int) -> CudaError:
    """``cudaDeviceGetLimit`` of stack, buffer of printf, heap and pending launches."""
    limits = {
        0: c.call.resident.geometry.stack_bytes,
        1: _PRINTF_BYTES,
        2: c.state.heap.bytes,
        4: c.state.most_pending,
    }
    if which not in limits:
        raise CallFailed(CudaError.UNSUPPORTED_LIMIT)
    c.give(to, "<Q", limits[which])
    return CudaError.SUCCESS


def cache_config(c: RuntimeCall, to: int) -> CudaError:
    """``cudaDeviceGetCacheConfig``: no preference."""
    c.give(to, "<I", 0)
    return CudaError.SUCCESS


def bank_size(c: RuntimeCall, to: int) -> CudaError:
    """``cudaDeviceGetSharedMemConfig``: four bytes, as on all GPUs since Maxwell."""
    c.give(to, "<I", _FOUR_BYTES)
    return CudaError.SUCCESS


def version(c: RuntimeCall, to: int) -> CudaError:
    """``cudaRuntimeGetVersion``."""
    c.give(to, "<i", _VERSION)
    return CudaError.SUCCESS


def function_attributes(c: RuntimeCall, to: int, function: int) -> CudaError:
    """``cudaFuncGetAttributes``, but for what is reserved in cudaFuncAttributes."""
    kernel = c.kernel(function)
    program = kernel.program
    code_version = 10 * int(c.state.attributes[_MAJOR]) + int(c.state.attributes[_MINOR])
    cluster = kernel.required_cluster
    most = int(c.state.attributes[_MOST_SHARED]) - program.shared_bytes
    sizes = program.shared_bytes, 0, program.local_bytes
    code = kernel.most_threads, program.registers, code_version, code_version
    clusters = cluster is not None, *(cluster or (0, 0, 0))
    c.give(to, "<3Q13i", *sizes, *code, 0, most, -1, *clusters, 0, 0)
    return CudaError.SUCCESS


def occupancy(c: RuntimeCall, to: int, function: int, threads: int, shared: int) -> CudaError:
    """``cudaOccupancyMaxActiveBlocksPerMultiprocessor``."""
    c.give(to, "<i", _ctas_of_sm(c, c.kernel(function), threads, shared))
    return CudaError.SUCCESS


def occupancy_with_flags(
    c: RuntimeCall, to: int, function: int, threads: int, shared: int, flags: int
) -> CudaError:
    """``cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags``: no flag changes anything here."""
    return occupancy(c, to, function, threads, shared)


def _ctas_of_sm(c: RuntimeCall, kernel: Launchable, threads: int, shared: int) -> int:
    if not threads:
        raise CallFailed(CudaError.INVALID_VALUE)
    try:
        places = kernel.geometry((_MANY, (threads, 1, 1), shared)).places
    except WorkloadError:
        return 0
    return places // int(c.state.attributes[_SMS])
