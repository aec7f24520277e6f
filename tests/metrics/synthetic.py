"""A seeded factory of runs, so that results can be tested without an engine."""

import numpy as np

from lockstep.engine.record import CTA_EVENT, SAMPLE, KernelRun, Run
from lockstep.gpus import memory, spec
from lockstep.gpus import sm as sm_spec
from lockstep.metrics.result import Result
from lockstep.model.counters import PARTITION_COUNTERS, SM_COUNTERS
from lockstep.workload import Workload

SMS, CHANNELS = 4, 2


def small_gpu() -> spec.GPU:
    """A GPU with round numbers: 1 GHz, 4 SMs of 2 schedulers, 2 channels x 2 slices, 64 GB/s."""
    fp32 = sm_spec.ExecutionUnit(name="fp32", operations={"FP32": 4}, lanes=16)
    sfu = sm_spec.ExecutionUnit(name="sfu", operations={"SFU": 20}, lanes=4, scope="sm")
    launch = spec.LaunchCosts(overhead=100)
    sm = sm_spec.SM(
        count=SMS, subcores=2, warps=16, ctas=8, barrier_latency=8, fence_latency=8,
        units=(fp32, sfu),
        memory=sm_spec.MemoryPipeline(
            address_interval=4, wide_address_interval=6, accept_interval=1,
        ),
    )  # fmt: skip
    return spec.GPU(
        name="SMALL",
        description="for tests",
        architectures=(70,),
        clock_mhz=1000.0,
        launch=launch,
        sm=sm,
        shared=spec.SharedMemory(bytes=65536, latency=20),
        l1=spec.L1(bytes=65536, latency=28),
        interconnect=memory.Interconnect(latency=30, clock_mhz=500.0),
        l2=memory.L2(sets=64, ways=8, latency=200, clock_mhz=500.0),
        dram=memory.Dram(
            standard="HBM2", channels=CHANNELS, clock_mhz=1000.0, bus_bytes=16,
            burst_length=2, latency=400, timing={"nRCD": 12},
        ),
    )  # fmt: skip


def counters(rng: np.random.Generator, dtype: np.dtype, units: int) -> np.ndarray:
    """Random counters of one kernel."""
    words = dtype.itemsize // 8
    return rng.integers(0, 5000, (units, words)).view(dtype).reshape(units)


def kernel_run(rng: np.random.Generator, number: int, launched: int) -> KernelRun:
    """A kernel of 8 CTAs that started 100 cycles after its launch."""
    sm = counters(rng, SM_COUNTERS, SMS)
    length = int(rng.integers(5000, 20000))
    return KernelRun(
        id=number,
        name=f"kernel_{number}",
        grid=(8, 1, 1),
        block=(64, 1, 1),
        stream=0,
        registers=32,
        shared_bytes=1024,
        architecture=70,
        dependence="scoreboard",
        ctas_per_sm=4,
        limiter="warps",
        launched=launched,
        start=launched + 100,
        end=launched + 100 + length,
        running=length,
        warp_instructions=int(sm["warp_instructions"].sum()),
        thread_instructions=int(sm["thread_instructions"].sum()),
        sm=sm,
        partition=counters(rng, PARTITION_COUNTERS, CHANNELS),
        unknown={"FROB.X": 7} if number == 2 else {},
    )


def make_run(seed: int = 1, kernels: int = 2, samples: int = 4, **changes) -> Run:
    """A whole run of serial kernels, with CTA events and samples."""
    rng = np.random.default_rng(seed)
    done: list[KernelRun] = []
    for number in range(1, kernels + 1):
        done.append(kernel_run(rng, number, done[-1].end if done else 0))
    cycles = done[-1].end if done else 0
    values = dict(
        kernels=done,
        cycles=cycles,
        running=sum(k.running for k in done),
        sm=np.concatenate([k.sm for k in done] or [np.zeros(SMS, SM_COUNTERS)]),
        partition=np.concatenate(
            [k.partition for k in done] or [np.zeros(CHANNELS, PARTITION_COUNTERS)]
        ),
        samples=make_samples(rng, samples, cycles),
        cta_events=make_events(rng, done),
        copies=[(0x1000, 4096)],
        threads=1,
        read_seconds=0.25,
        simulate_seconds=0.5,
        compile_seconds=0.0,
    )
    return Run(**(values | changes))


def make_samples(rng: np.random.Generator, n: int, cycles: int) -> np.ndarray:
    """Cumulative samples at equal distances."""
    samples = np.zeros(n, SAMPLE)
    for name, dtype in (("sm", SM_COUNTERS), ("partition", PARTITION_COUNTERS)):
        steps = counters(rng, dtype, n).view(np.int64).reshape(n, dtype.itemsize // 8)
        samples[name] = np.cumsum(steps, axis=0).view(dtype).reshape(n)
    samples["cycle"] = np.linspace(0, cycles, n + 1, dtype=np.int64)[1:]
    return samples


def make_events(rng: np.random.Generator, kernels: list[KernelRun]) -> np.ndarray:
    """CTAs placed at random inside their kernels; some overlap on an SM."""
    rows = []
    for index, k in enumerate(kernels):
        for cta in range(8):
            start = int(rng.integers(k.start, k.end - 1))
            rows.append((index, cta, cta % SMS, start, int(rng.integers(start + 1, k.end + 1))))
    return np.array(rows, CTA_EVENT)


def make_result(seed: int = 1, **changes) -> Result:
    """A result of :func:`make_run` on :func:`small_gpu`."""
    source = Workload("synthetic", [], "synthetic.lst")
    source.digest = "0123abcd"
    return Result(make_run(seed, **changes), small_gpu(), source)
