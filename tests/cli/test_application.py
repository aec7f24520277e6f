import json
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import lockstep
from lockstep.engine import checkpoint

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


def test_a_program_may_be_called_as_a_ptx_file(call, tmp_path):
    shutil.copy(shutil.which("false"), tmp_path / "false.ptx")
    done = call("run", "--timing", "none", "./false.ptx")
    assert done.exit_code == 1 and "lockstep: A100, 0 kernels, 0 launches" in done.stderr


def test_a_file_that_is_no_program_says_what_to_do(call, tmp_path):
    """In one line, whether a path or a name, executable or not."""
    cc = next(name for name in ("cc", "gcc", "clang") if shutil.which(name))
    (tmp_path / "slow.cu").write_text("#include <cstdio>\nint main() {}\n")
    (tmp_path / "c.c").write_text(
        'char code[8] __attribute__((section(".nv_fatbin"))) = {1}; int main() {}\n'
    )
    subprocess.run([cc, "-c", "c.c", "-o", "c.o"], cwd=tmp_path, check=True)
    subprocess.run([cc, "c.c", "-o", "static_app"], cwd=tmp_path, check=True)
    (tmp_path / "code.fatbin").write_bytes(b"\x50\xed\x55\xba" + bytes(60))
    (tmp_path / "tool.py").write_text("print(1)\n")
    (tmp_path / "lib.a").write_bytes(b"!<arch>\n")
    (tmp_path / "app").write_bytes((tmp_path / "static_app").read_bytes())
    wanted = {
        "slow.cu": "source text: compile it, as `nvcc -o slow slow.cu`, and",
        "./slow.cu": "source text",
        "c.o": "an object file: link it, as `nvcc -o c c.o`",
        "./static_app": "link it with `nvcc -cudart shared`",
        "static_app": "`lockstep run ./static_app` starts it",
        "./app": "chmod +x app",
        "code.fatbin": "GPU code: it is no program",
        "tool.py": "`lockstep run python tool.py`",
        "lib.a": "a library of object files",
    }
    for name, words in wanted.items():
        for gpu in ((), ("--gpu", "A100")):
            done = call("run", *gpu, name)
            (line,) = done.stderr.splitlines()
            assert (done.exit_code, words in line) == (2, True), line
    (tmp_path / "slow.cu").chmod(0o755)
    assert "source text" in call("run", "./slow.cu").stderr


def test_recorded_calls_are_no_trace(call, tmp_path):
    """Neither written under a trace's name nor read as one: who wants the other is told how."""
    done = call("run", "--record", str(tmp_path / "a.lst"), sys.executable, "-c", "pass")
    assert (done.exit_code, not list(tmp_path.iterdir())) == (2, True)
    assert f"`lockstep trace -o {tmp_path / 'a.lst'}` writes a trace of it" in done.stderr
    calls = tmp_path / "calls"
    done = call("run", "--timing", "none", "--record", str(calls), sys.executable, "-c", "pass")
    assert done.exit_code == 0, done.output
    for name in ("calls", "old.lst"):
        done = call("simulate", str(calls.rename(tmp_path / name)))
        assert done.exit_code == 2
        assert "holds a program's calls: `lockstep replay` executes them" in done.stderr
        calls = tmp_path / name


def test_options_behind_the_programs_name_get_a_hint(call):
    words = (sys.executable, "-c", "pass", "--gpu=H100", "--seed", "3", "--set", "x")
    done = call("run", "--timing", "none", "--gpu", "A100", *words)
    assert "lockstep: --gpu, --set go to python" in done.stderr
    for silent in (("-q",), ("--",)):
        done = call("run", "--timing", "none", "--gpu", "A100", *silent, *words)
        assert "options of lockstep" not in done.stderr


def test_the_exit_code_is_the_programs(call):
    options = ("run", "-q", "--timing", "none", "--gpu", "H100")
    assert call(*options, sys.executable, "-c", "raise SystemExit(37)").exit_code == 37
    done = call(*options, sys.executable, "-c", "import os; os.kill(os.getpid(), 11)")
    assert done.exit_code == 139
    assert "was killed by SIGSEGV" in done.stderr


