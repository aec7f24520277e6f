import json
import subprocess
import sys

import numpy as np
import pytest

import lockstep
from lockstep.kernels import Check, WrongResult, load

SMALL = ("--set", "sm.count=4")


def test_a_program_with_its_cycles(call, tmp_path):
    files = ["--json", "r.json", "--out", "out", "--record", "v.lst", "--timeline", "t.json.gz"]
    files += ["--report", "r.html"]
    done = call("run", "vecadd", "--size", "1e3", *SMALL, "--threads", "2", *files)
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("vecadd on QV100: ")
    assert "Speed of light" in done.stdout
    assert done.stdout.endswith("Results are right: c.\n")
    document = json.loads((tmp_path / "r.json").read_text())
    assert [k["name"] for k in document["kernels"]] == ["vecadd"]
    again = lockstep.simulate(tmp_path / "v.lst", lockstep.gpu("QV100", ["sm.count=4"]))
    assert again.cycles == document["total"]["cycles"]
    assert (tmp_path / "out" / "summary.txt").exists() and (tmp_path / "t.json.gz").exists()
    assert "vecadd on QV100" in (tmp_path / "r.html").read_text()


def test_a_program_without_its_cycles(call, tmp_path):
    done = call("run", "mm3", "--size", load("mm3").small, "--timing", "none", "--json", "r.json")
    assert done.exit_code == 0, done.output
    heading, *rows, verdict = done.stdout.splitlines()
    assert heading.split()[:2] == ["kernel", "launches"]
    assert verdict.startswith("Results are right: ")
    document = json.loads((tmp_path / "r.json").read_text())
    launches = document["kernels"]
    assert sum(int(row.split()[1]) for row in rows) == len(launches)
    assert all(k["profile"]["smsp__inst_executed.sum"] > 0 for k in launches)


