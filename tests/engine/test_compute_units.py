"""Compute units in windows: threads, parts and the compiler change nothing."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import lockstep
import wavefront_programs
from lockstep.engine.groups import share_out
from lockstep.engine.part import owners
from lockstep.errors import LockstepError, WorkloadError
from lockstep.gpus import library
from lockstep.metrics import registry
from lockstep.model.core import build

MEBI = 1 << 20
TINY = """
import lockstep, wavefront_programs
from test_compute_units import transpose

few = ["sm.count=3", "cu.neighbours=2,1", "dram.channels=2"]
gpu = lockstep.gpu("HD7770", few)
queued = lockstep.gpu("HD7770", [*few, "vmu.ports=2", "vmu.join=both", "vmu.phases=4"])
print(*(lockstep.simulate(transpose(n), g).hash for n, g in ((5, gpu), (3, queued))))
"""


def transpose(groups):
    """Wavefronts that read rows, pass them on through the LDS and write columns."""
    wait = wavefront_programs.wait
    program = [
        ("scalar_load", 64), ("scalar_load", MEBI), wait(lgkm=0), "scalar", "valu", "multiply",
        *(("load", k * MEBI) for k in range(4)),
        "valu", wait(vector=2), ("lds", 0), ("lds", 0, 8), wait(vector=0, lgkm=1), "barrier",
        ("lds", 256), wait(lgkm=0), "transcendental", ("store", 8 * MEBI, 1024),
        ("store", 9 * MEBI, 4), wait(export=0), "branch", "end",
    ]  # fmt: skip
    return wavefront_programs.make(*[program] * 4, groups=groups, lds=4096)


@pytest.mark.long
@pytest.mark.parametrize("gpu", ["HD7770", "CANDEL"])
def test_any_number_of_threads_gives_the_same(gpu):
    workload = transpose(80)
    first = lockstep.simulate(workload, gpu, threads=1)
    assert first.total["warp_instructions"] == 80 * 4 * 24
    for threads in (2, 4, 9):
        assert lockstep.simulate(workload, gpu, threads=threads).hash == first.hash


@pytest.mark.parametrize("join", ["none", "coalesce", "merge", "both"])
def test_access_queues_give_the_same_on_any_number_of_threads(join):
    order = "line" if join in ("none", "both") else "multi2sim"
    changes = ["vmu.ports=2", f"vmu.join={join}", "vmu.phases=4", f"vmu.order={order}"]
    gpu = lockstep.gpu("CANDEL", changes)
    one, two = (lockstep.simulate(transpose(20), gpu, threads=n) for n in (1, 2))
    assert one.hash == two.hash
    total = one.total
    requests = {of: total[f"sim__vmu_{of}_requests.sum"] for of in ("load", "store")}
    assert requests == {"load": 20 * 4 * 4 * 64, "store": 20 * 4 * 2 * 64}
    accesses = sum(total[f"sim__vmu_{of}_accesses.sum"] for of in requests)
    assert total["sim__vmu_combined.sum"] == sum(requests.values()) - accesses
    assert total["sim__coalesced_transactions.sum"] == accesses
    if join == "none":
        assert total["sim__vmu_combined.sum"] == 0
    if join == "coalesce":
        assert accesses == 20 * 4 * (4 + 64 + 4)  # lines: loads are of one word each
        assert total["sim__vmu_load_merged.sum"] == 0


@pytest.mark.long
@pytest.mark.parametrize("gpu", ["HD7770", "CANDEL"])
@pytest.mark.parametrize("ranks", [2, 3])
def test_a_gpu_on_several_ranks_gives_the_same(gpu, ranks):
    """Neighbours stay on one rank; their partitions, and those of their lines, are on any."""
    ranks = min(ranks, lockstep.gpu(gpu).dram.channels)
    workload = transpose(40)
    alone = lockstep.simulate(workload, gpu)
    assert all(alone.run.sm[name].sum() > 0 for name in ("constant_misses", "l1i_misses"))
    for threads in (1, 2, 4):
        assert lockstep.simulate(workload, gpu, ranks=ranks, threads=threads).hash == alone.hash


def test_memory_of_candel_is_fixed_or_has_its_table():
    """Table 2: 90 cycles without contention; the delays of its last row if they are asked for."""
    gpu = lockstep.gpu("CANDEL")
    assert (gpu.dram.latency - gpu.l2.latency, gpu.dram.scheduler) == (90, "fixed")
    assert gpu.l2.sets * gpu.l2.ways * gpu.l2.line_bytes == 128 << 10
    workload = transpose(100)
    fixed = lockstep.simulate(workload, gpu)
    table = lockstep.simulate(workload, lockstep.gpu("CANDEL", ["dram.scheduler=bank_round_robin"]))
    assert (
        fixed.metrics[0]["sim__dram_activates.sum"]
        == 0
        < table.metrics[0]["sim__dram_activates.sum"]
    )
    assert fixed.cycles < table.cycles


@pytest.mark.long
def test_without_jit_the_same_comes_out():
    def run(**environment):
        path = os.pathsep.join([str(Path(__file__).parent), str(Path(__file__).parents[1])])
        path = os.pathsep.join([path, os.environ.get("PYTHONPATH", "")])
        command = [sys.executable, "-c", TINY]
        environment = os.environ | environment | {"PYTHONPATH": path}
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, check=True
        ).stdout

    assert run() == run(NUMBA_DISABLE_JIT="1") != ""


def test_metrics_of_compute_units():
    result = lockstep.simulate(transpose(10), "HD7770")
    metrics = result.metrics[0]
    units = {n: metrics[f"sim__unit_inst_{n}.sum"] for n in ("scalar", "branch", "vector_alu")}
    assert units == {"scalar": 40 * 10, "branch": 40, "vector_alu": 40 * 4}
    assert metrics["sim__unit_inst_lds.sum"] == 40 * 3
    assert metrics["sim__unit_inst_vector_memory.sum"] == 40 * 6
    operations = 40 * (64 * 13 + 11)
    assert result.run.sm["operations"].sum() == operations
    assert metrics["sim__opc"] == pytest.approx(64 * metrics["sim__ipc"] * 843 / (64 * 24))
    assert 0 < metrics["sim__vector_memory_buffer.avg.per_cycle_active"] <= 32


def test_nvidias_gpus_have_none_of_them():
    names = {column.name for column in registry.columns(library.gpu("QV100"))}
    ours = {column.name for column in registry.columns(library.gpu("HD7770"))}
    assert "sim__opc" in ours - names
    assert "sim__inst_issued_scalar.sum" in ours - names


def test_warps_of_32_do_not_run_on_compute_units():
    k = lockstep.KernelBuilder("narrow", grid=1, block=32)
    k("EXIT")
    with pytest.raises(WorkloadError, match="warps of 32 threads; those of HD7770 have 64"):
        lockstep.simulate(k.workload(), "HD7770")


def test_neighbours_are_never_parted():
    starts = [0, 4, 7]
    in_turn = [0, 0, 0, 0, 1, 1, 1, 0, 0, 0]
    assert share_out(np.arange(10), 2, starts, turns=True).tolist() == in_turn
    assert owners("G", [10, 4], 2, starts)[0].tolist() == in_turn
    with pytest.raises(LockstepError, match="expected 1 to 3"):
        owners("G", [10, 4], 4, starts)


@pytest.mark.parametrize(
    ("neighbours", "leaders"),
    [
        ("4,3,3", [0, 0, 0, 0, 4, 4, 4, 7, 7, 7]),
        ("4", [0] * 4 + [4] * 4 + [8] * 2),
        ("", range(10)),
    ],
)
def test_neighbours_follow_each_other(neighbours, leaders):
    gpu = lockstep.gpu("HD7770", [f"cu.neighbours={neighbours}"])
    assert build.leaders(gpu) == list(leaders)
