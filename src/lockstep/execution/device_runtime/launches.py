"""Functions by which kernels launch kernels.

A launch takes a buffer, fills it with parameters, and is put into a stream. The second version of
these functions, which compilers call, knows the kernel when it takes the buffer.
"""

from msgspec.structs import replace

from lockstep.errors import WorkloadError
from lockstep.execution.device_runtime.call import CallFailed, CudaError, RuntimeCall
from lockstep.execution.device_runtime.tasks import ChildLaunch, Launchable, Prepared, Triple
from lockstep.execution.launches.geometry import Geometry
from lockstep.execution.memory.device_memory import DeviceMemoryError
from lockstep.isa.instruction import MOST_THREADS

DEEPEST = 24  # launches below one of the host: CUDA C++ Programming Guide


def take_buffer(c: RuntimeCall, alignment: int, size: int) -> int:
    """``void *cudaGetParameterBuffer(size_t alignment, size_t size)``."""
    return _take(c, None, None, size)


def take_buffer_for(c: RuntimeCall, function: int, grid: Triple, block: Triple, shared: int) -> int:
    """``void *cudaGetParameterBufferV2(function, grid, block, shared)``."""
    kernel = c.kernel(function)
    geometry = _geometry(c, kernel, grid, block, shared)
    ends = (p.offset + p.bytes for p in kernel.parameters)
    return _take(c, kernel, geometry, max(ends, default=0))


def _take(c: RuntimeCall, kernel: Launchable | None, geometry: Geometry | None, size: int) -> int:
    check_room(c, len(c.grid.buffers))
    try:
        address = c.state.buffers.take(size, c.call.resident)
    except DeviceMemoryError:
        raise CallFailed(CudaError.OUT_OF_MEMORY) from None
    c.grid.buffers[address] = Prepared(kernel, geometry, size)
    return address


def launch(
    c: RuntimeCall,
    function: int,
    buffer: int,
    grid: Triple,
    block: Triple,
    shared: int,
    stream: int,
) -> CudaError:
    """``cudaLaunchDevice``: a buffer of ``cudaGetParameterBuffer`` to a kernel."""
    kernel = c.kernel(function)
    return _put(c, kernel, _geometry(c, kernel, grid, block, shared), buffer, stream)


def launch_prepared(c: RuntimeCall, buffer: int, stream: int) -> CudaError:
    """``cudaLaunchDeviceV2``: a buffer of ``cudaGetParameterBufferV2`` to its kernel."""
    prepared = c.grid.buffers.get(buffer)
    if prepared is None or prepared.kernel is None or prepared.geometry is None:
        raise CallFailed(CudaError.INVALID_VALUE)
    return _put(c, prepared.kernel, prepared.geometry, buffer, stream)


def _put(
    c: RuntimeCall, kernel: Launchable, geometry: Geometry, buffer: int, stream: int
) -> CudaError:
    """Put a launch into a stream; its buffer is free again, whatever comes of it."""
    if buffer not in c.grid.buffers:
        raise CallFailed(CudaError.INVALID_VALUE)
    size = c.grid.buffers.pop(buffer).size
    parameters = c.call.read(buffer, size) if size else b""
    c.state.buffers.give_back(buffer, size)
    c.grid.add(ChildLaunch(kernel, geometry, parameters), c.stream(stream), c.call.cta)
    return CudaError.SUCCESS


def check_room(c: RuntimeCall, prepared: int = 0) -> None:
    """Refuse a task one too many, or too deep; ``prepared``: launches that have begun to be made.

    A GPU begins tasks while their grid runs, and counts those that wait. Here none begins before
    its grid has ended: those of other blocks are taken to have begun. Raises :class:`CallFailed`.
    """
    if c.call.resident.geometry.depth >= DEEPEST:
        c.say(f"it is {DEEPEST} launches below one of the host, so it launches nothing more")
        raise CallFailed(CudaError.TOO_DEEP)
    if c.grid.of_block(c.call.cta) + prepared >= c.state.most_pending:
        c.say(
            f"a launch one too many: {c.state.most_pending} of its block wait; "
            "cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, ...) allows more"
        )
        raise CallFailed(CudaError.TOO_MANY_PENDING)


def _geometry(
    c: RuntimeCall, kernel: Launchable, grid: Triple, block: Triple, shared: int
) -> Geometry:
    """A launch of that shape, one deeper than the caller's, with as much stack.

    Raises :class:`CallFailed` if there cannot be one.
    """
    threads = block[0] * block[1] * block[2]
    if 0 in grid + block:
        raise CallFailed(CudaError.INVALID_CONFIGURATION)
    if kernel.most_threads < threads <= MOST_THREADS:
        raise CallFailed(CudaError.OUT_OF_RESOURCES)
    try:
        geometry = kernel.geometry((grid, block, shared))
    except WorkloadError:
        raise CallFailed(CudaError.INVALID_CONFIGURATION) from None
    own = c.call.resident.geometry
    stack = max(own.stack_bytes, geometry.stack_bytes)
    return replace(geometry, depth=own.depth + 1, stack_bytes=stack)