def test_standard_output_is_for_the_results_alone(tmp_path):
    command = [sys.executable, "-m", "lockstep", "run", "vecadd", "--size", "1000"]
    command += ["--timing", "none", "--json", "-"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["kernels"]
    assert "warp inst." in done.stderr and "Results are right" in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_plain_run_imports_and_collects_little(tmp_path):
    unused = "lockstep.frontend.tracefile lockstep.execution.launches.at_issue"
    unused += " email numba numpy.ma pandas"
    code = (
        "import gc, sys; from lockstep.cli.main import main\n"
        "try: main(['run', 'vecadd', '--size', '1000', '--set', 'sm.count=4'])\n"
        "except SystemExit: pass\n"
        f"print([name for name in {unused.split()} if name in sys.modules])\n"
        "print(gc.get_stats()[2]['collections'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert "Results are right" in done.stdout, done.stderr
    assert done.stdout.splitlines()[-2:] == ["[]", "0"]


def test_a_program_that_is_executed_as_it_is_simulated(call, tmp_path):
    cycles = []
    for options in ([], ["--at-issue"]):
        size = ["--size", load("spin_lock").small]
        done = call("run", "spin_lock", *size, *SMALL, *options, "--json", "r.json")
        assert "Results are right" in done.stdout
        cycles.append(json.loads((tmp_path / "r.json").read_text())["total"]["cycles"])
    assert cycles[0] != cycles[1]


def test_quiet_prints_nothing(call):
    done = call("run", "vecadd", "--size", 100, "--timing", "none", "-q")
    assert (done.exit_code, done.output) == (0, "")


def test_seed_and_size_reach_the_program(call, monkeypatch):
    kernel, seen = load("vecadd"), []

    def spy(self, device, size, seed):
        seen.append((size, seed))
        return ()

    monkeypatch.setattr(type(kernel), "run", spy)
    assert call("run", "vecadd", "--size", "2e3", "--seed", 5, "--timing", "none").exit_code == 0
    assert seen == [(2000, 5)]


def test_wrong_results_are_exit_code_1(call, monkeypatch):
    def verify(self):
        raise WrongResult("c: 1 of 2 values differ")

    monkeypatch.setattr(Check, "verify", verify)
    done = call("run", "vecadd", "--size", 100, "--timing", "none")
    assert done.exit_code == 1
    assert done.stderr.endswith("lockstep: wrong result: c: 1 of 2 values differ\n")


def test_an_early_end_is_exit_code_1_with_what_there_is(call, monkeypatch, tmp_path):
    from lockstep.engine import stop

    monkeypatch.setattr(stop.RunLimits, "reached", lambda *_: "interrupted at cycle 9")
    done = call("run", "vecadd", "--size", 1000, *SMALL, "--json", "r.json")
    assert done.exit_code == 1
    assert done.stderr.endswith("lockstep: ended early: interrupted at cycle 9\n")
    assert json.loads((tmp_path / "r.json").read_text())["stopped"] == "interrupted at cycle 9"


@pytest.fixture
def ptx(tmp_path):
    path = tmp_path / "scale.ptx"
    path.write_text(
        """.version 7.0
        .target sm_70
        .address_size 64
        .entry scale(.param .u64 x, .param .f32 a, .param .u32 n)
        {
            .reg .pred %p<2>;
            .reg .f32 %f<4>;
            .reg .b32 %r<6>;
            .reg .b64 %rd<4>;
            ld.param.u64 %rd1, [x];
            ld.param.f32 %f1, [a];
            ld.param.u32 %r1, [n];
            mov.u32 %r2, %ctaid.x;
            mov.u32 %r3, %ntid.x;
            mov.u32 %r4, %tid.x;
            mad.lo.u32 %r5, %r2, %r3, %r4;
            setp.ge.u32 %p1, %r5, %r1;
            @%p1 bra DONE;
            mul.wide.u32 %rd2, %r5, 4;
            add.s64 %rd3, %rd1, %rd2;
            ld.global.f32 %f2, [%rd3];
            mul.f32 %f3, %f2, %f1;
            st.global.f32 [%rd3], %f3;
        DONE:
            ret;
        }
        .entry other() { ret; }
        """
    )
    return path


def test_a_clock_that_means_nothing_gets_a_line(call, ptx):
    clock = "mov.u32 %r5, %clock; mov.b32 %f3, %r5"
    ptx.write_text(ptx.read_text().replace("mul.f32 %f3, %f2, %f1", clock))
    command = ["run", ptx, "--kernel", "scale", "--grid", "2", "--block", "8", "--quiet"]
    command += ["--arg", "f4[100]", "--arg", "2.5", "--arg", "100", *SMALL]
    assert call(*command).stderr.count("add --at-issue") == 1
    assert call(*command, "--at-issue").stderr == ""


def test_a_kernel_of_a_ptx_file(call, ptx, tmp_path):
    shape = ["--kernel", "scale", "--grid", "2", "--block", "8,8"]
    arguments = ["--arg", "f4[100]", "--arg", "2.5", "--arg", "100"]
    done = call("run", ptx, *shape, *arguments, "--timing", "none", "--json", "r.json")
    assert done.exit_code == 0, done.output
    (launch,) = json.loads((tmp_path / "r.json").read_text())["kernels"]
    assert (launch["grid"], launch["block"]) == ([2, 1, 1], [8, 8, 1])
    assert launch["profile"]["sim__thread_inst_global_st.sum"] == 2 * 8 * 8


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["nosuch"], "no built-in kernel 'nosuch'"),
        (["vecadd", "--size", "0"], "'0' is no positive whole number"),
        (["vecadd", "--size", "1.5"], "'1.5' is no positive whole number"),
        (["vecadd", "--arg", "1"], "vecadd is a built-in program, which takes --size and --seed"),
        (["vecadd", "--grid", "1"], "vecadd is a built-in program, which takes --size and --seed"),
        (["vecadd", "--shared", "0"], "vecadd is a built-in program, which takes --size and"),
        (["vecadd", "--seed", "-1"], "-1 is not in the range"),
        (["vecadd", "--size", "1e18"], "not enough memory"),
        (["vecadd", "--limit-instructions", "9", *SMALL], "warp instructions, its limit"),
        (["vecadd", "--record", "scale.ptx/x.lst"], "cannot write"),
        (["vecadd", "--timing", "none", "--out", "o"], "need --timing"),
        (["vecadd", "--timing", "none", "--at-issue"], "need --timing"),
        (["vecadd", "--timing", "none", "--resume", "d"], "need --timing"),
        (["vecadd", "--timing", "none", "--checkpoint-dir", "d"], "need --timing"),
        (["vecadd", "--resume", "d"], "cannot read the checkpoint: No such file"),
        (["vecadd", "--checkpoint-dir", __file__], "cannot write: is a file"),
        (["vecadd", "--checkpoint", "every=1s"], "--checkpoint needs --checkpoint-dir"),
        (["--checkpoint", "every=1s", "/bin/true"], "--checkpoint needs --checkpoint-dir"),
        (["vecadd", "--timing", "sample:2", "--resume", "d"], "--timing and --resume: what has"),
        (["--timing", "sample:2", "--resume", "d", "/bin/true"], "--timing and --resume: what has"),
        (
            ["--timing", "sample:2", "--checkpoint-dir", "d", "/bin/true"],
            "--timing and --checkpoint-dir: what has chosen so far is in no checkpoint",
        ),
        (["vecadd", "--json", "/proc/x.json"], "cannot write"),
        (["vecadd", "--gpu", "nosuch"], "nosuch"),
        (["vecadd", "--gpu", ""], "no GPU is named ''"),
        (["absent.ptx"], "absent.ptx: cannot read"),
        (["./absent"], "./absent: no such file"),
        (["absent.traceg.xz"], "absent.traceg.xz: no such file"),
        (["--ptx", "./absent"], "./absent: no such file"),
        (["scale.ptx"], "several kernels; --kernel chooses: scale, other"),
        (["scale.ptx", "--size", "7"], "a PTX file takes --arg"),
        (["scale.ptx", "--kernel", "none"], "has no kernel none"),
        (["scale.ptx", "--kernel", "scale", "--arg", "1"], "takes 3 arguments, 1 given"),
        (["scale.ptx", "--kernel", "scale", "--arg", "huh"], "argument 'huh'; expected a number"),
        (["scale.ptx", "--kernel", "scale", "--arg", "c8[4]"], "argument 'c8[4]'; expected"),
        (
            ["scale.ptx", "--kernel", "scale", "--arg", "f4[1e999]"],
            "argument 'f4[1e999]'; expected",
        ),
        (
            ["scale.ptx", "--kernel", "scale", "--arg", "f4[1e15]"],
            "'f4[1e15]': not enough",
        ),
        (["scale.ptx", "--kernel", "scale", "--arg", "q9[3]"], "argument 'q9[3]'"),
        (["scale.ptx", "--grid", "0"], "'0'; expected e.g. 128 or 16,16"),
    ],
)
def test_bad_input_is_exit_code_2(call, ptx, arguments, message):
    done = call("run", *arguments)
    assert done.exit_code == 2
    assert message in done.stderr


