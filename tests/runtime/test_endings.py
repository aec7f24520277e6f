"""How runs of `lockstep run` end, whatever happens: what is said, and that nothing is left."""

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

PROGRAM = '''
import os, signal, subprocess, sys, time
from ctypes import *
rt, cu = CDLL("libcudart.so.13"), CDLL("libcuda.so.1")
PTX = b"""%s"""
def function(name):
    module, function = c_void_p(), c_void_p()
    assert cu.cuModuleLoadData(byref(module), PTX) == 0
    assert cu.cuModuleGetFunction(byref(function), module, name) == 0
    return function
def launch(name):
    values = c_uint64(0), c_uint32(0), c_float(0)
    places = (c_void_p * 3)(*(addressof(v) for v in values))
    return cu.cuLaunchKernel(function(name), 1, 1, 1, 1, 1, 1, 0, None, places, None)
def say(*words):
    print(*words, flush=True)
p = c_void_p()
assert rt.cudaMalloc(byref(p), c_size_t(1 << 20)) == 0
'''
PATIENCE = 60


@pytest.fixture
def command(run_python, tmp_path):
    """Function: the command that runs a Python text, which begins as PROGRAM, by lockstep."""

    def build(text, *options, name="program.py"):
        script = tmp_path / name
        script.write_text(PROGRAM % run_python.ptx + text)
        run = "from lockstep.cli.main import main; main()"
        wanted = ["run", "--gpu", "A100", "--timing", "none", *options]
        return [sys.executable, "-c", run, *wanted, sys.executable, str(script)]

    return build


def in_session(number):
    """Processes of a session that run."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == number and fields[0] != "Z":
            found.append(int(path.parent.name))
    return found


def sockets(pid):
    """Sockets of a server."""
    names = (line.split()[-1] for line in Path("/proc/net/unix").read_text().splitlines())
    return [name for name in names if name.startswith(f"@lockstep-{pid}-")]


def check_nothing_is_left(pid):
    """The session of a process has ended, and its sockets and shared memory are gone."""
    deadline = time.monotonic() + 5
    while in_session(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert in_session(pid) == []
    assert sockets(pid) == []
    assert not list(Path("/dev/shm").glob("*lockstep*"))


class Terminal:
    """A command at a terminal of its own."""

    def __init__(self, command):
        self.pid, self.file = pty.fork()
        if self.pid == 0:
            os.execv(command[0], command)
        self.text = ""

    def read_until(self, wanted):
        deadline = time.monotonic() + PATIENCE
        while wanted not in self.text:
            assert time.monotonic() < deadline, self.text
            self.text += os.read(self.file, 4096).decode()

    def type(self, keys):
        os.write(self.file, keys)

    def end(self):
        """The exit code; all that was printed is in ``text``."""
        try:
            while piece := os.read(self.file, 4096):
                self.text += piece.decode()
        except OSError:  # the other side is closed
            pass
        os.close(self.file)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


@pytest.mark.long
@pytest.mark.parametrize("waits", [True, False])
def test_ctrl_c_at_a_terminal_says_where_the_kernel_is(command, waits):
    text = 'say("started"); launch(b"forever")\n'
    text += "rt.cudaDeviceSynchronize()" if waits else "time.sleep(100)"
    terminal = Terminal(command(text))
    terminal.read_until("started")
    time.sleep(2)
    terminal.type(b"\x03")
    assert terminal.end() == 130
    assert "kernel forever ran: CTA (0, 0, 0) at pc 0x0: bra at <ptx>:27" in terminal.text
    assert "1 kernels, 1 launches; executed without timing" in terminal.text
    assert 'Traceback (most recent call last):\r\n  File "<string>"' not in terminal.text
    check_nothing_is_left(terminal.pid)


def run(command, **options):
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True, **options,
    )  # fmt: skip
    out, err = process.communicate(timeout=PATIENCE)
    check_nothing_is_left(process.pid)
    return process.returncode, out, err


def test_a_program_that_crashes(command, tmp_path):
    options = ("--json", str(tmp_path / "r.json"))
    text = 'launch(b"add"); rt.cudaDeviceSynchronize(); os.kill(os.getpid(), signal.SIGSEGV)'
    code, _, err = run(command(text, *options))
    assert code == 128 + signal.SIGSEGV
    assert "was killed by SIGSEGV" in err
    (kernel,) = json.loads((tmp_path / "r.json").read_text())["kernels"]
    assert (kernel["name"], kernel["launches"]) == ("add", 1)


def test_a_program_that_is_killed_while_its_kernel_runs(command):
    text = 'launch(b"forever"); time.sleep(1.5); os.kill(os.getpid(), signal.SIGKILL)'
    code, _, err = run(command(text))
    assert code == 128 + signal.SIGKILL
    assert "kernel forever ran: CTA (0, 0, 0) at pc 0x0" in err and "killed by SIGKILL" in err


@pytest.mark.parametrize("number", [7, 139, 188])
def test_exit_codes_are_passed_on(command, number):
    code, _, err = run(command(f"sys.exit({number})"))
    assert code == number and "killed" not in err


def test_children_that_fork_before_and_after(command):
    text = """
