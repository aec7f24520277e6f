"""A program for ``mpiexec``: checks of ranks over MPI, each done by all processes together.

    mpiexec -n 4 python tests/engine/processes.py FOLDER CHECK...

Process 0 writes what came of them into FOLDER/report.json: by the name of the check, what it
returned or the error that it raised in each process.
"""

import json
import os
import signal
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

from mpi4py import MPI

sys.path.insert(0, str(Path(__file__).parents[1]))

from engine import meeting
from lockstep import api
from lockstep.builder import KernelBuilder, program
from lockstep.cli import ranks as cli
from lockstep.device import Device
from lockstep.engine import mpi
from lockstep.errors import WorkloadError
from lockstep.kernels import load

COMM = MPI.COMM_WORLD
GPU = ("QV100", ["sm.count=6", "dram.channels=4"])
A = 0x7F0000000000


def workload(act=None):
    """Two kernels at the same time, and one after; process 1 acts when that one is launched."""
    kernels = []
    for name, stream in (("first", 1), ("second", 2), ("third", 1)):
        k = KernelBuilder(name, grid=40, block=64, stream=stream)
        with k.loop(4):
            k("LDG.E R4, [R2]", address=k.random(A, 1 << 18, seed=stream))
            k("FFMA R8, R4, R5, R8")
            k("BAR.SYNC 0x0")
        k("STG.E [R2], R8", address=k.coalesced(A + (1 << 21)))
        k("EXIT")
        kernels.append(k)
    made = program(*kernels, name="three")
    if act:
        last = made.commands.pop()
        passes = []

        def ctas():
            passes.append(len(passes))
            for number, cta in enumerate(last.ctas()):
                if COMM.rank == 1 and number == 0 and len(passes) > 1:  # the digest's was one
                    act()
                yield cta

        made.commands.append(replace(last, ctas=ctas))
    return made


def outcome(result):
    """What must not depend on how it was run."""
    return [result.hash, result.stopped, sorted(map(list, result.run.cta_events.tolist()))]


def simulated(**options):
    return outcome(api.simulate(workload(), api.gpu(*GPU), timeline=True, **options))


def same_result(folder):
    return [simulated(ranks=COMM), simulated(ranks=COMM, threads=2)]


def same_by_messages(folder):
    """As if each process were on a host of its own."""
    boxes, mpi.OverMpi.boxes = mpi.OverMpi.boxes, lambda self, rooms: None
    try:
        return [simulated(ranks=COMM), simulated(ranks=COMM, threads=2)]
    finally:
        mpi.OverMpi.boxes = boxes


def kept_and_resumed(folder):
    kept = {"checkpoint": folder / "kept", "checkpoint_seconds": 0}
    whole = simulated(ranks=COMM, **kept)
    return [whole, simulated(ranks=COMM, resume=folder / "kept")]


def work_is_told(folder):
    result = api.simulate(workload(), api.gpu(*GPU), ranks=COMM)
    ranks = result.run.ranks
    return [sum(r.sms for r in ranks), sum(r.partitions for r in ranks), len(ranks)] + [
        all(r.exchanges > 10 and r.words > r.exchanges and r.worked > 0 for r in ranks)
    ]


def another_gpu(folder):
    changed = GPU[1] + ["sm.warps=32"] * (COMM.rank == 1)
    api.simulate(workload(), api.gpu(GPU[0], changed), ranks=COMM)


def too_many(folder):
    api.simulate(workload(), api.gpu(GPU[0], ["sm.count=1"]), ranks=COMM)


def one_fails(folder):
    def act():
        raise WorkloadError("no more of it here")

    api.simulate(workload(act), api.gpu(*GPU), ranks=COMM)


def ended_by_a_signal(folder):
    act = partial(os.kill, os.getpid(), signal.SIGINT)
    result = api.simulate(workload(act), api.gpu(*GPU), ranks=COMM)
    return [result.stopped.startswith("interrupted at cycle"), result.hash]


def deadlock(folder):
    k = KernelBuilder("crossed", grid=6, block=64)
    for warp in range(2):
        with k.lanes(lambda at: at.warp == warp):  # noqa: B023 (called at once)
            k(f"BAR.SYNC {warp + 1:#x}, 0x40")
    return api.simulate(k.workload(), api.gpu(*GPU), ranks=COMM).stopped


def device(folder):
    with Device(api.gpu(*GPU), timing=True, ranks=COMM) as gpu:
        for check in load("vecadd").run(gpu, 1000, 0):
            check.verify()
        return gpu.result.hash


def device_that_differs(folder):
    with Device(api.gpu(*GPU), timing=True, ranks=COMM) as gpu:
        gpu.array([COMM.rank])
        load("vecadd").run(gpu, 1000, 0)


def killed(folder):
    """One process dies; the others say so and end without results."""
    sys.argv = ["lockstep", "simulate", "three.lst", "--ranks", "mpi"]
    act = partial(os.kill, os.getpid(), signal.SIGKILL)
    with cli.one_of_several("mpi", folder / "last") as reach:
        kept = {"checkpoint": folder / "last", "checkpoint_seconds": 0}
        api.simulate(workload(act), api.gpu(*GPU), ranks=reach.ranks, **kept)


def in_contract(work):
    def check(folder):
        with mpi.reached(COMM) as transport:
            return work(transport)

    return check


CHECKS = {work.__name__: in_contract(work) for work in meeting.CONTRACT}
CHECKS |= {
    f.__name__: f
    for f in (same_result, same_by_messages, kept_and_resumed, work_is_told, another_gpu)
}
CHECKS |= {f.__name__: f for f in (too_many, one_fails, ended_by_a_signal, deadlock)}
CHECKS |= {f.__name__: f for f in (device, device_that_differs, killed)}


def main(folder, *names):
    report = {}
    for name in names:
        try:
            came = CHECKS[name](folder)
        except Exception as error:
            came = f"{type(error).__name__}: {error}"
        report[name] = COMM.gather(came)
        if COMM.rank == 0:
            (folder / "report.json").write_text(json.dumps(report))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
