"""What is exported compiles, and the driver runs a plan, here on a modelled GPU."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace

import pytest

from lockstep.frontend.cuda.build import libraries
from lockstep.microbench import code, plan
from lockstep.microbench.benchmark import Launch, Target
from lockstep.microbench.export import export
from lockstep.microbench.suite import all_benchmarks

TARGET = Target(132, 90, full=True)
ALL_CASES = "lat.lds128"
KINDS = (  # one case of each kind of step, buffer and launch
    "device.sms",
    "launch.empty_event",
    "copy.h2d_pinned",
    "lat.constant_chase",
    "lat.chase_ca_random",
    "probe.l1_sector",
    "sync.grid",
    "lat.dsm_load",
)
needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc")


def benchmarks():
    found = {b.name: b for b in all_benchmarks(TARGET)}
    return [found[ALL_CASES], *(replace(found[n], cases=found[n].cases[:1]) for n in KINDS)]


@pytest.fixture
def exported(tmp_path):
    assert export(tmp_path, TARGET, benchmarks()) == 4 + len(KINDS) - 1
    return tmp_path


def test_a_folder_has_all_that_the_script_names(exported):
    assert {p.name for p in exported.iterdir()} == {"driver.cpp", "kernels", "plan.txt", "run.sh"}
    assert os.access(exported / "run.sh", os.X_OK)
    sources = {p.name for p in (exported / "kernels").iterdir()}
    assert {"common.cuh", "shared.cu", "chase.cu"} <= sources


@needs_nvcc
def test_a_kernel_file_compiles(exported):
    command = ["nvcc", "-std=c++17", "-cubin", "-arch=sm_90a", "-o", os.devnull, "shared.cu"]
    subprocess.run(command, cwd=exported / "kernels", check=True)


@pytest.mark.long
@needs_nvcc
def test_the_driver_runs_a_plan_and_goes_on_after_a_failure(exported):
    command = ["nvcc", "-std=c++17", "-o", "driver", "driver.cpp", f"-L{libraries()}", "-lcuda"]
    subprocess.run(command, cwd=exported, check=True)
    (exported / "cubins").mkdir()
    cases = [case for benchmark in benchmarks() for case in benchmark.cases]
    launches = [s for c in cases for s in (*c.warm, *c.launches) if isinstance(s, Launch)]
    for file in {launch.kernel.partition(".")[0] for launch in launches}:
        (exported / "cubins" / f"{file}.cubin").write_bytes(code.cubin(90, file))
    text = (exported / "plan.txt").read_text()
    wrong = re.sub(r"lds128( .* i32:64)", r"absent\1", text)
    once = re.sub(r"^(options \d+) \d+", r"\1 1", wrong, flags=re.MULTILINE)
    (exported / "plan.txt").write_text(once)
    run = [sys.executable, "-m", "lockstep", "run", "-q", "--at-issue", "--gpu", "H100_SXM"]
    subprocess.run([*run, "./driver", "plan.txt", "cubins", "raw.txt"], cwd=exported, check=True)
    raw = plan.Raw(exported / "raw.txt")
    (failure,) = raw.failures
    assert failure.startswith("lat.lds128|stride_bytes=64: ")
    rows = {row.name: row.value for row in raw.rows(benchmarks())}
    no_time = {"copy.h2d_pinned"}  # a copy takes a modelled GPU none
    assert set(rows) == {ALL_CASES, *KINDS} - no_time
    assert rows["lat.lds128"] > 30
    assert rows["lat.chase_ca_random"] == pytest.approx(32, abs=1)
    assert 1 < rows["launch.empty_event"] < 4