@pytest.mark.parametrize("output", ["v.lst", "folder", "new/folders/v.lst"])
def test_a_trace_of_a_program(call, tmp_path, output):
    done = call("trace", "vecadd", "--size", 1000, "-o", output)
    assert done.exit_code == 0, done.output
    assert done.stdout == "Results are right: c.\n"
    assert done.stderr.startswith(f"{output}: 1 kernels, ")
    workload = lockstep.load(tmp_path / output)
    (kernel,) = workload.kernels
    assert (kernel.grid, kernel.block) == ((4, 1, 1), (256, 1, 1))
    lanes = sum(int(cta.warps["thread_instructions"].sum()) for cta in kernel.ctas())
    assert lanes > 1000 * 10


def test_a_trace_of_the_path_that_a_gpu_takes(call, tmp_path):
    def cycles(name):
        return json.loads((tmp_path / name).read_text())["total"]["cycles"]

    size = ("spin_lock", "--size", 100)
    assert call("trace", *size, "--at-issue", "-o", "t.lst").exit_code == 0
    assert call("simulate", "t.lst", "--gpu", "QV100", "--json", "trace.json").exit_code == 0
    assert call("run", *size, "--at-issue", "--json", "live.json").exit_code == 0
    assert call("run", *size, "--json", "before.json").exit_code == 0
    assert cycles("trace.json") == cycles("live.json") != cycles("before.json")


def test_the_list_of_programs(call):
    done = call("kernels")
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["program", "does", "size", "counts"]
    assert any(line.startswith("saxpy ") and "200,000" in line for line in lines)


def test_arrays_on_the_command_line():
    from lockstep.cli.programs import argument

    with lockstep.Device("QV100") as device:
        rng = np.random.default_rng(0)
        assert argument(device, rng, "0x10") == 16 and argument(device, rng, "-3") == -3
        assert argument(device, rng, "1e3") == 1000.0 and argument(device, rng, ".5") == 0.5
        zeros = argument(device, rng, "zeros:i4[4,3]")
        assert zeros.shape == (4, 3) and not zeros.numpy().any()
        random = argument(device, rng, "u1[1e3]").numpy()
        assert random.dtype == np.uint8 and len(set(random)) > 100
        assert 0 <= argument(device, rng, "f8[10]").numpy().min() < 1


def without_host(document):
    run = document.pop("run")
    return document, run["result_hash"]


@pytest.mark.long
def test_a_program_goes_on_from_its_last_checkpoint(call, tmp_path):
    command = ["run", "bfs", "--size", load("bfs").small, *SMALL, "-q", "--interval", "1000"]
    kept = ["--checkpoint", "every=0s", "--checkpoint-dir", "kept"]
    assert call(*command, "--json", "a.json", "--out", "a", *kept).exit_code == 0
    resume = ["--resume", "kept", "--threads", "2"]
    assert call(*command, "--json", "b.json", "--out", "b", *resume).exit_code == 0
    a, b = (json.loads((tmp_path / f"{name}.json").read_text()) for name in "ab")
    assert without_host(a) == without_host(b)
    for table in ("kernels.parquet", "series.parquet"):
        assert (tmp_path / "a" / table).read_bytes() == (tmp_path / "b" / table).read_bytes()
    done = call(*command, "--seed", "1", "--resume", "kept")
    assert done.exit_code == 2 and "is the first that differs" in done.stderr
    assert len(done.stderr.splitlines()) == 1
