"""What is read of a workload, and what simulating it gives, in a form that can be compared."""

from functools import cache

import numpy as np

from lockstep import api
from lockstep.builder import KernelBuilder, program
from lockstep.gpus import library
from lockstep.gpus.spec import GPU
from lockstep.workload import MemoryCopy, Workload
from lockstep.workload.warm import L2_RUN, LAUNCHED, WarmSet

MOST_CYCLES = 20_000


def content(workload: Workload) -> str:
    """All commands, their code and their streams."""
    commands = []
    for command in workload.commands:
        if isinstance(command, MemoryCopy):
            commands.append((command.address, command.bytes))
            continue
        if isinstance(command, WarmSet):
            commands.append((command.runs.tolist(), command.launches.tolist()))
            continue
        k = command
        streams = [
            (cta.index, *(a.tolist() for a in (cta.warps, cta.runs, cta.addresses, cta.pool)))
            for cta in k.ctas()
        ]
        facts = (k.name, k.id, k.grid, k.block, k.cluster, k.registers, k.shared_bytes, k.stream)
        facts += (k.warp_size,)
        commands.append((facts, k.code.instructions.tolist(), list(k.code.texts), streams))
    return repr((commands, workload.points))


@cache
def small_gpu() -> GPU:
    """Two SMs and one channel."""
    changes = {"sm.count": 2, "dram.channels": 1, "launch.overhead": 0}
    return library.replace(api.gpu("QV100"), **changes)


@cache
def tiny(warp_size: int = 32) -> Workload:
    """A kernel with a load, arithmetic and a barrier."""
    k = KernelBuilder("tiny", grid=4, block=64, registers=16, warp_size=warp_size)
    k("LDG.E R0, [R1]", address=k.coalesced(1 << 30, 4))
    k("FFMA R2, R0, R0, R0")
    k("BAR.SYNC 0x0")
    k("STG.E [R1], R2", address=k.coalesced(1 << 31, 4))
    return program(k, name="tiny")


@cache
def live() -> Workload:
    """Two live points, and what they stand for."""
    kernels = various().kernels
    runs = ([(1 << 33, 4, 15, 15), (3, 1, 6, 2), (1 << 20, 100, 15, 0)], [(7, 1, 1, 0)])
    launches = np.array([(0, 4), (1, 2), (0, 80)], LAUNCHED)
    contents = [WarmSet(np.array(each, L2_RUN), launches[:n]) for n, each in zip((1, 3), runs)]
    commands = [command for pair in zip(contents, kernels) for command in pair]
    return Workload("live", commands, points='{"lockstep points": 1}')


@cache
def various() -> Workload:
    """Copies, two kernels, divergence, loops and addresses of every pattern."""
    kernels = []
    for number in (1, 2):
        k = KernelBuilder("various", grid=(2, 2), block=(40, 1), registers=24, architecture=80)
        with k.loop(3):
            k("LDG.E.64 R0, [R4]", address=k.random(1 << 40, 1 << 12, 8, seed=number))
            with k.lanes(0xF0F):
                k("STS [R2], R0", address=k.strided(0, 132))
        k("ATOMG.E.ADD.STRONG.GPU PT, R0, [R1], R2", address=k.broadcast(1 << 33))
        kernels.append(k)
    return program(MemoryCopy(1 << 40, 4096), *kernels, name="various")


def simulate(workload: Workload, gpu: GPU | None = None) -> str:
    """What a simulation of a few cycles counts."""
    result = api.simulate(workload, gpu or small_gpu(), limit_cycles=MOST_CYCLES)
    return result.hash
