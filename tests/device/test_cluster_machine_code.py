"""Clusters from machine code of sm_90: the twin's programs, as ptxas makes them."""

import shutil
import subprocess

import numpy as np
import pytest

import lockstep
from lockstep.errors import LockstepError, WorkloadError
from lockstep.execution.launches.faults import LaunchError
from ptx_twin import cluster_programs as clusters


@pytest.fixture(scope="module")
def device():
    with lockstep.Device("H100", limit_instructions=5_000_000) as device:
        yield device


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


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "shape"), clusters.cases(clusters.PROGRAMS, ("one", "two", "planes"))
)
def test_as_the_twin(assemble, name, shape):
    cluster, grid = clusters.SHAPES[shape]
    _, out = clusters.launch(assemble(clusters.PROGRAMS[name]), grid, cluster)
    np.testing.assert_array_equal(
        out.numpy(), clusters.by_twin(clusters.PROGRAMS[name], grid, cluster)
    )


def test_other_sizes_than_it_was_compiled_for(device, assemble):
    entry = assemble(clusters.kernel("mov.u32 %a, %m;", ".reqnctapercluster 4"))
    assert entry.required_cluster == (4, 1, 1)
    out = device.array(np.zeros(8 * clusters.THREADS, np.uint32))
    entry[8, clusters.THREADS](out)
    assert set(out.numpy()) == {4}
    with pytest.raises(WorkloadError, match=r"clusters of \(2, 1, 1\) CTAs; it was compiled for"):
        entry.with_cluster(2)[8, clusters.THREADS](out)


def test_what_is_not_executed_is_refused(assemble):
    text = clusters.kernel("multimem.ld_reduce.global.add.u32 %a, [%out];")
    with pytest.raises(LockstepError, match=r"LDGMC.*is not supported"):
        assemble(text)[4, clusters.THREADS](0)


@pytest.mark.parametrize("far", [1 << 16, 1 << 24, 5 << 24])
def test_shared_memory_that_is_no_ctas(assemble, far):
    text = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 far)
{
    .shared .align 4 .b32 words[32];
    .reg .b32 %r<4>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [far];
    mov.u32 %r2, words;
    add.u32 %r2, %r2, %r1;
    ld.shared.u32 %r3, [%r2];
    st.global.u32 [%rd1], %r3;
    ret;
}
"""
    kernel = assemble(text)
    out = kernel.module.device.zeros(1, "u4")
    kernel[1, 1](out, 0)
    with pytest.raises(LaunchError, match="invalid shared read of 4 bytes"):
        kernel[1, 1](out, far)
