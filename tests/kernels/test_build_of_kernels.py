"""The script that rebuilds the PTX of the built-in kernels."""

import importlib.util

import pytest

from lockstep.kernels import load


@pytest.fixture(scope="module")
def script(repository, load_script):
    return load_script(repository / "examples" / "kernels" / "build.py")


@pytest.fixture(scope="module")
def compiler(script):
    if importlib.util.find_spec("nvidia") is None:
        pytest.skip("needs NVRTC, which is absent")
    return script.Compiler()


def test_files_are_named_without_their_folders(script):
    text = '\t.file\t1 "/home/x/saxpy.cu"\n\t.file\t2 "mma.hpp"\n.loc 1 2 0'
    assert script.relative(text) == '\t.file\t1 "saxpy.cu"\n\t.file\t2 "mma.hpp"\n.loc 1 2 0'


def test_without_nvrtc_the_script_says_what_to_install(script, monkeypatch):
    monkeypatch.setattr(script, "packages", list)
    with pytest.raises(SystemExit, match="pip install"):
        script.Compiler()


@pytest.mark.parametrize("name", ["saxpy", "half_dot", "gemm_mma"])
def test_the_committed_ptx_is_what_the_sources_give(script, compiler, name):
    kernel = load(name)
    ptx = compiler.compile(kernel.source.read_text(), kernel.source.name, kernel.arch)
    assert script.relative(ptx) == kernel.ptx.read_text()


def test_errors_of_the_compiler_are_shown(script, compiler):
    with pytest.raises(SystemExit, match=r"bad.cu\(1\): error"):
        compiler.compile("nonsense", "bad.cu", "sm_70")
