"""Modules of OpenCL kernels that were compiled for Southern Islands."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from lockstep.device.arguments import Parameter, pack
from lockstep.device.array import DeviceArray
from lockstep.device.cluster import ClusterError, Triple
from lockstep.device.gcn_block import (
    CONSTANT_STRIDE,
    DescriptorTables,
    block_of,
    descriptor,
    shape_of,
)
from lockstep.device.image import IMAGE_BYTES, ImageArray, sampler, sizes_of
from lockstep.device.launch import Launch
from lockstep.device.local_memory import LocalMemory
from lockstep.device.module import Configured, Kernel, Launcher, Module, three
from lockstep.device.streams import Stream
from lockstep.errors import WorkloadError
from lockstep.execution.gcn.float_mode import FloatMode
from lockstep.execution.gcn.program import translate
from lockstep.execution.gcn.source import MOST_LDS_BYTES, Source
from lockstep.execution.launches.geometry import Geometry
from lockstep.execution.programs.program import Program, Recording
from lockstep.isa.gcn import container
from lockstep.isa.gcn.decode import decode

MOST_ITEMS = 256  # of a work-group: AMD APP SDK, OpenCL on Southern Islands
MOST_GLOBAL = (1 << 32) - 1  # work-items in a dimension: constant buffer 0 has words for them
LOCAL_ALIGNMENT = 16  # bytes, of what local pointers point to: that of the widest type, float4
_POINTER, _LOCAL = "b64", "b32"
_SLOT = 16  # bytes of constant buffer 1 that an argument takes at least
_TYPES = {
    "float": "f32", "double": "f64", "i8": "s8", "u8": "u8", "i16": "s16", "u16": "u16",
    "i32": "s32", "u32": "u32", "i64": "s64", "u64": "u64",
}  # fmt: skip
_NUMPY = {"f32": "<f4", "f64": "<f8", "s": "<i", "u": "<u"}


class GcnModule(Module):
    """A loaded binary. DescriptorTables of constants are in device memory."""

    code = "machine code of Southern Islands"

    def __init__(self, device: Launcher, data: bytes, path: Path):
        super().__init__(device, str(path), data)
        self.binary = container.read(data, str(path))
        self.constants = {n: self._place(c) for n, c in self.binary.constants.items()}

    def _place(self, content: bytes) -> bytes:
        """Copy a constant buffer to the device, for as long as that lives: its descriptor."""
        memory, size = self.device.memory, -(-len(content) // CONSTANT_STRIDE) * CONSTANT_STRIDE
        address = memory.allocate(size, hidden=True)
        memory.view(address, len(content))[:] = np.frombuffer(content, np.uint8)
        return descriptor(address, size, CONSTANT_STRIDE)

    @property
    def entries(self) -> list[str]:
        """Names of its kernels."""
        return list(self.binary.kernels)

    def kernel(self, name: str) -> "GcnKernel":
        """A new kernel object for an entry."""
        return GcnKernel(self, self.binary.kernels[name])

    def variable(self, name: str) -> DeviceArray:
        """There are none with names."""
        raise WorkloadError(f"{self.name} has no variables")


class GcnKernel(Kernel):
    """A kernel of a binary: ``kernel[global_size, local_size, stream](*arguments)``."""

    module: GcnModule

    def __init__(self, module: GcnModule, kernel: container.Kernel):
        self.kernel = kernel
        if kernel.private_bytes:
            raise WorkloadError(
                f"kernel {kernel.name} keeps {kernel.private_bytes} bytes of each work-item in "
                "scratch memory, which there is not here: private arrays and spilt registers"
            )
        try:
            self._float_mode = FloatMode.of(kernel.float_mode)
        except ValueError as error:
            raise WorkloadError(f"kernel {kernel.name}: {error}") from None
        self._sizes = max((a.offset + _slot(a) for a in kernel.arguments), default=0)
        super().__init__(module, kernel.name, list(self._parameters()))

    def _parameters(self) -> Iterator[Parameter]:
        """Where arguments are in constant buffer 1; samplers, which are not there, behind it."""
        behind = self._sizes
        for argument in self.kernel.arguments:
            if argument.kind == "sampler":
                yield Parameter("u32", behind, 4, name=argument.name)
                behind += 4
            else:
                yield _parameter(argument)

    def translate(self, recording: Recording) -> Program:
        """The kernel as machine code of this host."""
        k = self.kernel
        source = Source(
            name=k.name,
            code=decode(k.code),
            vectors=k.vgprs,
            scalars=k.sgprs,
            user_scalars=k.user_sgprs,
            groups=k.group_ids,
            items=k.item_ids,
            lds_bytes=k.lds_bytes,
            float_mode=self._float_mode,
            file=self.module.name,
        )
        return translate(source, self.module.key, recording)

    @property
    def most_threads(self) -> int:
        """Work-items in the largest work-group."""
        return MOST_ITEMS

    @property
    def required_cluster(self) -> Triple | None:
        """There are no clusters."""
        return None

    def cluster(self, asked: Triple | None) -> Triple | None:
        """There are none."""
        if asked is not None and math.prod(asked) > 1:
            raise ClusterError(f"kernel {self.name}: {self.module.code} has no clusters")
        return asked

    def check_block(self, block: Triple) -> None:
        """Refuse work-groups that the kernel was not compiled for."""
        required = self.kernel.required_size
        if required is not None and block != required:
            raise WorkloadError(
                f"kernel {self.name}: work-groups of {block}; it was compiled for {required}"
            )
        if math.prod(block) > MOST_ITEMS:
            raise WorkloadError(
                f"kernel {self.name}: work-groups of {math.prod(block)} work-items; "
                f"at most {MOST_ITEMS} are possible"
            )

    def __getitem__(self, configuration: Any) -> "Range":
        """Choose the global size, the local size and optionally the stream."""
        if not isinstance(configuration, tuple) or not 2 <= len(configuration) <= 3:
            raise WorkloadError(f"kernel {self.name}: expected [global_size, local_size, stream]")
        wanted, local, stream = (*configuration, None)[:3]
        size = three(self.name, "global size", wanted)
        group = three(self.name, "local size", local)
        if max(size) > MOST_GLOBAL:
            raise WorkloadError(
                f"kernel {self.name}: a global size of {size}; at most {MOST_GLOBAL} work-items "
                "are possible in a dimension"
            )
        if any(s % g for s, g in zip(size, group)):
            raise WorkloadError(
                f"kernel {self.name}: a global size of {size} is no multiple of the local size "
                f"{group}"
            )
        grid = tuple(s // g for s, g in zip(size, group))
        return Range(self, (grid, group), self.module.device.find_stream(stream))

    def place_local(self, arguments: tuple) -> tuple[tuple, int]:
        """The arguments with offsets of local memory for its sizes; the bytes that they take."""
        first = end = -(-self.kernel.lds_bytes // LOCAL_ALIGNMENT) * LOCAL_ALIGNMENT
        placed = []
        for k, (argument, value) in enumerate(zip(self.kernel.arguments, arguments)):
            is_local = argument.kind == "pointer" and argument.space == "hl"
            if isinstance(value, LocalMemory) != is_local:
                what = f"kernel {self.name}, argument {k} ({argument.name})"
                wanted = "a size of local memory" if is_local else _expected(argument)
                raise WorkloadError(f"{what}: {wanted} is expected, not {_given(value)}")
            if isinstance(value, LocalMemory):
                placed.append(end)
                end += -(-value.bytes // LOCAL_ALIGNMENT) * LOCAL_ALIGNMENT
            else:
                placed.append(_converted(self.name, k, argument, value))
        if end > MOST_LDS_BYTES:
            raise WorkloadError(
                f"kernel {self.name}: {self.kernel.lds_bytes} bytes of LDS of its own and "
                f"{end - first} for arguments; a work-group has at most {MOST_LDS_BYTES}"
            )
        used = end - self.kernel.lds_bytes if end > first else 0
        return (*placed, *arguments[len(placed) :]), used

    def block(self, parameters: bytes, geometry: Geometry) -> np.ndarray:
        """Descriptors, constant buffers and what user registers hold."""
        arguments = bytearray(parameters[: self._sizes])
        tables = DescriptorTables(dict(self.module.constants))
        for known in self.kernel.samplers:
            tables.samplers[known.number] = sampler(known.value)
        for argument, parameter in zip(self.kernel.arguments, self.parameters):
            place = slice(parameter.offset, parameter.offset + parameter.bytes)
            given = parameters[place]
            if argument.kind == "pointer" and argument.space in ("uav", "hc"):
                arguments[place] = bytes(parameter.bytes)
                buffer = self._buffer(argument, int.from_bytes(given, "little"))
                table = tables.uavs if argument.space == "uav" else tables.constants
                table[argument.number] = buffer
            elif argument.kind == "image":
                arguments[place] = sizes_of(given)
                table = tables.uavs if argument.access == "WO" else tables.resources
                table[argument.number] = given
            elif argument.kind == "sampler":
                tables.samplers[argument.number] = sampler(int.from_bytes(given, "little"))
        whole = block_of(self.kernel, shape_of(geometry), bytes(arguments), tables)
        return np.frombuffer(whole, np.uint8).copy()

    def _buffer(self, argument: container.KernelArgument, pointer: int) -> bytes:
        """The descriptor of an argument: from its address to the end of its allocation."""
        found = self.module.device.memory.find(pointer)
        size = found[0] + found[1] - pointer if found else 0
        return descriptor(pointer, size, CONSTANT_STRIDE if argument.space == "hc" else 0)


class Range(Configured):
    """A kernel with the sizes of a launch."""

    kernel: GcnKernel

    def __init__(self, kernel: GcnKernel, shape: tuple, stream: Stream):
        self.kernel, self._shape, self.stream = kernel, shape, stream

    def __call__(self, *arguments: Any) -> Launch:
        """Launch with these arguments."""
        kernel, device = self.kernel, self.kernel.module.device
        device.check_open()
        placed, local = kernel.place_local(arguments)
        parameters = pack(kernel.name, kernel.parameters, placed)
        geometry = kernel.geometry((*self._shape, local))
        return device.launch(kernel, geometry, parameters, self.stream, arguments)


def _slot(argument: container.KernelArgument) -> int:
    """Bytes of constant buffer 1 that an argument takes."""
    return IMAGE_BYTES if argument.kind == "image" else max(argument.bytes, _SLOT)


def _parameter(argument: container.KernelArgument) -> Parameter:
    name, offset = argument.name, argument.offset
    if argument.kind == "image":
        return Parameter("b8", offset, IMAGE_BYTES, (IMAGE_BYTES,), name)
    if argument.kind == "pointer":
        local = argument.space == "hl"
        return Parameter(_LOCAL if local else _POINTER, offset, 4 if local else 8, name=name)
    kind = _TYPES.get(argument.type, "b8")
    shape = (argument.count,) if argument.count > 1 or argument.type == "struct" else ()
    return Parameter(kind, offset, argument.bytes, shape, name)


def _expected(argument: container.KernelArgument) -> str:
    if argument.kind == "pointer":
        return "an array of the device"
    if argument.kind == "image":
        return f"a {argument.type} image"
    count = f" of {argument.count}" if argument.count > 1 else ""
    return f"a value{count} of type {argument.type}"


def _holds(value: Any, type_: str) -> bool:
    """Whether an array has such elements; signs do not matter, and bytes may be anything.

    Nothing is known of memory without a type, nor of structures on either side; a complex number
    is two real ones, as of ``float2``.
    """
    kind, dtype = _TYPES.get(type_, ""), getattr(value, "dtype", None)
    if dtype is None or dtype.kind == "V" or kind[1:] in ("", "8"):
        return True
    wanted, parts = ("fc" if kind[0] == "f" else "iu"), 2 if dtype.kind == "c" else 1
    return dtype.kind in wanted and 8 * dtype.itemsize == parts * int(kind[1:])


def _given(value: Any) -> str:
    return "local memory" if isinstance(value, LocalMemory) else f"{type(value).__name__}"


def _converted(kernel: str, k: int, argument: container.KernelArgument, value: Any) -> Any:
    """A vector's elements as its bytes; other values as they are."""
    where = f"kernel {kernel}, argument {k} ({argument.name})"
    if argument.kind == "pointer" and not hasattr(value, "pointer"):
        raise WorkloadError(f"{where}: {_expected(argument)} is expected, not {_given(value)}")
    if argument.kind == "pointer" and not _holds(value, argument.type):
        raise WorkloadError(
            f"{where}: elements are of type {argument.type}, and the array's are {value.dtype}: "
            "give an array of that type, or a view of this one as such"
        )
    if argument.kind == "image":
        if not isinstance(value, ImageArray) or value.is_volume != (argument.type == "3D"):
            raise WorkloadError(f"{where}: {_expected(argument)} is expected, not {_given(value)}")
        return value.descriptor()
    vector = argument.kind == "value" and argument.count > 1 and argument.type in _TYPES
    if not vector or isinstance(value, bytes):
        return value
    kind = _TYPES[argument.type]
    element = _NUMPY.get(kind) or f"{_NUMPY[kind[0]]}{int(kind[1:]) // 8}"
    try:
        given = np.asarray(value)
        whole = given.dtype.kind in "biu" or kind[0] == "f"
        elements = np.array(given.tolist(), element) if whole else np.zeros(0)
    except (TypeError, ValueError, OverflowError):
        elements = np.zeros(0)
    if elements.shape != (argument.count,):
        raise WorkloadError(f"{where}: {_expected(argument)} is expected, not {value!r}")
    return elements.tobytes()
