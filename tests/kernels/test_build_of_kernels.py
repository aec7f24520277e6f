"""The script that rebuilds the PTX of the built-in kernels."""

import importlib.util

import pytest

from lockstep.kernels import load


@pytest.fixture(scope="module")
def script(repository, load_script):
    return load_script(repository / "examples" / "kernels" / "build.py")


def test_files_are_named_without_their_folders(script):
    text = '\t.file\t1 "/home/x/saxpy.cu"\n\t.file\t2 "mma.hpp"\n.loc 1 2 0'
    assert script.relative(text) == '\t.file\t1 "saxpy.cu"\n\t.file\t2 "mma.hpp"\n.loc 1 2 0'


def test_what_is_compiled_is_written_beside_the_source(script, monkeypatch, tmp_path):
    seen = []

    def compile_cuda(source, arch, name):
        seen.append((source, arch, name))
        return '.file 1 "/x/gemm_mma.cu"'

    class Kernel:
        source, ptx = tmp_path / "gemm_mma.cu", tmp_path / "gemm_mma.ptx"
        arch = "sm_80"

    Kernel.source.write_text("text")
    monkeypatch.setattr(script, "compile_cuda", compile_cuda)
    monkeypatch.setattr(script, "load", lambda name: Kernel)
    script.main(["gemm_mma"])
    assert seen == [("text", "sm_80", "gemm_mma.cu")]
    assert Kernel.ptx.read_text() == '.file 1 "gemm_mma.cu"'


@pytest.mark.parametrize("name", ["saxpy", "half_dot", "gemm_wmma", "gemm_mma"])
def test_the_committed_ptx_is_what_the_sources_give(script, name):
    if importlib.util.find_spec("nvidia") is None:
        pytest.skip("needs NVRTC, which is absent")
    assert script.compiled(load(name)) == load(name).ptx.read_text()
