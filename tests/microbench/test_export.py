"""What is exported compiles, and the driver runs a plan, here on a modelled GPU."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from lockstep.frontend.cuda.build import libraries
from lockstep.microbench import code, plan
from lockstep.microbench.benchmark import Target
from lockstep.microbench.export import export
from lockstep.microbench.suite import all_benchmarks

TARGET = Target(132, 90, full=True)
needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc")


@pytest.fixture
def exported(tmp_path):
    chosen = [b for b in all_benchmarks(TARGET) if b.name == "lat.lds128"]
    assert export(tmp_path, TARGET, chosen) == 4
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


@needs_nvcc
def test_the_driver_runs_a_plan(exported):
    command = ["nvcc", "-std=c++17", "-o", "driver", "driver.cpp", f"-L{libraries()}", "-lcuda"]
    subprocess.run(command, cwd=exported, check=True)
    (exported / "cubins").mkdir()
    (exported / "cubins" / "shared.cubin").write_bytes(code.cubin(90, "shared"))
    text = (exported / "plan.txt").read_text()
    wrong = re.sub(r"lds128( .* i32:64)", r"absent\1", text)
    (exported / "plan.txt").write_text(wrong)
    run = [sys.executable, "-m", "lockstep", "run", "-q", "--at-issue", "--gpu", "H100_SXM"]
    subprocess.run([*run, "./driver", "plan.txt", "cubins", "raw.txt"], cwd=exported, check=True)
    raw = plan.Raw(exported / "raw.txt")
    (failure,) = raw.failures
    assert failure.startswith("lat.lds128|stride_bytes=64: ")
    rows = list(
        raw.rows([b for b in all_benchmarks(TARGET) if b.name in ("device.sms", "lat.lds128")])
    )
    assert [r.name for r in rows] == ["device.sms"] + 3 * ["lat.lds128"]
    assert rows[1].value == pytest.approx(32, abs=4)
