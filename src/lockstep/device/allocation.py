"""Arrays in the memory of a device: empty ones, with values, and in managed memory."""

from typing import Any

import numpy as np

from lockstep.device.array import DeviceArray
from lockstep.device.owner import OwningDevice
from lockstep.errors import LockstepError
from lockstep.host_calls import HostCall, Managed


def array(device: OwningDevice, values: Any) -> DeviceArray:
    """A copy of an array-like; raises :class:`LockstepError` if it has no numbers."""
    try:
        values = np.asarray(values)
    except ValueError as error:
        raise LockstepError(f"no array of numbers: {error}") from None
    made = empty(device, values.shape, values.dtype)
    made.fill(values)
    return made


def empty(device: OwningDevice, shape: int | tuple[int, ...], dtype: Any) -> DeviceArray:
    """An array without defined content.

    Raises :class:`LockstepError` for a type that holds Python objects.
    """
    device.check_open()
    shape = (int(shape),) if isinstance(shape, (int, np.integer)) else tuple(shape)
    dtype = np.dtype(dtype)
    if dtype.hasobject:
        raise LockstepError("device memory holds numbers and records, no Python objects")
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    pointer = device.memory.allocate(size, unwritten=True)
    device.asks(HostCall("allocate"))
    return DeviceArray(device, pointer, shape, dtype)


def zeros(device: OwningDevice, shape: int | tuple[int, ...], dtype: Any) -> DeviceArray:
    """An array of zeros, written by the device: no copy from the host."""
    made = empty(device, shape, dtype)
    device.memory.view(made.pointer, made.nbytes)[:] = 0
    device.memory.written(made.pointer, made.nbytes)
    return made


def managed(device: OwningDevice, values: Any) -> DeviceArray:
    """An array of an array-like in managed memory, or in other memory where no pages migrate."""
    if device.gpu.host.memory != "migrating":
        return array(device, values)
    values = np.asarray(values)
    pointer = allocate_managed(device, values.nbytes)
    device.asks(HostCall("allocate"))
    made = DeviceArray(device, pointer, values.shape, values.dtype)
    made.is_managed = True
    made.fill(values)
    return made


def allocate_managed(device: OwningDevice, size: int) -> int:
    """Address of managed memory: where pages migrate, no other memory shares one of them."""
    host = device.gpu.host
    if host.memory != "migrating":
        return device.memory.allocate(size)
    page = host.migration_bytes
    pointer = device.memory.allocate(-(-size // page) * page, alignment=page)
    device.asks(Managed(pointer, size))
    return pointer