def test_the_summary_and_the_document(call, tmp_path):
    text = HIDE + "rt.cudaMalloc(ctypes.byref(p), ctypes.c_size_t(1000)); "
    text += "rt.cudaMemset(p, 1, ctypes.c_size_t(1000)); rt.cudaImportExternalMemory()"
    done = call("run", "--timing", "none", "--json", "r.json", sys.executable, "-c", text)
    assert "copies: 1 fills (1.0 KB)" in done.stderr
    assert "not supported: cudaImportExternalMemory (1 calls)" in done.stderr
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


TRACED = """
import ctypes, sys
driver, p, number = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p, ctypes.c_uint
module, kernel, context, memory = p(), p(), p(), p()
driver.cuInit(0)
driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
driver.cuCtxSetCurrent(context)
cubin = open(sys.argv[1], "rb").read()
assert driver.cuModuleLoadData(ctypes.byref(module), cubin) == 0
assert driver.cuModuleGetFunction(ctypes.byref(kernel), module, b"add") == 0
assert driver.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(400)) == 0
values = [memory, memory, memory, ctypes.c_int(100)]
arguments = (p * 4)(*(ctypes.cast(ctypes.byref(v), p) for v in values))
shape = [number(n) for n in (1, 1, 1, 128, 1, 1, 0)]
assert driver.cuLaunchKernel(kernel, *shape, None, arguments, None) == 0
driver.cuCtxSynchronize()
raise SystemExit(3)
"""


def test_a_replay_finds_what_the_run_found(call, repository):
    options = ("--gpu", "A100", "--timing", "none", "--quiet", "--check")
    cubin = repository / "tests/device/cubins/recorded.sm_80.cubin"
    for checks, threads in (("init", 100), ("memory,init", 128)):
        program = TRACED.replace("c_int(100)", f"c_int({threads})")
        said = [
            call("run", *options, checks, "--record", "rec", sys.executable, "-c", program, cubin),
            call("replay", "rec", *options, checks, "--json", "r.json"),
        ]
        assert [done.exit_code for done in said] == [3, 3]
        assert said[0].stderr == said[1].stderr
        found = json.loads(Path("r.json").read_text())["findings"]
        assert {finding["check"] for finding in found} == set(checks.split(","))


def test_a_program_and_its_replay_are_advised(call, repository):
    cubin = repository / "tests/device/cubins/recorded.sm_80.cubin"
    options, program = ("--gpu", "A100", "--json", "r.json"), [sys.executable, "-c", TRACED, cubin]
    done = call("run", *options, "--advice", "--what-if", *program)
    assert done.exit_code == 2 and "lockstep trace makes a trace" in done.stderr
    done = call("run", *options, "--advice", "--record", "rec", *program)
    assert done.exit_code == 3 and "1. Small grid in add: 99.1 %" in done.stderr
    item = json.loads(Path("r.json").read_text())["advice"]["items"][0]
    assert (item["rule"], item["kernel"]) == ("small_grid", "add")
    again = call("replay", "rec", *options, "--advice")
    assert again.exit_code == 0 and "1. Small grid in add: 99.1 %" in again.stderr


@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("name, version", [("t.lst", None), ("t", "5"), ("t6", "6")])
def test_a_trace_of_a_program(call, repository, tmp_path, last, name, version):
    program = [sys.executable, "-c", TRACED]
    program += [repository / "tests/device/cubins/recorded.sm_80.cubin"]
    options = ["--tracer", "6"] if version == "6" else []
    words = [*program, "-o", name] if last else ["-o", name, *program]
    done = call("trace", *options, "--gpu", "A100", *words)
    assert done.exit_code == 3, done.output
    assert done.stderr.startswith(f"{name}: 1 kernels, ")
    (kernel,) = lockstep.load(tmp_path / name).kernels
    assert (kernel.name, kernel.architecture, kernel.block) == ("add", 80, (128, 1, 1))
    lanes = sum(int(cta.warps["thread_instructions"].sum()) for cta in kernel.ctas())
    assert lanes == 128 * 5 + 28 + 100 * 11, "instructions until and after those outside have left"
    if version:
        header = (tmp_path / name / "kernel-1.traceg").read_text()
        assert f"-accelsim tracer version = {version}\n" in header


