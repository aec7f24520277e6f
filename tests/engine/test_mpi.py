"""Ranks over MPI: processes of an MPI program do together what one does alone."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from engine.meeting import CONTRACT
from lockstep import api
from lockstep.device import Device
from lockstep.engine import mpi
from lockstep.errors import LockstepError
from lockstep.kernels import load

PROGRAM = Path(__file__).with_name("processes.py")
MPIEXEC = Path(sys.executable).with_name("mpiexec")  # of the wheel, else of the system
SOURCE = Path(__file__).parents[2] / "src"

needs_mpi = pytest.mark.skipif(
    importlib.util.find_spec("mpi4py") is None or not (MPIEXEC.exists() or shutil.which("mpiexec")),
    reason="no mpi4py, or no mpiexec",
)
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
MORE_THAN_CORES = {"PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}  # of Open MPI 5
IN_FOUR = (
    "same_result", "same_by_messages", "kept_and_resumed", "work_is_told", "another_gpu",
    "one_fails", "ended_by_a_signal", "deadlock", "device", "device_that_differs",
)  # fmt: skip


def together(folder, processes, *checks):
    """Run checks in so many processes; the exit code, what was said, and the report."""
    command = [str(MPIEXEC if MPIEXEC.exists() else "mpiexec"), "-n", str(processes)]
    command += [sys.executable, str(PROGRAM), str(folder), *checks]
    path = os.pathsep.join(filter(None, [str(SOURCE), os.environ.get("PYTHONPATH")]))
    environment = os.environ | AS_ROOT | MORE_THAN_CORES | {"PYTHONPATH": path}
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=300, cwd=folder
    )
    report = folder / "report.json"
    return done, json.loads(report.read_text()) if report.exists() else {}


@pytest.fixture(scope="module")
def four(tmp_path_factory):
    names = [work.__name__ for work in CONTRACT]
    done, report = together(tmp_path_factory.mktemp("four"), 4, *names, *IN_FOUR)
    assert done.returncode == 0, done.stdout + done.stderr
    return report


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    folder = tmp_path_factory.mktemp("two")
    done, report = together(folder, 2, "same_result", "killed")
    return folder, done, report


@pytest.fixture(scope="module")
def processes():
    """The program, as a module: its workloads."""
    pytest.importorskip("mpi4py")
    spec = importlib.util.spec_from_file_location("processes", PROGRAM)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.long
@needs_mpi
@pytest.mark.parametrize("work", [work.__name__ for work in CONTRACT])
def test_the_contract_of_transports_holds(four, work):
    assert four[work] == ["done"] * 4


@pytest.mark.long
@needs_mpi
def test_the_result_is_that_of_one_process(four, two, processes):
    alone = processes.simulated()
    assert four["same_result"] == four["same_by_messages"] == [[alone, alone]] * 4
    assert two[2]["same_result"] == [[alone, alone]] * 2


@pytest.mark.long
@needs_mpi
def test_a_run_goes_on_from_a_checkpoint(four, processes):
    alone = processes.simulated()
    assert four["kept_and_resumed"] == [[alone, alone]] * 4


@needs_mpi
def test_each_says_what_it_did(four):
    assert four["work_is_told"] == [[6, 4, 4, True]] * 4


@needs_mpi
def test_all_refuse_what_is_not_alike(four):
    assert len(set(four["another_gpu"])) == 1
    assert "rank 1 on " in four["another_gpu"][0] and "another GPU than" in four["another_gpu"][0]
    assert len(set(four["device_that_differs"])) == 1
    assert "has another course of the program than rank 0" in four["device_that_differs"][0]


@needs_mpi
def test_all_learn_why_one_failed(four):
    own = four["one_fails"].pop(1)
    assert own == "WorkloadError: no more of it here"
    assert set(four["one_fails"]) == {"LockstepError: rank 1 of 4 has ended: no more of it here"}


@needs_mpi
def test_a_signal_to_one_ends_all_after_the_same_window(four):
    assert four["ended_by_a_signal"] == [four["ended_by_a_signal"][0]] * 4
    assert four["ended_by_a_signal"][0][0] is True


@needs_mpi
def test_a_deadlock_names_the_warps_of_all(four):
    (text,) = set(four["deadlock"])
    assert all(f"SM {s} warp 1" in text for s in range(6))


@needs_mpi
def test_a_device_gives_what_it_gives_alone(four, processes):
    with Device(api.gpu(*processes.GPU), timing=True) as gpu:
        load("vecadd").run(gpu, 1000, 0)
        assert four["device"] == [gpu.result.hash] * 4


@pytest.mark.long
@needs_mpi
def test_one_that_dies_ends_all_with_a_word_on_how_to_go_on(two, processes):
    folder, done, report = two
    assert done.returncode != 0 and "killed" not in report
    assert "lockstep: rank 1 of 2 is lost: process " in done.stderr
    assert done.stderr.count("has died; the others ended at cycle ") == 1
    way = "by: mpiexec -n 2 lockstep simulate three.lst --ranks mpi --resume " + str(
        folder / "last"
    )
    assert way in done.stderr
    result = api.simulate(
        processes.workload(), api.gpu(*processes.GPU), resume=folder / "last", ranks=2
    )
    assert result.hash == processes.simulated()[0]


def test_what_is_no_communicator_is_refused():
    with pytest.raises(LockstepError, match=r"ranks = 'four': expected a number, or a comm"):
        api.simulate("none.lst", "QV100", ranks="four")


def test_without_mpi4py_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    mpi._library.cache_clear()
    with pytest.raises(LockstepError, match=r"need mpi4py .*lockstep-gpu\[mpi\].*--no-binary"):
        mpi.world()
    mpi._library.cache_clear()


@pytest.mark.parametrize("name", ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"])
def test_an_mpiexec_of_another_mpi_is_noticed(monkeypatch, name):
    class Library:
        class COMM_WORLD:
            size = 1

    monkeypatch.setattr(mpi, "_library", lambda: Library)
    for each in mpi.STARTED:
        monkeypatch.delenv(each, raising=False)
    assert mpi.world().size == 1
    monkeypatch.setenv(name, "4")
    with pytest.raises(LockstepError, match=r"mpiexec started 4 processes, .* sees one"):
        mpi.world()
