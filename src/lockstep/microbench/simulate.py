"""Runs benchmarks on a modelled GPU."""

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction

import numpy as np
from msgspec.structs import replace

from lockstep.device import Device
from lockstep.device.arguments import pack
from lockstep.device.array import DeviceArray
from lockstep.device.module import Kernel, Module
from lockstep.device.texture import Texture
from lockstep.errors import LockstepError
from lockstep.execution.launches.resident import WORKSPACE_BYTES
from lockstep.gpus.library import totals
from lockstep.gpus.spec import GPU
from lockstep.microbench import code, fills
from lockstep.microbench.benchmark import (
    Argument,
    Benchmark,
    Buffer,
    Case,
    Copy,
    Kind,
    Launch,
    Target,
)
from lockstep.microbench.suite.launch import DEVICE
from lockstep.microbench.table import TableRow, rows_of

Buffers = dict[str, DeviceArray | Texture]
Say = Callable[[str], None]
Step = Callable[[int, int, str, Device], None]
WORD = 8  # bytes
KILO = 1000


def target_of(gpu: GPU) -> Target:
    """A modelled GPU as where the suite runs."""
    architecture = code.architecture_of(gpu)
    return Target(gpu.sm.count, architecture, totals(gpu).l2_bytes, gpu.shared.most_cta_bytes)


def simulate(
    gpu: GPU,
    benchmarks: Iterable[Benchmark],
    say: Say = print,
    step: Step | None = None,
    fail: Say | None = None,
) -> Iterator[TableRow]:
    """The rows of benchmarks, as they come.

    Each case has a GPU of its own, so that no row depends on which others were chosen, and none is
    lost by another one that fails. ``say`` hears what the GPU's architecture, or a simulator,
    cannot run, ``fail`` (or ``say``) what fails; ``step`` how many cases are done, of how many,
    what the current one is called, and its device.
    """
    target = target_of(gpu)
    chosen = list(benchmarks)
    total, done = sum(len(b.cases) for b in chosen), 0
    for benchmark in chosen:
        if reason := left_out(benchmark, target):
            say(f"{benchmark.name}: left out: {reason}")
            done += len(benchmark.cases)
            continue
        if benchmark.name == DEVICE:
            yield device_row(gpu)
            continue
        for case in benchmark.cases:
            device = Device(gpu, timing=True, at_issue=True, name=benchmark.name)
            try:
                if step:
                    step(done, total, case.rows[0].name, device)
                yield from rows_of(case, [Bench(device, target.architecture).run(case)])
            except LockstepError as error:
                (fail or say)(f"{case.key}: failed: {error}")
            finally:
                device.close()
            done += 1


def device_row(gpu: GPU) -> TableRow:
    """What a driver would say of a modelled GPU."""
    newest = max(gpu.architectures, default=code.architecture_of(gpu))
    said = {
        "L2": f"{totals(gpu).l2_bytes}",
        "clock": f"{gpu.clock_mhz * KILO:.0f} kHz",
        "memory": f"{gpu.dram.clock_mhz * KILO:.0f} kHz",
        "smem/SM": f"{gpu.shared.bytes}",
        "regs/SM": f"{gpu.sm.registers}",
        "bus": f"{8 * gpu.dram.channels * gpu.dram.bus_bytes}",
        "compute capability": f"{newest // 10}.{newest % 10}",
    }
    notes = ", ".join(f"{name} {value}" for name, value in said.items())
    return TableRow(DEVICE, gpu.name, gpu.sm.count, "SMs", notes)


def left_out(benchmark: Benchmark, target: Target) -> str:
    """Why a benchmark does not run on a modelled GPU; empty if it does."""
    if not benchmark.runs_on(target):
        return f"sm_{target.architecture} has no such instructions"
    if benchmark.hardware_only:
        return f"no model can have it: {benchmark.hardware_only}"
    return ""


