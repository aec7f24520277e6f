"""Arrays in device memory."""

from typing import Any, Self

import numpy as np

from lockstep.device.owner import OwningDevice
from lockstep.device.peers import copy_between
from lockstep.device.streams import Stream
from lockstep.errors import LockstepError
from lockstep.host_calls import Direction, HostAccess, Managed, MemoryCopy, Synchronize


class DeviceArray:
    """``shape`` elements of ``dtype`` in device memory, C order.

    The memory is freed with the object, if the array owns it; a part of an array (``x[10:20]``)
    shares its memory and keeps it alive. ``np.asarray(x)`` copies it to the host, as ``numpy``
    does, so that every function of NumPy takes it. There is no ``__cuda_array_interface__``: no
    other library could use these addresses as a GPU's.
    """

    def __init__(
        self, device: OwningDevice, pointer: int, shape: Any, dtype: Any, owner: Any = None
    ):
        """``owner`` is kept; the array itself owns its memory if it is None."""
        self.device, self.pointer = device, pointer
        self.shape = (int(shape),) if isinstance(shape, (int, np.integer)) else tuple(shape)
        self.dtype = np.dtype(dtype)
        self._owner = owner
        self.is_managed = getattr(owner, "is_managed", False)  # its pages may be the host's

    @property
    def size(self) -> int:
        """Elements."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def nbytes(self) -> int:
        """Bytes."""
        return self.size * self.dtype.itemsize

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("an array without axes has no length")
        return self.shape[0]

    def __repr__(self) -> str:
        shape = ", ".join(map(str, self.shape))
        return f"<DeviceArray {self.dtype}[{shape}] at {self.pointer:#x} of {self.device.gpu.name}>"

    def __getitem__(self, part: int | slice) -> Self:
        """Elements of the first axis, in place: ``x[5]``, ``x[10:20]``; steps are not possible."""
        if isinstance(part, (int, np.integer)):
            first = int(part) + len(self) * (part < 0)
            if not 0 <= first < len(self):
                raise IndexError(f"{part} is outside the {len(self)} rows of the array")
            return self._part(first, self.shape[1:] or (1,))
        first, last, step = part.indices(len(self))
        if step != 1:
            raise LockstepError(f"a part of a device array has no steps; {part} has")
        return self._part(first, (max(last - first, 0), *self.shape[1:]))

    def _part(self, first: int, shape: tuple[int, ...]) -> Self:
        row = self.nbytes // max(len(self), 1)
        return type(self)(self.device, self.pointer + first * row, shape, self.dtype, owner=self)

    def view(self, dtype: Any) -> Self:
        """The same memory as a row of elements of another type.

        Raises :class:`LockstepError` unless that is a whole number of them.
        """
        dtype = np.dtype(dtype)
        if dtype.hasobject or not dtype.itemsize or self.nbytes % dtype.itemsize:
            raise LockstepError(f"{self.nbytes} bytes are no whole number of elements of {dtype}")
        count = self.nbytes // dtype.itemsize
        return type(self)(self.device, self.pointer, count, dtype, owner=self)

    def numpy(self) -> np.ndarray:
        """A copy on the host, after all launches so far."""
        if self.is_managed:
            self.device.asks(Synchronize())
            self.device.asks(HostAccess(self.pointer, self.nbytes))
        else:
            self.device.asks(MemoryCopy(self.pointer, self.nbytes, Direction.TO_HOST))
        self.device.drain()
        return self._view().copy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """A copy on the host, after all launches so far; ``copy=False`` is refused, as by NumPy."""
        if copy is False:
            raise ValueError("an array in device memory cannot be read without a copy")
        values = self.numpy()
        return values if dtype is None else values.astype(dtype, copy=False)

    def copy_from(self, values: Any, stream: Stream | None = None) -> None:
        """Fill the array after all launches so far; ``values`` must broadcast to its shape.

        With a stream, where the host takes time (``gpu.host.copy``): after what the stream has so
        far, while the host and other streams go on. ``values`` are those of now; or an array of
        another device of the same system, from which the data come when the stream is there.
        """
        if isinstance(values, DeviceArray) and values.device is not self.device:
            self._copy_from_peer(values, stream)
            return
        _check_stream(stream, self.device)
        if stream is None or not self.device.host_takes_time:
            self.device.drain()
            self.fill(values)
            return
        content = np.empty(self.shape, self.dtype)
        self._assign(content, values)

        def perform() -> None:
            self.device.memory.written(self.pointer, self.nbytes)
            self._view()[...] = content

        copy = MemoryCopy(self.pointer, self.nbytes, Direction.TO_DEVICE, stream.number, False,
                          perform)  # fmt: skip
        self.device.will_copy(copy, content.data)

    def _copy_from_peer(self, source: "DeviceArray", stream: Stream | None) -> None:
        """The host waits if there is no stream; else it may be of either device."""
        if (source.shape, source.dtype) != (self.shape, self.dtype):
            raise LockstepError(
                f"an array of {source.dtype}{list(source.shape)} does not fit one of "
                f"{self.dtype}{list(self.shape)}"
            )

        def perform() -> None:
            self._view()[...] = source._view()
            self.device.memory.written(self.pointer, self.nbytes)

        _check_stream(stream, source.device, self.device)
        owner = source.device if stream is None else stream.device
        place = (owner, stream.number if stream else 0, stream is None)
        ends = (self.device, self.pointer), (source.device, source.pointer)
        copy_between(*ends, self.nbytes, place, perform)

    def copy_to(self, out: np.ndarray, stream: Stream | None = None) -> None:
        """Copy the array to one of the host, of the same shape, after all launches so far.

        With a stream as in :meth:`copy_from`: ``out`` is filled when the stream is waited for.
        Raises :class:`LockstepError` for another shape.
        """
        if out.shape != self.shape:
            raise LockstepError(f"an array of shape {out.shape} for values of shape {self.shape}")
        _check_stream(stream, self.device)
        if stream is None or not self.device.host_takes_time:
            out[...] = self.numpy()
            return

        def perform() -> None:
            out[...] = self._view()

        self.device.asks(
            MemoryCopy(self.pointer, self.nbytes, Direction.TO_HOST, stream.number, False, perform)
        )

    def fill(self, values: Any) -> None:
        """Fill the array now, whether or not queued launches still use it."""
        self._assign(self._view(), values)
        self.device.memory.written(self.pointer, self.nbytes)
        if self.is_managed:
            self.device.asks(HostAccess(self.pointer, self.nbytes))
        else:
            self.device.copied(self.pointer, self.nbytes)

    def _assign(self, view: np.ndarray, values: Any) -> None:
        try:
            view[...] = values
        except ValueError:
            given = np.shape(values)
            raise LockstepError(f"values of shape {given} do not fit {self.shape}") from None

    def _view(self) -> np.ndarray:
        raw = self.device.memory.view(self.pointer, self.nbytes)
        return raw.view(self.dtype).reshape(self.shape)

    def __del__(self) -> None:
        device = getattr(self, "device", None)
        if device is not None and self._owner is None and device.memory.base:
            if self.is_managed:
                device.asks(Managed(self.pointer, self.nbytes, managed=False))
            device.memory.free(self.pointer)


def _check_stream(stream: Any, *devices: OwningDevice) -> None:
    """Raise :class:`LockstepError` for what is no stream of these devices."""
    if stream is not None and getattr(stream, "device", None) not in devices:
        raise LockstepError(f"{stream!r} is no stream of a device whose memory is copied")
