"""The device: memory, modules and launches of one modelled GPU."""

from pathlib import Path
from typing import Any

import numpy as np

from lockstep.api import gpu as find_gpu
from lockstep.device.array import DeviceArray
from lockstep.device.launch import Launch
from lockstep.device.module import Kernel, Module
from lockstep.device.timing import PADDING, Timing
from lockstep.errors import InputError
from lockstep.frontend.exec.launch import Geometry
from lockstep.frontend.exec.memory import DeviceMemory
from lockstep.gpus.spec import GPU
from lockstep.isa.ptx.parser import parse


class Device:
    """A modelled GPU that executes kernels.

    ``timing``: whether launches are also simulated. ``memory_bytes``: device memory.
    """

    def __init__(
        self,
        gpu: GPU | str = "QV100",
        *,
        timing: bool = False,
        threads: int = 1,
        memory_bytes: int = 16 << 30,
    ):
        self.gpu = gpu if isinstance(gpu, GPU) else find_gpu(gpu)
        self.timing = Timing(self.gpu, threads=threads) if timing else None
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
        """Execute a kernel; with timing, when its results are asked for."""
        launch = Launch(kernel, geometry, parameters, stream, arguments)
        if self.timing:
            self.timing.launch(launch)
        else:
            block = np.frombuffer(parameters + bytes(PADDING), np.uint8).copy()
            kernel.executor(recording=False).run(geometry, block)
        return launch

    def synchronize(self) -> None:
        """Wait for all launches."""
        if self.timing:
            self.timing.synchronize()

    def copied(self, pointer: int, size: int) -> None:
        """Note that the host wrote device memory."""
        if self.timing:
            self.timing.copied(pointer, size)

    def release(self, pointer: int) -> None:
        """Free an allocation."""
        self.memory.free(pointer)
