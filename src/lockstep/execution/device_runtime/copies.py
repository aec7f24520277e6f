"""Functions that copy or fill device memory, in streams, and that allocate it."""

import struct

from lockstep.execution.device_runtime.call import CallFailed, CudaError, RuntimeCall
from lockstep.execution.device_runtime.launches import check_room
from lockstep.execution.device_runtime.tasks import ByteRows, DeviceTransfer, Triple

_BETWEEN_DEVICE_MEMORY = (3, 4)  # cudaMemcpyDeviceToDevice, cudaMemcpyDefault
_PARAMETERS = "<Q3Q4QQ3Q4Q3QI"  # cudaMemcpy3DParms


def copy(c: RuntimeCall, to: int, source: int, size: int, kind: int, stream: int) -> CudaError:
    """``cudaMemcpyAsync``."""
    return _copy(c, ByteRows(to), ByteRows(source), (size, 1, 1), kind, stream)


def copy_rows(
    c: RuntimeCall,
    to: int,
    pitch: int,
    source: int,
    source_pitch: int,
    width: int,
    height: int,
    kind: int,
    stream: int,
) -> CudaError:
    """``cudaMemcpy2DAsync``."""
    if width > pitch or width > source_pitch:
        raise CallFailed(CudaError.INVALID_VALUE)
    target, origin = ByteRows(to, pitch), ByteRows(source, source_pitch)
    return _copy(c, target, origin, (width, height, 1), kind, stream)


def copy_box(c: RuntimeCall, parameters: int, stream: int) -> CudaError:
    """``cudaMemcpy3DAsync``, without arrays."""
    content = c.call.read(parameters, struct.calcsize(_PARAMETERS))
    numbers = struct.unpack(_PARAMETERS, content)
    source, target = numbers[:8], numbers[8:16]
    extent, kind = numbers[16:19], numbers[19]
    if source[0] or target[0]:
        raise CallFailed(CudaError.NOT_SUPPORTED)
    return _copy(c, _box(target), _box(source), extent, kind, stream)


def _box(numbers: tuple[int, ...]) -> ByteRows:
    """Of cudaMemcpy3DParms: an array, a position (x in bytes, y, z), a pitched pointer."""
    _, x, y, z, address, pitch, _, height = numbers
    return ByteRows(ByteRows(address, pitch, pitch * height).at(y, z) + x, pitch, pitch * height)


def fill(c: RuntimeCall, to: int, value: int, size: int, stream: int) -> CudaError:
    """``cudaMemsetAsync``."""
    return _put(c, DeviceTransfer(ByteRows(to), None, value & 0xFF, (size, 1, 1)), stream)


def fill_rows(
    c: RuntimeCall, to: int, pitch: int, value: int, width: int, height: int, stream: int
) -> CudaError:
    """``cudaMemset2DAsync``."""
    if width > pitch:
        raise CallFailed(CudaError.INVALID_VALUE)
    size = width, height, 1
    return _put(c, DeviceTransfer(ByteRows(to, pitch), None, value & 0xFF, size), stream)


def fill_box(
    c: RuntimeCall, pointer: tuple[int, int, int, int], value: int, extent: Triple, stream: int
) -> CudaError:
    """``cudaMemset3DAsync``."""
    address, pitch, _, height = pointer
    if extent[0] > pitch or extent[1] > height:
        raise CallFailed(CudaError.INVALID_VALUE)
    rows = ByteRows(address, pitch, pitch * height)
    return _put(c, DeviceTransfer(rows, None, value & 0xFF, extent), stream)


def _copy(
    c: RuntimeCall, target: ByteRows, source: ByteRows, size: Triple, kind: int, stream: int
) -> CudaError:
    if kind not in _BETWEEN_DEVICE_MEMORY:
        raise CallFailed(CudaError.INVALID_DIRECTION)
    return _put(c, DeviceTransfer(target, source, 0, size), stream)


def _put(c: RuntimeCall, transfer: DeviceTransfer, stream: int) -> CudaError:
    check_room(c)
    c.grid.add(transfer, c.stream(stream), c.call.cta)
    return CudaError.SUCCESS


def allocate(c: RuntimeCall, to: int, size: int) -> CudaError:
    """``cudaMalloc``, from the heap of ``malloc``."""
    address = c.state.heap.allocate(size, c.call.resident)
    if size and not address:
        raise CallFailed(CudaError.OUT_OF_MEMORY)
    c.give(to, "<Q", address)
    return CudaError.SUCCESS


def free(c: RuntimeCall, address: int) -> CudaError:
    """``cudaFree`` of what device code allocated, or of null."""
    if address and not c.state.heap.free(address, c.call.resident):
        raise CallFailed(CudaError.INVALID_VALUE)
    return CudaError.SUCCESS