if os.fork() == 0:
    say("child", rt.cudaMalloc(byref(p), c_size_t(64)))
    os._exit(0)
os.wait()
code = "from ctypes import *; p = c_void_p(); print(CDLL('libcudart.so.13').cudaFree(p))"
say("other", subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout)
say("parent", rt.cudaFree(p))
"""
    code, out, _ = run(command(text))
    assert (code, out.split()) == (0, ["child", "3", "other", "0", "parent", "0"])


def test_a_program_that_leaves_a_child_behind(command):
    """The run ends with the program; its child is told so by its next call."""
    text = """
if os.fork() == 0:
    os.execv(sys.executable, [sys.executable, "-c",
        "import time; from ctypes import *; rt = CDLL('libcudart.so.13'); rt.cudaFree(None);"
        "p = c_void_p(); rt.cudaMalloc(byref(p), c_size_t(64)); print('ready', flush=True);"
        "time.sleep(1.5); print('late', rt.cudaMalloc(byref(p), c_size_t(64)), flush=True)"])
time.sleep(1)
"""
    code, out, err = run(command(text))
    assert code == 0 and out.split() == ["ready", "late", "999"]
    assert "the simulator has ended; CUDA calls fail from now on" in err


def test_two_programs_at_once(command):
    text = 'launch(b"add"); say("sum", rt.cudaDeviceSynchronize()); time.sleep(0.5)'
    both = [
        subprocess.Popen(
            command(text, name=f"{k}.py"), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, start_new_session=True,
        )
        for k in range(2)
    ]  # fmt: skip
    for process in both:
        out, err = process.communicate(timeout=PATIENCE)
        assert (process.returncode, out) == (0, "sum 0\n")
        assert "1 launches" in err
        check_nothing_is_left(process.pid)


def test_a_simulator_that_is_killed(command):
    """Its program ends with it: nobody else would end it."""
    process = subprocess.Popen(
        command('say("started"); sys.stdin.readline(); say("still here")'), stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert process.stdout.readline() == "started\n"
    process.kill()
    process.wait()
    check_nothing_is_left(process.pid)
    assert process.stdout.read() == ""


def test_a_signal_that_ends_program_and_simulator_together(command):
    """As of ``timeout``: the simulator hears of the signal and of the program's end at once."""
    process = subprocess.Popen(
        command('say(os.getpid()); launch(b"forever"); rt.cudaDeviceSynchronize()'),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    program = int(process.stdout.readline())
    time.sleep(0.5)
    os.kill(process.pid, signal.SIGSTOP)
    for pid in (program, process.pid):
        os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + PATIENCE
    while program in in_session(process.pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGCONT)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 128 + signal.SIGTERM
    assert "lockstep: interrupted" in err
    check_nothing_is_left(process.pid)


@pytest.mark.skipif(not shutil.which("ldd"), reason="needs ldd, and there is none")
def test_a_library_path_of_ones_own_stays(command, tmp_path):
    text = 'say(os.environ["LD_LIBRARY_PATH"].split(":")[-1])'
    code, out, _ = run(command(text), env={**os.environ, "LD_LIBRARY_PATH": str(tmp_path)})
    assert (code, out) == (0, f"{tmp_path}\n")
