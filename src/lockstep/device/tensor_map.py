"""Tensor maps of arrays in device memory."""

from collections.abc import Sequence

from lockstep.device.array import DeviceArray
from lockstep.errors import WorkloadError
from lockstep.frontend.exec.tensor_maps import Tiling, encode, kind_of


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
    swizzle: int = 0,
    kind: str | None = None,
) -> TensorMap:
    """Describe an array, or what ``shape`` and ``strides`` make of its memory.

    All axes are in NumPy's order; the coordinates of a kernel are the other way round. ``box``:
    elements of a tile; ``strides``: bytes, of all axes but the last; ``steps``: of a tile's
    elements in the array; ``swizzle``: 0, 32, 64 or 128 bytes, as long as a tile's row; ``kind``:
    the element type by its PTX name, such as bf16, if NumPy does not know it.
    Raises :class:`WorkloadError` for what CUDA does not accept, or what leaves the array.
    """
    kind = kind or kind_of(array.dtype)
    sizes = tuple(map(int, array.shape if shape is None else shape))
    if strides is None:
        strides, step = [], int(kind.lstrip("bsuf")) // 8
        for size in sizes[:0:-1]:
            step *= size
            strides.insert(0, step)
    tiling = Tiling(sizes, tuple(strides), tuple(box), tuple(steps or [1] * len(sizes)), swizzle)
    made = TensorMap(encode(array.pointer, kind, tiling))
    extents = sum((n - 1) * s for n, s in zip(sizes, tiling.strides))
    if extents + sizes[-1] * (int(kind.lstrip("bsuf")) // 8) > array.nbytes:
        raise WorkloadError(f"a tensor of shape {sizes} does not fit in {array!r}")
    made.array = array
    return made
