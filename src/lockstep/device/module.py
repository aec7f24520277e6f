"""Modules of device code, their kernels and variables."""

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from lockstep.device.arguments import pack
from lockstep.device.array import DeviceArray
from lockstep.device.launch import Launch
from lockstep.errors import WorkloadError
from lockstep.frontend.exec.launch import Executor, Geometry
from lockstep.frontend.exec.ptx.translate import translate
from lockstep.isa.ptx import syntax

if TYPE_CHECKING:
    from lockstep.device.device import Device

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
                number = self.addresses[value.name] + value.offset
            else:
                number = value.value
            content += (number & ((1 << 8 * size) - 1)).to_bytes(size, "little")
        memory = self.device.memory.view(self.addresses[variable.name], max(variable.bytes, 1))
        memory[:] = 0
        memory[: len(content)] = np.frombuffer(bytes(content), np.uint8)

    def __getitem__(self, name: str) -> "Kernel":
        """A kernel of the module."""
        if name not in self._kernels:
            if name not in self.tree.entries:
                have = ", ".join(self.tree.entries) or "none"
                raise WorkloadError(f"{self.tree.name} has no kernel {name}; it has {have}")
            self._kernels[name] = Kernel(self, self.tree.functions[name])
        return self._kernels[name]

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
        return DeviceArray(self.device, self.addresses[name], shape, dtype, owns=False)


class Kernel:
    """A kernel of a module: ``kernel[grid, block, shared_bytes, stream](*arguments)``."""

    def __init__(self, module: Module, function: syntax.Function):
        self.module, self.function = module, function
        self._executors: dict[bool, Executor] = {}

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
            self._executors[recording] = Executor(program, module.device.memory, symbols)
        return self._executors[recording]

    def __getitem__(self, configuration: Any) -> "Configured":
        """Choose grid, block and optionally dynamic shared bytes and stream."""
        if not isinstance(configuration, tuple) or not 2 <= len(configuration) <= 4:
            raise WorkloadError(f"kernel {self.name}: expected [grid, block, shared_bytes, stream]")
        grid, block, *rest = configuration
        shared, stream = [*rest, *(0, 0)[len(rest) :]]
        geometry = Geometry(_three(grid), _three(block), int(shared))
        return Configured(self, geometry, stream)


class Configured:
    """A kernel with its launch configuration."""

    def __init__(self, kernel: Kernel, geometry: Geometry, stream: Any):
        self.kernel, self.geometry, self.stream = kernel, geometry, stream

    def __call__(self, *arguments: Any) -> Launch:
        """Launch with these arguments."""
        parameters = pack(self.kernel.function, arguments)
        return self.kernel.module.device.launch(
            self.kernel, self.geometry, parameters, self.stream, arguments
        )


def _three(size: Any) -> tuple[int, int, int]:
    sizes = (size,) if isinstance(size, (int, np.integer)) else tuple(size)
    if not 1 <= len(sizes) <= 3 or any(int(s) < 1 for s in sizes):
        raise WorkloadError(f"grid or block {size}: expected one to three positive numbers")
    return tuple(int(s) for s in (*sizes, 1, 1, 1)[:3])
