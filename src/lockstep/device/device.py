"""The device: memory, modules and launches of one modelled GPU."""

from pathlib import Path
from typing import Any

import numpy as np

from lockstep.api import gpu as find_gpu
from lockstep.device.array import DeviceArray
from lockstep.device.launch import Launch
from lockstep.device.module import Kernel, Module
from lockstep.errors import InputError
from lockstep.frontend.exec.launch import Geometry
from lockstep.frontend.exec.memory import DeviceMemory
from lockstep.gpus.spec import GPU
from lockstep.isa.ptx.parser import parse


class Device:
    """A modelled GPU that executes kernels.

    ``timing``: whether launches are also simulated. ``memory_bytes``: device memory.
    """

    def __init__(self, gpu: GPU | str = "QV100", *, timing: bool = False, memory_bytes=16 << 30):
        self.gpu = gpu if isinstance(gpu, GPU) else find_gpu(gpu)
        self.timing = timing
        self.memory = DeviceMemory(memory_bytes)

    def array(self, values: Any) -> DeviceArray:
        """Copy an array-like to the device."""
        values = np.asarray(values)
        array = self.empty(values.shape, values.dtype)
        array.copy_from(values)
        return array

    def empty(self, shape: int | tuple[int, ...], dtype: Any = np.float32) -> DeviceArray:
        """An array without defined content."""
        array = DeviceArray(self, 0, shape, dtype, owns=False)
        array.pointer, array._owns = self.memory.allocate(array.nbytes), True
        return array

    def load_ptx(self, source: str | Path) -> Module:
        """A module from PTX text, or from the file that a path names."""
        text, name = source, "<ptx>"
        if isinstance(source, Path) or "\n" not in source:
            name = str(source)
            try:
                text = Path(source).read_text()
            except OSError as error:
                raise InputError(source, "", f"cannot read: {error.strerror}") from error
        return Module(self, parse(text, name), text)

    def launch(
        self, kernel: Kernel, geometry: Geometry, parameters: bytes, stream: Any, arguments: tuple
    ) -> Launch:
        """Execute a kernel."""
        block = np.frombuffer(parameters + bytes(8), np.uint8).copy()
        kernel.executor(False).run(geometry, block)
        return Launch(kernel, geometry, parameters, stream, arguments)

    def synchronize(self) -> None:
        """Wait for all launches."""

    def copied(self, pointer: int, size: int) -> None:
        """Note that the host wrote device memory."""

    def release(self, pointer: int) -> None:
        """Free an allocation."""
        self.memory.free(pointer)