class Bench:
    """A device with the suite's modules and the buffers of a case."""

    def __init__(self, device: Device, architecture: int):
        self.device, self._architecture = device, architecture
        self._modules: dict[str, Module] = {}
        self._kept: list[DeviceArray] = []  # for as long as launches may use them

    def run(self, case: Case) -> np.ndarray:
        """Run a case once; what its measures read."""
        buffers = {buffer.name: self._make(buffer) for buffer in case.buffers}
        for launch in case.warm:
            self._launch(launch, buffers)
        self.device.synchronize()
        if case.timed:
            return self._timed(case, buffers)
        for launch in case.launches:
            self._launch(launch, buffers)
        self.device.synchronize()
        words = max(row.measure.words for row in case.rows)
        return self._view(buffers["out"])[: words * WORD].view(np.uint64).copy()

    def _timed(self, case: Case, buffers: Buffers) -> np.ndarray:
        before = self.device.event().record()
        for _ in range(case.times):
            for launch in case.launches:
                self._launch(launch, buffers)
        after = self.device.event().record()
        cycles = after.cycle - before.cycle
        return np.array([Fraction(cycles * 1000) / Fraction(self.device.gpu.clock_mhz)], np.float64)

    def _launch(self, launch: Launch | Copy, buffers: Buffers) -> None:
        if isinstance(launch, Copy):
            raise LockstepError("copies of the runtime take no simulated time")
        file, _, name = launch.kernel.partition(".")
        kernel = self._module(file)[name]
        shape = (launch.grid, launch.block, launch.shared)
        arguments = tuple(_value(argument, buffers) for argument in launch.arguments)
        if launch.cooperative:
            self._launch_cooperative(kernel, shape, arguments)
        else:
            configured = kernel.with_cluster(launch.cluster) if launch.cluster else kernel
            configured[shape](*arguments)

    def _launch_cooperative(self, kernel: Kernel, shape: tuple, arguments: tuple) -> None:
        """Launch with a barrier of the grid, as the runtime does."""
        grid, block, shared = shape
        geometry = kernel.geometry(((grid, 1, 1), (block, 1, 1), shared))
        if geometry.places < grid:
            raise LockstepError(f"{grid} blocks of {block} threads are not resident at once")
        workspace = self.device.zeros(WORKSPACE_BYTES, np.uint8)
        self._kept.append(workspace)
        geometry = replace(geometry, workspace=workspace.pointer)
        parameters = pack(kernel.name, kernel.parameters, arguments)
        self.device.launch(kernel, geometry, parameters, self.device.default_stream, arguments)

    def _module(self, file: str) -> Module:
        if file not in self._modules:
            data = code.cubin(self._architecture, file)
            self._modules[file] = self.device.load_cubin(data)
        return self._modules[file]

    def _make(self, buffer: Buffer) -> DeviceArray | Texture:
        if buffer.texture:
            texels = np.zeros(buffer.bytes, np.uint8)
            fills.fill(texels, 0, buffer)
            return self.device.texture(texels.view(np.uint32))
        if buffer.symbol:
            file, _, name = buffer.symbol.partition(".")
            array = self._module(file).symbol(name)
        else:
            array = self.device.empty(buffer.bytes, np.uint8)
        self._kept.append(array)
        fills.fill(self._view(array), array.pointer, buffer)
        self.device.memory.written(array.pointer, array.nbytes)
        return array

    def _view(self, array: DeviceArray) -> np.ndarray:
        return self.device.memory.view(array.pointer, array.nbytes)


def _value(argument: Argument, buffers: Buffers):
    if argument.kind is Kind.BUFFER:
        memory = buffers[argument.value]
        return memory.handle if isinstance(memory, Texture) else memory.pointer + argument.offset
    if argument.kind is Kind.SEGMENTS:
        return np.array(argument.value, np.int32)
    if argument.kind in (Kind.F32, Kind.F64):
        return float(argument.value)
    return int(argument.value)
