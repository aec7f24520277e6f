"""The functions of CUDA's device runtime by their names."""

from collections.abc import Callable

from lockstep.execution.device_runtime import copies, error_texts, launches, queries, streams
from lockstep.execution.device_runtime.call import (
    PER_THREAD_STREAM,
    CallFailed,
    CudaError,
    RuntimeCall,
    RuntimeState,
)
from lockstep.execution.device_runtime.tasks import GridTasks, UnknownHandle
from lockstep.execution.launches.calling import ServiceCall
from lockstep.execution.programs.services import CUDA, PER_THREAD, TABLE

_FUNCTIONS: dict[str, Callable[..., int]] = {
    "GetParameterBuffer": launches.take_buffer,
    "GetParameterBufferV2": launches.take_buffer_for,
    "LaunchDevice": launches.launch,
    "LaunchDeviceV2": launches.launch_prepared,
    "StreamCreateWithFlags": streams.create_stream,
    "StreamDestroy": streams.destroy_stream,
    "StreamWaitEvent": streams.wait_event,
    "EventCreateWithFlags": streams.create_event,
    "EventRecord": streams.record_event,
    "EventDestroy": streams.destroy_event,
    "MemcpyAsync": copies.copy,
    "Memcpy2DAsync": copies.copy_rows,
    "Memcpy3DAsync": copies.copy_box,
    "MemsetAsync": copies.fill,
    "Memset2DAsync": copies.fill_rows,
    "Memset3DAsync": copies.fill_box,
    "Malloc": copies.allocate,
    "Free": copies.free,
    "GetErrorName": error_texts.error_name,
    "GetErrorString": error_texts.error_string,
    "GetLastError": queries.last_error,
    "PeekAtLastError": queries.peek_at_error,
    "GetDevice": queries.device,
    "GetDeviceCount": queries.device_count,
    "DeviceGetAttribute": queries.device_attribute,
    "DeviceGetLimit": queries.limit,
    "DeviceGetCacheConfig": queries.cache_config,
    "DeviceGetSharedMemConfig": queries.bank_size,
    "RuntimeGetVersion": queries.version,
    "FuncGetAttributes": queries.function_attributes,
    "OccupancyMaxActiveBlocksPerMultiprocessor": queries.occupancy,
    "OccupancyMaxActiveBlocksPerMultiprocessorWithFlags": queries.occupancy_with_flags,
}
_ADDRESSES = (launches.take_buffer, launches.take_buffer_for)  # give null instead of an error
_STREAM_COMES_FIRST = (streams.wait_event,)


def perform(state: RuntimeState, name: str, call: ServiceCall) -> int:
    """Execute a function for a thread; what it returns. An error becomes the thread's last one."""
    function = _FUNCTIONS[name.removeprefix(CUDA).removesuffix(PER_THREAD)]
    values = call.values(TABLE[name])
    if name.endswith(PER_THREAD):
        place = 0 if function in _STREAM_COMES_FIRST else -1
        values[place] = values[place] or PER_THREAD_STREAM
    if call.resident.tasks is None:
        call.resident.tasks = GridTasks()
    made = RuntimeCall(state, call, call.resident.tasks)
    try:
        return function(made, *values)
    except CallFailed as failure:
        error = failure.error
    except UnknownHandle:
        error = CudaError.INVALID_HANDLE
    made.grid.errors[made.thread] = error
    return 0 if function in _ADDRESSES else error
