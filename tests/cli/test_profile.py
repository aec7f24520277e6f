"""``lockstep profile``: tables of programs of all kinds, recorded calls and traces."""

import os
import signal
import subprocess
import sys
import time

import pytest

from cli.drivers import KERNELS, driver
from lockstep.sampling import LaunchTable


def test_a_built_in_program(call, tmp_path):
    done = call("profile", "lu", "--size", 48, "-o", "lu.parquet")
    assert done.exit_code == 0, done.output
    assert done.stderr.splitlines()[-1] == "lu.parquet: 7 launches of 3 kernels, level 2"
    table = LaunchTable.read(tmp_path / "lu.parquet")
    assert (len(table), table.level) == (7, 2)
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["kernel", "launches", "different", "warp", "inst.", "share"]
    assert lines[1].split()[:3] == ["lu_diagonal", "3", "3"]
    assert done.stdout.endswith("Results are right: a.\n")


@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_levels_and_csv(call, tmp_path, level):
    done = call("profile", "lu", "--size", 32, "--level", level, "--l2", "1MB", "-o", "t.csv", "-q")
    assert (done.exit_code, done.output) == (0, "")
    assert LaunchTable.read(tmp_path / "t.csv").level == level


def test_a_ptx_file_without_a_table(call, tmp_path):
    done = call("profile", KERNELS, "--kernel", "count", "--arg", 10, "--block", 64)
    assert done.exit_code == 0 and "1 launches of 1 kernels, level 2" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_trace(call, tmp_path):
    assert call("trace", "lu", "--size", 48, "-o", "lu.lst", "-q").exit_code == 0
    done = call("profile", "lu.lst", "-o", "t.parquet")
    assert done.exit_code == 0 and "7 launches of 3 kernels, level 1" in done.stderr
    done = call("profile", "lu.lst", "--level", 3)
    assert "GPU: QV100 (the trace was recorded on it" in done.stderr and "level 3" in done.stderr
    done = call("profile", "lu.lst", "--level", 2)
    assert (
        done.exit_code == 2 and "a trace has no basic blocks: --level is 0, 1 or 3" in done.stderr
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["lu", "-o", "t.txt"], "t.txt: names no kind of table; expected .parquet or .csv"),
        (["lu", "-o", "x/t.csv"], "cannot write"),
        (["no_such_program"], "no_such_program"),
        (["lu", "--ptx"], "--ptx is for CUDA programs"),
        (["lu", "--level", "4"], "4 is not in the range 0<=x<=3"),
        (["calls"], "recorded calls need --gpu"),
        ([str(KERNELS), "--kernel", "axpy", "--arg", "1", "--block", "4,4"], "takes 4 arguments"),
    ],
)
def test_what_cannot_be_profiled(call, tmp_path, arguments, words):
    (tmp_path / "calls").mkdir()
    (tmp_path / "calls" / "calls.lcr").write_bytes(b"x")
    (tmp_path / "x").write_text("no folder")
    done = call("profile", *arguments)
    (line,) = done.stderr.splitlines()
    assert (done.exit_code, words in line) == (2, True), line


def test_what_was_launched_before_a_failure_is_written(call, tmp_path, monkeypatch):
    from lockstep import kernels
    from lockstep.errors import LockstepError

    def run(device, size, seed):
        device.load_ptx(KERNELS)["count"][1, 32](5)
        raise LockstepError("it fails")

    class Program:
        pass

    Program.run = staticmethod(run)
    monkeypatch.setattr(kernels, "load", lambda name: Program)
    done = call("profile", "lu", "-o", "t.csv")
    assert done.exit_code == 2 and done.stderr.splitlines()[-1] == "lockstep: it fails"
    assert len(LaunchTable.read(tmp_path / "t.csv")) == 1


