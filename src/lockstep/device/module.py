"""Modules of device code, their kernels and variables."""

import hashlib
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from lockstep.device.arguments import pack
from lockstep.device.array import DeviceArray
from lockstep.device.launch import Launch
from lockstep.device.limits import check_directives, places
from lockstep.device.streams import Stream
from lockstep.errors import WorkloadError
from lockstep.frontend.exec.launch import Executor
from lockstep.frontend.exec.ptx.callgraph import function_address
from lockstep.frontend.exec.ptx.translate import translate
from lockstep.frontend.exec.resident import Geometry
from lockstep.isa.ptx import syntax

if TYPE_CHECKING:
    from lockstep.device.device import Device

Shape = tuple[tuple[int, int, int], tuple[int, int, int], int]
"""Grid, block, bytes of dynamic shared memory."""

_DTYPES = {"f32": "f4", "f64": "f8", "f16": "f2", "pred": "?"}


class Module:
    """A loaded PTX module: kernels by name, and its variables in device memory."""

    def __init__(self, device: "Device", tree: syntax.Module, text: str):
        self.device, self.tree = device, tree
        self.key = hashlib.sha256(text.encode()).hexdigest()
        self.addresses: dict[str, int] = {}
        self._kernels: dict[str, Kernel] = {}
        for variable in tree.variables.values():
            if variable.space in ("global", "const"):
                size = max(variable.bytes, 1)
                self.addresses[variable.name] = device.memory.allocate(
                    size, max(variable.alignment, 256)
                )
        for variable in tree.variables.values():
            if variable.name in self.addresses:
                self._initialise(variable)

    def _initialise(self, variable: syntax.Variable) -> None:
        content = bytearray()
        size = syntax.type_bytes(variable.type)
        for value in variable.initial:
            if isinstance(value, syntax.Symbol):
                number = self._address(value.name) + value.offset
            else:
                number = _pattern(value, variable.type)
            content += (number & ((1 << 8 * size) - 1)).to_bytes(size, "little")
        memory = self.device.memory.view(self.addresses[variable.name], max(variable.bytes, 1))
        memory[:] = 0
        memory[: len(content)] = np.frombuffer(bytes(content), np.uint8)

    def _address(self, name: str) -> int:
        """The address of a variable, or what programs take for that of a function."""
        if name in self.addresses:
            return self.addresses[name]
        return function_address(self.tree, name)

    def __getitem__(self, name: str) -> "Kernel":
        """A kernel of the module, by its name or, if one only has it, its C++ name."""
        if name not in self._kernels:
            self._kernels[name] = Kernel(self, self.tree.functions[self._entry(name)])
        return self._kernels[name]

    def _entry(self, name: str) -> str:
        if name in self.tree.entries:
            return name
        mangled = [e for e in self.tree.entries if e.startswith("_Z") and f"{len(name)}{name}" in e]
        if len(mangled) != 1:
            have = ", ".join(self.tree.entries) or "none"
            raise WorkloadError(f"{self.tree.name} has no kernel {name}; it has {have}")
        return mangled[0]

    def symbol(self, name: str) -> DeviceArray:
        """A ``__device__`` or ``__constant__`` variable as an array."""
        if name not in self.addresses:
            have = ", ".join(self.addresses) or "none"
            raise WorkloadError(f"{self.tree.name} has no variable {name}; it has {have}")
        variable = self.tree.variables[name]
        dtype = _DTYPES.get(variable.type) or variable.type.replace("b", "u").replace("s", "i")
        dtype = dtype if variable.type in _DTYPES else dtype[0] + str(int(dtype[1:]) // 8)
        shape = variable.shape or (1,)
        shape = shape if variable.vector == 1 else (*shape, variable.vector)
        return DeviceArray(self.device, self.addresses[name], shape, dtype, owner=self)


class Kernel:
    """A kernel of a module: ``kernel[grid, block, shared_bytes, stream](*arguments)``."""

    def __init__(self, module: Module, function: syntax.Function):
        self.module, self.function = module, function
        self._executors: dict[bool, Executor] = {}
        self._geometries: dict[tuple, Geometry] = {}

    @property
    def name(self) -> str:
        """Its name in the module."""
        return self.function.name

    def executor(self, recording: bool) -> Executor:
        """The kernel as machine code of this host, translated when first asked for."""
        if recording not in self._executors:
            module = self.module
            program = translate(module.tree, self.name, module.key, recording)
            symbols = np.array([module.addresses[n] for n in program.symbols] or [0], np.int64)
            device = module.device
            self._executors[recording] = Executor(
                program, device.memory, symbols, device.services, device.limits
            )
        return self._executors[recording]

    def flatten(self, arguments: tuple) -> tuple:
        """The parameters' values that the caller's arguments stand for."""
        return arguments

    def __getitem__(self, configuration: Any) -> "Configured":
        """Choose grid, block and optionally dynamic shared bytes and stream."""
        if not isinstance(configuration, tuple) or not 2 <= len(configuration) <= 4:
            raise WorkloadError(f"kernel {self.name}: expected [grid, block, shared_bytes, stream]")
        grid, block, shared, stream = (*configuration, 0, None)[:4]
        shape = _three(self.name, "grid", grid), _three(self.name, "block", block), int(shared)
        return Configured(self, shape, self.module.device.find_stream(stream))

    def geometry(self, shape: Shape) -> Geometry:
        """A launch of that shape, checked against the GPU."""
        if shape not in self._geometries:
            device = self.module.device
            program = self.executor(device.recording).program
            check_directives(self.function, shape[1])
            count = places(program, *shape, device.gpu)
            self._geometries[shape] = Geometry(*shape, places=count)
        return self._geometries[shape]


class Configured:
    """A kernel with its launch configuration."""

    def __init__(self, kernel: Kernel, shape: Shape, stream: Stream):
        self.kernel, self.shape, self.stream = kernel, shape, stream

    def __call__(self, *arguments: Any) -> Launch:
        """Launch with these arguments."""
        kernel, device = self.kernel, self.kernel.module.device
        device.check_open()
        parameters = pack(kernel.function, kernel.flatten(arguments))
        geometry = kernel.geometry(self.shape)
        return device.launch(kernel, geometry, parameters, self.stream, arguments)


def _three(kernel: str, what: str, size: Any) -> tuple[int, int, int]:
    try:
        sizes = (size,) if isinstance(size, (int, np.integer)) else tuple(size)
        sizes = tuple(operator.index(s) for s in sizes)
    except TypeError:
        sizes = ()
    if not 1 <= len(sizes) <= 3 or any(s < 1 for s in sizes):
        raise WorkloadError(
            f"kernel {kernel}: {what} {size!r}; expected one to three positive whole numbers"
        )
    return (*sizes, 1, 1)[:3]


def _pattern(value: syntax.Immediate, kind: str) -> int:
    """The bits of an initialiser; decimal floating-point ones are doubles."""
    if value.bits == 64 and kind == "f32":
        return int(np.uint64(value.value).view(np.float64).astype(np.float32).view(np.uint32))
    return value.value