def test_an_output_before_the_program_leaves_the_programs_own(call, tmp_path):
    text = "import sys; print(sys.argv[1:], file=open('said', 'w'))"
    done = call("trace", "-o", "t.lst", sys.executable, "-c", text, "-o", "x")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "said").read_text() == "['-o', 'x']\n"
    assert "t.lst: 0 kernels" in done.stderr


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["trace", "--ptx", "vecadd", "-o", "t"], "is for CUDA programs"),
        (["trace", "/bin/true"], "Missing option '--output'"),
        (["trace", "-o"], "requires an argument"),
        (["trace"], "Missing"),
        (["run", "--timing", "sample:0", "vecadd"], "every = 0: expected at least 1"),
        (["run", "--timing", "sample:", "vecadd"], "expected full, none, sample:error=1%"),
        (["run", "--timing", "sample:error=2", "vecadd"], "error = 2.0: expected a share"),
        (["run", "--timing", "sample:eror=2%", "vecadd"], "expected e.g. sample:error=1%,seed=3"),
        (["run", "--timing", "sample:seed=2.5", "vecadd"], "expected e.g. sample:error=1%"),
        (["run", "--timing", "sample:seed=2", "vecadd"], "takes an error"),
        (["run", "--timing", "plan:absent.json", "vecadd"], "absent.json: cannot read"),
        (["run", "--ptx", "vecadd"], "is for CUDA programs"),
        (["run", "--gpu", "none", "/bin/true"], "none"),
        (["run", "--gpu", "", "/bin/true"], "no GPU is named ''"),
        (["trace", "--gpu", "", "-o", "t.lst", "vecadd"], "no GPU is named ''"),
        (["run", "./absent"], "absent"),
        (["replay", "absent", "--gpu", "A100"], "cannot read"),
    ],
)
def test_bad_input(call, arguments, message):
    done = call(*arguments)
    assert done.exit_code == 2
    assert message in done.stderr


def test_a_record_that_cannot_be_written_is_said_at_the_end(call, tmp_path):
    """The program goes on, and what was recorded before stays."""
    options = ("-q", "--timing", "none", "--gpu", "A100", "--memory", "1MB", "--record", "rec")
    text = HIDE + "n = ctypes.c_size_t(1 << 19); rt.cudaMalloc(ctypes.byref(p), n)"
    assert call("run", *options, sys.executable, "-c", text).exit_code == 0
    before = (tmp_path / "rec" / "calls.lcr").read_bytes()
    text += "; import os; [rt.cudaMemcpy(p, os.urandom(1 << 19), n, 1) for _ in range(8)]"
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2 << 20, limits[1]))
    try:
        done = call("run", *options, sys.executable, "-c", text)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert done.exit_code == 2
    assert done.stderr.splitlines() == ["lockstep: rec/calls.lcr: cannot write: File too large"]
    assert (tmp_path / "rec" / "calls.lcr").read_bytes() == before


@pytest.mark.long
def test_a_program_goes_on_from_its_checkpoints(
    call, tmp_path, monkeypatch, load_script, repository
):
    program = load_script(repository / "scripts" / "kill_runs.py").PROGRAM
    command = ("run", "-q", "--gpu", "A100", "--set", "sm.count=4", "--json")
    assert call(*command, "whole.json", sys.executable, "-c", program).exit_code == 0
    left = [0]

    class StopAfter(checkpoint.Keeper):
        def due(self):
            left[0] -= 1
            return left[0] < 0

        def save(self, frozen):
            super().save(frozen)
            raise KeyboardInterrupt

    def result(name):
        document = json.loads((tmp_path / name).read_text())
        return document.pop("run")["result_hash"], document

    for looks in (0, 2, 5):
        left[0] = looks
        with monkeypatch.context() as patch:
            patch.setattr(checkpoint, "Keeper", StopAfter)
            options = (*command, "r.json", "--checkpoint-dir", "kept")
            done = call(*options, sys.executable, "-c", program)
        assert done.exit_code == 130, done.stderr
        options = (*command, "r.json", "--resume", "kept")
        assert call(*options, sys.executable, "-c", program).exit_code == 0
        assert result("r.json") == result("whole.json")
    other = program.replace("ctypes.c_int(1 << 20)", "ctypes.c_int(1 << 19)")
    done = call(*options, sys.executable, "-c", other)
    assert done.exit_code == 2
    assert "launch 1 (add) is the first that differs" in done.stderr
    assert len(done.stderr.splitlines()) == 1
