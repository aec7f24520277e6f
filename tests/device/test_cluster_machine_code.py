"""Clusters from machine code of sm_90: the twin's programs, as ptxas makes them."""

import shutil
import subprocess

import numpy as np
import pytest

import lockstep
from lockstep.errors import LockstepError, WorkloadError
from ptx_twin.cluster_programs import (
    PROGRAMS,
    SHAPES,
    THREADS,
    by_twin,
    cases,
    kernel,
    launch,
)

ONLY_PTX = ("stores that", "vector stores", "reductions that", "a copy")  # STAS, REDAS, UBLKCP
EXECUTED = [name for name in PROGRAMS if not name.startswith(ONLY_PTX)]


@pytest.fixture(scope="module")
def device():
    return lockstep.Device("H100", limit_instructions=5_000_000)


@pytest.fixture
def assemble(device, tmp_path):
    if not shutil.which("ptxas"):
        pytest.skip("needs ptxas, and there is none")

    def assembled(text):
        source, target = tmp_path / "k.ptx", tmp_path / "k.cubin"
        source.write_text(text)
        command = ["ptxas", "-arch=sm_90", "-o", target, source]
        subprocess.run(command, check=True, capture_output=True, timeout=60)
        return device.load_cubin(target)["k"]

    return assembled


@pytest.mark.parametrize(("name", "shape"), cases(EXECUTED, ("one", "two", "planes")))
def test_as_the_twin(assemble, name, shape):
    cluster, grid = SHAPES[shape]
    _, out = launch(assemble(PROGRAMS[name]), grid, cluster)
    np.testing.assert_array_equal(out.numpy(), by_twin(PROGRAMS[name], grid, cluster))


def test_other_sizes_than_it_was_compiled_for(device, assemble):
    entry = assemble(kernel("mov.u32 %a, %m;", ".reqnctapercluster 4"))
    assert entry.required_cluster == (4, 1, 1)
    out = device.array(np.zeros(8 * THREADS, np.uint32))
    entry[8, THREADS](out)
    assert set(out.numpy()) == {4}
    with pytest.raises(WorkloadError, match=r"clusters of \(2, 1, 1\) CTAs; it was compiled for"):
        entry.with_cluster(2)[8, THREADS](out)


def test_what_is_not_executed_is_refused(assemble):
    with pytest.raises(LockstepError, match="STAS is not supported"):
        assemble(PROGRAMS["stores that complete a barrier"])[4, THREADS](0)
