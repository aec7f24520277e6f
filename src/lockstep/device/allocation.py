"""Arrays in the memory of a device: empty ones, and those in managed memory."""

from typing import Any

import numpy as np

from lockstep.device.array import DeviceArray
from lockstep.device.owner import OwningDevice
from lockstep.errors import LockstepError
from lockstep.host_calls import HostCall, Managed


def empty(device: OwningDevice, shape: int | tuple[int, ...], dtype: Any) -> DeviceArray:
    """An array without defined content."""
    device.check_open()
    shape = (int(shape),) if isinstance(shape, (int, np.integer)) else tuple(shape)
    dtype = np.dtype(dtype)
    if dtype.hasobject:
        raise LockstepError("device memory holds numbers and records, no Python objects")
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    pointer = device.memory.allocate(size, unwritten=True)
    device.asks(HostCall("allocate"))
    return DeviceArray(device, pointer, shape, dtype)


def managed(device: OwningDevice, values: Any) -> DeviceArray:
    """An array in managed memory of a device whose pages migrate."""
    values = np.asarray(values)
    pointer = allocate_managed(device, values.nbytes)
    device.asks(HostCall("allocate"))
    array = DeviceArray(device, pointer, values.shape, values.dtype)
    array.is_managed = True
    array.fill(values)
    return array


def allocate_managed(device: OwningDevice, size: int) -> int:
    """Address of managed memory: where pages migrate, no other memory shares one of them."""
    host = device.gpu.host
    if host.memory != "migrating":
        return device.memory.allocate(size)
    page = host.migration_bytes
    pointer = device.memory.allocate(-(-size // page) * page, alignment=page)
    device.asks(Managed(pointer, size))
    return pointer
