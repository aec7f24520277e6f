"""A GPU in SST takes the cycles that it takes in front of the same memory here; needs SST."""

import os
import re
import shutil
import subprocess
import sys

import pytest

import lockstep
from fixed_memory import FixedMemory
from lockstep.outside.sst import build

CONFIGURATION = """
import sst
gpu = sst.Component("gpu", "lockstep.GPU")
gpu.addParams({{"workload": "{trace}", "command": "{python} -m lockstep"}})
gpu.setSubComponent("memory", "lockstep.FixedLatency").addParam("cycles", {cycles})
"""


@pytest.fixture(scope="module")
def elements(tmp_path_factory):
    if not (shutil.which("sst") and shutil.which("sst-config")):
        pytest.skip("needs an installed SST")
    return build.build(tmp_path_factory.mktemp("elements")).parent


@pytest.mark.parametrize("cycles", [0, 100, 200])
def test_a_fixed_memory_is_as_fast_there_as_here(elements, repository, tmp_path, cycles):
    trace = repository / "examples" / "vecadd"
    text = CONFIGURATION.format(trace=trace, python=sys.executable, cycles=cycles)
    (tmp_path / "t.py").write_text(text)
    done = subprocess.run(
        ["sst", f"--add-lib-path={elements}", str(tmp_path / "t.py")],
        capture_output=True, text=True, timeout=300,
        env=os.environ | {"PYTHONPATH": str(repository / "src")},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    expected = lockstep.simulate(trace, "QV100", outside=FixedMemory(cycles)).cycles
    (found,) = re.findall(r"vecadd on QV100: ([\d,]+) cycles", done.stdout)
    assert found == f"{expected:,}"
    assert "Simulation is complete" in done.stdout
