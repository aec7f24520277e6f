"""Functions about streams and events of device code."""

from lockstep.execution.device_runtime.call import CallFailed, CudaError, RuntimeCall
from lockstep.execution.device_runtime.tasks import FORGET, TAIL

_NON_BLOCKING, _DISABLE_TIMING = 1, 2  # the only flags that there are in device code


def create_stream(c: RuntimeCall, to: int, flags: int) -> CudaError:
    """``cudaStreamCreateWithFlags``."""
    if flags != _NON_BLOCKING:
        raise CallFailed(CudaError.INVALID_VALUE)
    handle = next(c.state.handles)
    c.give(to, "<Q", handle)
    c.grid.open_stream(handle)
    return CudaError.SUCCESS


def destroy_stream(c: RuntimeCall, stream: int) -> CudaError:
    """``cudaStreamDestroy``: what is in it will be done."""
    c.grid.close_stream(stream)
    return CudaError.SUCCESS


def create_event(c: RuntimeCall, to: int, flags: int) -> CudaError:
    """``cudaEventCreateWithFlags``."""
    if flags != _DISABLE_TIMING:
        raise CallFailed(CudaError.INVALID_VALUE)
    handle = next(c.state.handles)
    c.give(to, "<Q", handle)
    c.grid.open_event(handle)
    return CudaError.SUCCESS


def destroy_event(c: RuntimeCall, event: int) -> CudaError:
    """``cudaEventDestroy``."""
    c.grid.close_event(event)
    return CudaError.SUCCESS


def record_event(c: RuntimeCall, event: int, stream: int) -> CudaError:
    """``cudaEventRecord``."""
    _refuse_named(stream)
    c.grid.record(event, c.stream(stream))
    return CudaError.SUCCESS


def wait_event(c: RuntimeCall, stream: int, event: int, flags: int) -> CudaError:
    """``cudaStreamWaitEvent``."""
    if flags:
        raise CallFailed(CudaError.INVALID_VALUE)
    _refuse_named(stream)
    c.grid.wait(c.stream(stream), event)
    return CudaError.SUCCESS


def _refuse_named(stream: int) -> None:
    """The two streams with names have no events (CUDA C++ Programming Guide)."""
    if stream in (TAIL, FORGET):
        raise CallFailed(CudaError.INVALID_VALUE)
