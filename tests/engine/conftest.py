from pathlib import Path

import pytest

from lockstep.builder import KernelBuilder
from small_gpu import small  # noqa: F401


@pytest.fixture(scope="session")
def programs(load_script):
    """The strategies for random programs and GPUs."""
    return load_script(Path(__file__).parents[1] / "random_programs.py")


@pytest.fixture(scope="session")
def mixed():
    """Function that makes a kernel of loads, shared memory, barriers, atomics and arithmetic."""

    def make(name="mixed", grid=24, block=96, base=0x7F0000000000, **sizes):
        k = KernelBuilder(name, grid=grid, block=block, shared_bytes=2048, **sizes)
        with k.loop(3):
            k("LDG.E R4, [R2]", address=k.coalesced(base, step=1 << 14))
            k("LDG.E R5, [R2]", address=k.random(base, 1 << 18, seed=3))
            k("STS [R6], R4", address=k.bank_conflict(2))
            k("BAR.SYNC 0x0")
            k("FFMA R8, R4, R5, R8")
            k("MUFU.RCP R9, R8")
            with k.lanes(lambda at: at.lane < 7):
                k("RED.E.ADD.STRONG.GPU [R2], R9", address=k.broadcast(base + (1 << 20)))
        k("STG.E [R2], R9", address=k.coalesced(base + (1 << 21)))
        k("EXIT")
        return k

    return make


@pytest.fixture(scope="session")
def raw():
    """Function from a run to everything in it that must not depend on how it was run."""

    def everything(run):
        times = ("launched", "start", "end", "running")
        names = ("id", *times, "warp_instructions", "thread_instructions")
        return {
            "cycles": (run.cycles, run.running),
            "stopped": run.stopped,
            "kernels": [[getattr(k, n) for n in names] for k in run.kernels],
            "sm": [k.sm.tobytes() for k in (*run.kernels, run)],
            "partition": [k.partition.tobytes() for k in (*run.kernels, run)],
            "modules": [k.modules.tobytes() for k in (*run.kernels, run)],
            "events": sorted(run.cta_events.tolist()),
        }

    return everything
