import shutil
import sys

import pytest

HIDE = "import ctypes; rt = ctypes.CDLL('libcudart.so.13'); p = ctypes.c_void_p(); "


@pytest.fixture(autouse=True)
def compiler():
    if not any(map(shutil.which, ("cc", "gcc", "clang"))):
        pytest.skip("needs a C compiler, and there is none")


def test_a_program_with_its_own_options(call, capfd):
    done = call(
        "run", "--timing", "none", sys.executable, "-c", "import sys; print(sys.argv)", "--gpu"
    )
    assert done.exit_code == 0, done.output
    assert capfd.readouterr().out == "['-c', '--gpu']\n"
    assert "lockstep: A100, 0 kernels, 0 launches" in done.stderr


def test_the_exit_code_is_the_programs(call):
    options = ("run", "-q", "--timing", "none", "--gpu", "H100")
    assert call(*options, sys.executable, "-c", "raise SystemExit(37)").exit_code == 37
    done = call(*options, sys.executable, "-c", "import os; os.kill(os.getpid(), 11)")
    assert done.exit_code == 139
    assert "was killed by SIGSEGV" in done.stderr


def test_the_summary_and_the_document(call, tmp_path):
    text = HIDE + "rt.cudaMalloc(ctypes.byref(p), ctypes.c_size_t(1000)); "
    text += "rt.cudaMemset(p, 1, ctypes.c_size_t(1000)); rt.cudaIpcOpenMemHandle()"
    done = call("run", "--timing", "none", "--json", "r.json", sys.executable, "-c", text)
    assert "copies: 1 fills (1.0 KB)" in done.stderr
    assert "not supported: cudaIpcOpenMemHandle (1 calls)" in done.stderr
    assert '"fills"' in (tmp_path / "r.json").read_text()


def test_a_record_and_its_replay(call):
    text = HIDE + "rt.cudaMalloc(ctypes.byref(p), ctypes.c_size_t(1000)); "
    text += "rt.cudaMemcpy(p, b'x' * 1000, ctypes.c_size_t(1000), 1)"
    assert (
        call("run", "--timing", "none", "--record", "rec", sys.executable, "-c", text).exit_code
        == 0
    )
    done = call("replay", "rec", "--gpu", "H100", "--timing", "none")
    assert done.exit_code == 0, done.output
    assert "H100, 0 kernels" in done.stderr and "1 to device (1.0 KB)" in done.stderr


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["run", "--timing", "sample:0", "vecadd"], "expected full, none or e.g. sample:10"),
        (["run", "--timing", "sample:3", "vecadd"], "is for CUDA programs"),
        (["run", "--ptx", "vecadd"], "is for CUDA programs"),
        (["run", "--gpu", "none", "/bin/true"], "none"),
        (["run", "./absent"], "absent"),
        (["replay", "absent", "--gpu", "A100"], "cannot read"),
    ],
)
def test_bad_input(call, arguments, message):
    done = call(*arguments)
    assert done.exit_code == 2
    assert message in done.stderr
