"""What a formula may look at: summed counters of one period, its length, the GPU, the kernel."""

import math
from types import SimpleNamespace
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from lockstep.gpus.spec import GPU
from lockstep.model.core.kinds import UNITS
from lockstep.model.counters import MODULE_COUNTERS

if TYPE_CHECKING:  # importing the engine imports the compiler: no view of results needs that
    from lockstep.engine.record import KernelRun, Run


def ratio(part: float, whole: float) -> float:
    """``part / whole``; NaN, meaning undefined, where there is no whole."""
    return part / whole if whole else math.nan


def percent(part: float, whole: float) -> float:
    """``part`` as percent of ``whole``; NaN where there is no whole."""
    return ratio(100 * part, whole)


def utilization(busy: float, peak: float) -> float:
    """``busy`` as percent of ``peak``, where what was begun in the period may end after it.

    A port that has more to do than the period is long was busy to its end.
    """
    return percent(min(busy, peak), peak)


def sums(records: np.ndarray) -> SimpleNamespace:
    """Counter records summed over units: attributes by counter name, lists where it is an array."""
    fields = np.atleast_1d(np.asarray(records))
    dtype = fields.dtype
    words = dtype.itemsize // 8  # every counter is an int64
    totals = np.ascontiguousarray(fields).view(np.int64).reshape(-1, words).sum(axis=0)
    return named(totals, dtype)


def named(words: np.ndarray, dtype: np.dtype) -> SimpleNamespace:
    """The words of a counter record, of any type of number, as :func:`sums` has them."""
    totals, values = words.tolist(), SimpleNamespace()
    assert dtype.names is not None and dtype.fields is not None, "they are records"
    for name in dtype.names:
        first, shape = dtype.fields[name][1] // 8, dtype[name].shape
        values.__dict__[name] = totals[first : first + shape[0]] if shape else totals[first]
    return values


class Facts(msgspec.Struct, frozen=True):
    """One period of a run: a kernel, an interval, or all of it."""

    gpu: GPU
    sm: SimpleNamespace  # model.counters.SM_COUNTERS, summed over the SMs
    memory: SimpleNamespace  # model.counters.PARTITION_COUNTERS, summed over the partitions
    cycles: int  # core cycles, launch overhead included
    running: int  # cycles with CTAs, all in an interval; beside other kernels up to a window more
    kernel: "KernelRun | None" = None  # None where the period is not one kernel
    modules: np.ndarray = msgspec.field(default_factory=lambda: np.zeros(0, MODULE_COUNTERS))
    """model.counters.MODULE_COUNTERS, by module; empty where they were not counted."""

    @property
    def seconds(self) -> float:
        """Simulated time."""
        return self.cycles / (self.gpu.clock_mhz * 1e6)

    @property
    def launching(self) -> int:
        """Cycles before a kernel's first CTA, whoever ran then; of other periods, those idle."""
        if self.kernel is not None:
            return self.kernel.start - self.kernel.launched
        return self.cycles - self.running

    @property
    def sm_cycles(self) -> int:
        """Cycles that all SMs together could have worked."""
        return self.gpu.sm.count * self.running

    @property
    def scheduler_cycles(self) -> int:
        """Cycles that all warp schedulers together could have issued."""
        return self.sm_cycles * self.gpu.sm.subcores

    @property
    def issue_slots(self) -> int:
        """Instructions that all schedulers together could have issued: in each cycle, those of a
        compute unit one to each of its units."""
        if self.gpu.core == "cu":
            return self.sm_cycles * UNITS
        return self.scheduler_cycles * self.gpu.sm.scheduler.issue_width

    @property
    def slices(self) -> int:
        """L2 slices of the GPU."""
        return self.gpu.dram.channels * self.gpu.l2.slices_per_channel

    @property
    def dram_bytes(self) -> int:
        """Bytes read and written."""
        return self.memory.dram_read_bytes + self.memory.dram_write_bytes

    def clocks(self, clock_mhz: float) -> float:
        """Cycles of another clock domain while CTAs ran."""
        return self.running * clock_mhz / self.gpu.clock_mhz


def dram_peak(gpu: GPU) -> float:
    """Bytes per second that all data buses together could move."""
    dram = gpu.dram
    return dram.channels * dram.bus_bytes * dram.beats_per_clock * dram.clock_mhz * 1e6


def of_kernel(kernel: "KernelRun", gpu: GPU) -> Facts:
    """The facts of one kernel of a run."""
    sm, memory = sums(kernel.sm), sums(kernel.partition)
    return Facts(gpu, sm, memory, kernel.cycles, kernel.running, kernel, kernel.modules)


def of_kernels(kernels: "list[KernelRun]", gpu: GPU) -> Facts:
    """The facts of several kernels, one after the other."""
    sm, memory = _added([k.sm for k in kernels]), _added([k.partition for k in kernels])
    cycles, running = sum(k.cycles for k in kernels), sum(k.running for k in kernels)
    modules = _added_rows([k.modules for k in kernels])
    return Facts(gpu, sums(sm), sums(memory), cycles, running, modules=modules)


def _added_rows(arrays: list[np.ndarray]) -> np.ndarray:
    """The sums of arrays of counter records, row by row."""
    total = np.array(arrays[0])
    flat = total.view(np.int64)
    for each in arrays[1:]:
        flat += np.ascontiguousarray(each).view(np.int64)
    return total


def _added(records: list[np.ndarray]) -> np.ndarray:
    """One record of the sums of several arrays of them: there may be thousands of kernels."""
    dtype = records[0].dtype
    total = np.zeros(dtype.itemsize // 8, np.int64)
    for each in records:
        total += np.ascontiguousarray(each).view(np.int64).reshape(len(each), -1).sum(axis=0)
    return total.view(dtype)


def of_run(run: "Run", gpu: GPU) -> Facts:
    """The facts of a whole run."""
    sm, memory = sums(run.sm), sums(run.partition)
    return Facts(gpu, sm, memory, run.cycles, run.running, modules=run.modules)


def of_interval(run: "Run", number: int, gpu: GPU) -> Facts:
    """The facts of the time before a sample (engine.record.SAMPLE), since the one before it."""
    after, before = run.samples[number], run.samples[number - 1] if number else None
    sm, memory, cycles = sums(after["sm"]), sums(after["partition"]), int(after["cycle"])
    if before is not None:
        sm = _subtract(sm, sums(before["sm"]))
        memory = _subtract(memory, sums(before["partition"]))
        cycles -= int(before["cycle"])
    modules = np.zeros(0, MODULE_COUNTERS)
    if len(run.module_samples):
        modules = np.array(run.module_samples[number])
        if number:
            gone = np.ascontiguousarray(run.module_samples[number - 1])
            modules.view(np.int64)[...] -= gone.view(np.int64)
    return Facts(gpu, sm, memory, cycles, cycles, modules=modules)


def _subtract(a: SimpleNamespace, b: SimpleNamespace) -> SimpleNamespace:
    difference = SimpleNamespace()
    for name, x in a.__dict__.items():
        y = b.__dict__[name]
        is_list = isinstance(x, list)
        difference.__dict__[name] = [p - q for p, q in zip(x, y)] if is_list else x - y
    return difference
