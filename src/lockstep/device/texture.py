"""Textures and surfaces in device memory."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from lockstep.device.owner import OwningDevice
from lockstep.errors import WorkloadError
from lockstep.execution.memory.textures import (
    HEADER_BYTES,
    Sampling,
    address_of,
    describe,
    place,
    remove,
    sampler,
)


class Texture:
    """A texture object, or a surface object: what a kernel takes as a 64-bit parameter.

    ``values``: (depth, layers or faces,) (height,) width, and last the channels, if there are
    several. ``levels``: the further levels of detail, likewise. ``cube``: six faces for each layer.
    ``samples``: of each element; if there are several, their axis comes after the width.
    ``normalized_values``: integers are read as numbers from 0 (or -1) to 1. The other arguments are
    those of :class:`Sampler`.
    """

    def __init__(
        self,
        device: OwningDevice,
        values: Any,
        filter: str = "point",
        address: str | tuple[str, ...] = "clamp",
        normalized: bool = False,
        *,
        channels: int = 1,
        layered: bool = False,
        cube: bool = False,
        normalized_values: bool = False,
        samples: int = 1,
        levels: Sequence[Any] = (),
        **sampling: Any,
    ):
        how = Sampling(filter, _modes(address), normalized, **sampling)
        all_levels = [np.ascontiguousarray(v) for v in (values, *levels)]
        records = [
            describe(
                _elements(v.shape, samples, channels),
                v.dtype,
                how,
                channels=channels,
                layered=layered,
                normalized_values=normalized_values,
                cube=cube,
                samples=samples,
            )
            for v in all_levels
        ]
        self.device, self.shape, self.dtype = device, all_levels[0].shape, all_levels[0].dtype
        device.synchronize()
        raw = [v.reshape(-1).view(np.uint8) for v in all_levels]
        self.handle = place(device.memory, np.concatenate(records), raw)
        self.address = address_of(device.memory, self.handle)
        self._elements = self.address + len(records) * HEADER_BYTES
        size = self._elements - self.address + sum(len(own) for own in raw)
        device.copied(self.address, size)

    def __repr__(self) -> str:
        return f"<Texture {self.dtype}{list(self.shape)} at {self.address:#x}>"

    def numpy(self) -> np.ndarray:
        """A copy of the elements on the host, after all launches so far."""
        self.device.synchronize()
        size = int(np.prod(self.shape)) * self.dtype.itemsize
        memory = self.device.memory.view(self._elements, size)
        return memory.view(self.dtype).reshape(self.shape).copy()

    def __del__(self) -> None:
        if getattr(self, "handle", 0) and self.device.memory.base:
            remove(self.device.memory, self.handle)


class Sampler:
    """How textures are read that are named apart: a 64-bit parameter, or bound to a reference.

    ``filter`` is point or linear. ``address`` is wrap, clamp, mirror or border, or a tuple with one
    for each of x, y, z. ``normalized``: coordinates go from 0 to 1. ``level_filter``,
    ``level_bias`` and ``level_limits`` choose among levels of detail. ``compare`` is never, less,
    equal, less_equal, greater, not_equal, greater_equal or always: what a depth that an instruction
    names must be to the texture's elements, for the result to be 1 and not 0.
    """

    def __init__(
        self,
        device: OwningDevice,
        filter: str = "point",
        address: str | tuple[str, ...] = "clamp",
        normalized: bool = False,
        **sampling: Any,
    ):
        self.device = device
        record = sampler(Sampling(filter, _modes(address), normalized, **sampling))
        device.synchronize()
        self.handle = place(device.memory, record)
        device.copied(address_of(device.memory, self.handle), HEADER_BYTES)

    def __del__(self) -> None:
        if getattr(self, "handle", 0) and self.device.memory.base:
            remove(self.device.memory, self.handle)


def _elements(shape: tuple[int, ...], samples: int, channels: int) -> tuple[int, ...]:
    """The shape of an array without its axes of samples and channels."""
    inner = {"samples": samples, "channels": channels}
    inner = {name: count for name, count in inner.items() if count > 1}
    if inner and shape[len(shape) - len(inner) :] != tuple(inner.values()):
        wanted = " and ".join(f"{count} {name}" for name, count in inner.items())
        raise WorkloadError(f"values of shape {shape} have no last axes for {wanted}")
    return shape[: len(shape) - len(inner)]


def _modes(address: str | tuple[str, ...]) -> tuple[str, ...]:
    """Address modes of the three axes."""
    return (address,) * 3 if isinstance(address, str) else (*address, "clamp", "clamp")[:3]