def test_an_executable_keeps_its_exit_code(call, compiler, tmp_path, capfd):
    text = driver("launch(3); launch(4); cu.cuCtxSynchronize(); print('hi'); sys.exit(5)")
    done = call("profile", "--gpu", "A100", "-o", "t.parquet", sys.executable, "-c", text, "-o")
    assert done.exit_code == 5, done.output
    assert capfd.readouterr().out == "hi\n" and done.stdout == ""
    assert "t.parquet: 2 launches of 1 kernels, level 2" in done.stderr
    assert LaunchTable.read(tmp_path / "t.parquet").frame["arguments"].tolist() == ["3", "4"]
    done = call("profile", "--gpu", "A100", "-q", sys.executable, "-c", "pass")
    assert done.exit_code == 2 and "no launch has come to its end" in done.stderr
    done = call("profile", "--gpu", "A100", "-q", sys.executable, "-c", "raise SystemExit(7)")
    assert (done.exit_code, done.stderr) == (7, "")


def test_recorded_calls_give_the_table_of_the_program(call, compiler, tmp_path):
    command = [sys.executable, "-c", driver("launch(3); launch(4); cu.cuCtxSynchronize()")]
    done = call("run", "--timing", "none", "--gpu", "A100", "--record", "calls", *command)
    assert done.exit_code == 0, done.output
    assert call("profile", "--gpu", "A100", "-o", "a.csv", *command).exit_code == 0
    done = call("profile", "calls", "--gpu", "A100", "-o", "b.csv")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "a.csv").read_text() == (tmp_path / "b.csv").read_text()


@pytest.mark.long
def test_a_signal_leaves_the_launches_before_it(compiler, tmp_path):
    text = driver("launch(3); cu.cuCtxSynchronize(); print('go', flush=True); time.sleep(60)")
    command = [sys.executable, "-m", "lockstep", "profile", "--gpu", "A100", "-o", "t.csv"]
    task = subprocess.Popen(
        [*command, sys.executable, "-c", text],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        text=True,
    )
    assert task.stdout.readline() == "go\n"
    time.sleep(0.1)
    task.send_signal(signal.SIGINT)
    _, errors = task.communicate(timeout=60)
    assert task.returncode == 130, errors
    assert len(LaunchTable.read(tmp_path / "t.csv")) == 1


NSYS = """\
Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,Strm,Name
1,700,1,1,1,1,64,1,1,16,7,count
2,800,2,1,1,1,64,1,1,16,7,count
"""


def test_measurements_alone_make_a_table(call, tmp_path):
    (tmp_path / "m.csv").write_text(NSYS)
    done = call("profile", "--import", "m.csv", "-o", "t.parquet")
    assert done.exit_code == 0, done.output
    assert "t.parquet: 2 launches of 1 kernels, level 0, times in ns" in done.stderr
    assert LaunchTable.read(tmp_path / "t.parquet").times.tolist() == [700, 800]
    assert done.stdout.splitlines()[0].split() == ["kernel", "launches", "different", "ns", "share"]


def test_measured_times_go_to_the_launches_of_a_program(call, tmp_path):
    program = [KERNELS, "--kernel", "count", "--arg", 10, "--block", 64]
    (tmp_path / "m.csv").write_text(NSYS.replace("2,800,2,1,1,1,64,1,1,16,7,count\n", ""))
    done = call("profile", "--import", "m.csv", "-o", "t.csv", *program)
    assert done.exit_code == 0 and "level 2, times in ns" in done.stderr
    (tmp_path / "m.csv").write_text(NSYS)
    done = call("profile", "--import", "m.csv", "-o", "t.csv", *program)
    (line,) = done.stderr.splitlines()
    assert done.exit_code == 2
    assert "the program has 1 launches, and 2 were measured" in line
    assert not LaunchTable.read(tmp_path / "t.csv").has_times


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "Missing argument 'PROGRAM'"),
        (["--import", "no.csv"], "no.csv: cannot read"),
        (["--import", "r.ncu-rep"], "`ncu --import r.ncu-rep --csv --page raw > r.csv`"),
        (["--import", "m.csv", "--where", "x"], "expected COLUMN=VALUE"),
        (["--import", "m.csv", "--where", "x=1"], "has no column x"),
        (["lu", "--where", "x=1"], "--where needs --import"),
    ],
)
def test_measurements_that_cannot_be_read(call, tmp_path, arguments, words):
    (tmp_path / "m.csv").write_text(NSYS)
    done = call("profile", *arguments)
    (line,) = done.stderr.splitlines()
    assert (done.exit_code, words in line) == (2, True), line
