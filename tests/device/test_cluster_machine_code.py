"""Clusters from machine code of sm_90: the twin's programs, as ptxas makes them."""

import shutil
import subprocess

import numpy as np
import pytest

import lockstep
from lockstep.errors import LockstepError, WorkloadError
from lockstep.isa.ptx.parser import parse
from ptx_twin.cluster_programs import PROGRAMS, kernel
from ptx_twin.interpreter import run
from ptx_twin.memory import Memory

THREADS = 64
SHAPES = {"one": (1, 3), "two": (2, 8), "planes": ((2, 1, 2), (4, 3, 2))}
ONLY_PTX = ("stores that", "vector stores", "reductions that", "a copy")  # STAS, REDAS, UBLKCP


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


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", [n for n in PROGRAMS if not n.startswith(ONLY_PTX)])
def test_as_the_twin(device, assemble, name, shape):
    if name == "a whole CTA ends early" and shape == "one":
        pytest.skip("its only CTA ends")
    cluster, grid = SHAPES[shape]
    text, memory = PROGRAMS[name], Memory(1 << 20)
    count = THREADS * int(np.prod(grid))
    place = memory.allocate(4 * count)
    run(parse(text), "k", grid, THREADS, [place], memory, cluster=cluster)
    out = device.array(np.zeros(count, np.uint32))
    entry = assemble(text)
    (entry if cluster == 1 else entry.with_cluster(cluster))[grid, THREADS](out)
    expected = np.frombuffer(memory.bytes_at(place, 4 * count), np.uint32)
    np.testing.assert_array_equal(out.numpy(), expected)


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
