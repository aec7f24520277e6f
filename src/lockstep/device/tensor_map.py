"""Tensor maps of arrays in device memory."""

from collections.abc import Sequence

from lockstep.device.array import DeviceArray
from lockstep.errors import WorkloadError
from lockstep.execution.memory.tensor_maps import (
    Im2colColumn,
    Tensor,
    bytes_of,
    encode,
    extent,
    kind_of,
)


class TensorMap(bytes):
    """The 128 bytes of a tensor map: an argument for ``const __grid_constant__ CUtensorMap``.

    For a kernel that takes a pointer to one, copy them to the device as an array of bytes.
    """

    array: DeviceArray  # kept alive


def tensor_map(
    array: DeviceArray,
    box: Sequence[int],
    *,
    shape: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
    steps: Sequence[int] | None = None,
    interleave: int = 0,
    swizzle: int = 0,
    fill: str = "zero",
    kind: str | None = None,
) -> TensorMap:
    """Describe an array, or what ``shape`` and ``strides`` make of its memory.

    All axes are in NumPy's order; the coordinates of a kernel are the other way round. ``box``:
    elements that a tile spans; ``strides``: bytes, of all axes but the last; ``steps``: 2 takes
    every other of the box's elements; ``interleave``: 0, 16 or 32 bytes, the axes are then N, C,
    D and H if they exist, and W; ``swizzle``: 0, 32, 64 or 128 bytes, no less than a tile's row;
    ``fill``: zero or nan, what is outside; ``kind``: the element type by its PTX name, such as
    bf16, if NumPy does not know it.
    Raises :class:`WorkloadError` for what CUDA does not accept, or what leaves the array.
    """
    tensor = _tensor(array, shape, strides, steps, (interleave, swizzle, fill, kind))
    return _made(array, tensor, tuple(map(int, box))[::-1])


def im2col_map(
    array: DeviceArray,
    channels: int,
    pixels: int,
    *,
    lower: Sequence[int],
    upper: Sequence[int],
    shape: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
    steps: Sequence[int] | None = None,
    interleave: int = 0,
    swizzle: int = 0,
    fill: str = "zero",
    kind: str | None = None,
) -> TensorMap:
    """Describe a batch of images (NWC, NHWC or NDHWC) for copies in im2col mode.

    A copy takes ``channels`` of ``pixels`` pixels, which it finds in a bounding box: from
    ``lower`` to ``upper``, elements from the first and the last one on; as all axes, D, H, W. The
    other options, and what is raised: :func:`tensor_map`.
    """
    tensor = _tensor(array, shape, strides, steps, (interleave, swizzle, fill, kind))
    first, last = (tuple(map(int, corner))[::-1] for corner in (lower, upper))
    return _made(array, tensor, Im2colColumn(first, last, channels, pixels))


def _tensor(
    array: DeviceArray,
    shape: Sequence[int] | None,
    strides: Sequence[int] | None,
    steps: Sequence[int] | None,
    options: tuple[int, int, str, str | None],
) -> Tensor:
    interleave, swizzle, fill, kind = options
    kind = kind or kind_of(array.dtype)
    sizes = tuple(map(int, array.shape if shape is None else shape))
    if strides is None:
        if interleave:
            raise WorkloadError("a tensor map with an interleave needs shape and strides")
        strides = _dense(sizes, bytes_of(kind))
    return Tensor(
        array.pointer,
        kind,
        sizes[::-1],
        tuple(map(int, strides))[::-1],
        tuple(map(int, steps or [1] * len(sizes)))[::-1],
        interleave,
        swizzle,
        fill,
    )


def _dense(sizes: tuple[int, ...], step: int) -> list[int]:
    strides: list[int] = []
    for size in sizes[:0:-1]:
        step *= size
        strides.insert(0, step)
    return strides


def _made(array: DeviceArray, tensor: Tensor, box: tuple[int, ...] | Im2colColumn) -> TensorMap:
    made = TensorMap(encode(tensor, box))
    if extent(tensor) > array.nbytes:
        sizes = tensor.sizes[::-1]
        raise WorkloadError(f"a tensor of shape {sizes} does not fit in {array!r}")
    made.array = array
    return made
