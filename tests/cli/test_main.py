import os
import subprocess
import sys

import click
import pytest

import lockstep
from lockstep.cli.main import COMMANDS, main
from lockstep.errors import LockstepError


def run(*arguments):
    command = [sys.executable, "-m", "lockstep", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def test_the_version():
    done = run("--version")
    assert (done.returncode, done.stdout) == (0, f"lockstep {lockstep.__version__}\n")


def test_help_names_every_command(call):
    done = call("--help")
    assert done.exit_code == 0
    for name, meaning in COMMANDS.items():
        assert name in done.output and meaning in done.output


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(call, name):
    done = call(name, "--help")
    assert done.exit_code == 0
    assert "Usage:" in done.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["frob"], "No such command 'frob'; see lockstep --help"),
        (["simualte"], "No such command 'simualte', did you mean 'simulate'; see lockstep --help"),
        (["--frob"], "No such option: --frob; see lockstep --help"),
        (["simulate"], "Missing argument 'PATH'; see lockstep simulate --help"),
        (["simulate", "x", "--frob"], "No such option: --frob; see lockstep simulate --help"),
        (["info", "a", "b"], "Got unexpected extra argument (b); see lockstep info --help"),
        (
            ["simulate", "x", "--threads", "0"],
            "Invalid value for '--threads': 0 is not in the range x>=1; see lockstep simulate "
            "--help",
        ),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(call, arguments, message):
    done = call(*arguments)
    # Versions of click differ in quotes and full stops.
    assert done.stderr.count("\n") == 1 and done.stderr.startswith("lockstep: ")
    words = [word.strip("'.;:") for word in done.stderr.split()[1:]]
    assert (done.exit_code, words) == (2, [word.strip("'.;:") for word in message.split()])


def test_without_a_command_there_is_help(call):
    done = call()
    assert "Commands:" in done.output


def test_bad_input_is_one_line_on_stderr_and_exit_code_2():
    done = run("info", "no-such-file")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("lockstep: no-such-file: ")


def test_ctrl_c_is_one_line_and_exit_code_130(call, monkeypatch):
    @click.command()
    def endless():
        error = KeyboardInterrupt()
        error.add_note("kernel spin ran: here")
        raise error

    monkeypatch.setattr(type(main), "get_command", lambda self, ctx, name: endless)
    done = call("info")
    assert (done.exit_code, done.stderr) == (130, "lockstep: interrupted; kernel spin ran: here\n")


INTERRUPTED_IMPORT = """
import sys

class Finder:
    def find_spec(self, name, *_):
        if name == "click":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Finder())
"""


@pytest.mark.parametrize(
    "start", [["-m", "lockstep"], ["-c", "from lockstep.__main__ import main; main()"]]
)
def test_ctrl_c_while_the_command_is_imported(tmp_path, monkeypatch, start):
    """The first tenths of a second; the second start is that of the installed command."""
    (tmp_path / "sitecustomize.py").write_text(INTERRUPTED_IMPORT)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    command = [sys.executable, *start, "--version"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (130, "lockstep: interrupted\n")


def test_output_that_cannot_be_written_is_one_line():
    command = [sys.executable, "-m", "lockstep", "gpus"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    expected = "lockstep: standard output: No space left on device\n"
    assert (done.returncode, done.stderr) == (2, expected)


def test_a_reader_that_leaves_early_is_no_error():
    command = f"{sys.executable} -m lockstep gpus QV100 | head -1"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    assert done.stdout.startswith("QV100: ") and done.stdout.count("\n") == 1
    assert done.stderr == ""


def test_characters_that_the_terminal_lacks_are_replaced():
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "lockstep", "gpus", "QV100"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert "sm.count" in done.stdout and done.stdout.isascii()


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-"])
def test_closed_streams_swallow_what_is_written(closed):
    command = f"{sys.executable} -m lockstep gpus {closed}"
    assert subprocess.run(["sh", "-c", command], capture_output=True).returncode == 0


def test_errors_of_several_lines_become_one(call, monkeypatch):
    @click.command()
    def broken():
        raise LockstepError("first\nsecond")

    monkeypatch.setattr(type(main), "get_command", lambda self, ctx, name: broken)
    done = call("info")
    assert (done.exit_code, done.stderr) == (2, "lockstep: first second\n")


def test_starting_up_imports_little():
    code = (
        "import sys; from lockstep.cli.main import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "print(sorted({'numba', 'numpy', 'pandas', 'pyarrow', 'rich'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="threads are counted as Linux does"
)
@pytest.mark.parametrize("asked", [None, "2"])
def test_numpy_starts_no_threads_unless_the_user_asks_for_them(asked):
    program = (
        "import os, sys\n"
        "from lockstep.cli.main import main\n"
        "try:\n"
        "    main(['completion', '--help'])\n"
        "except SystemExit:\n"
        "    pass\n"
        "assert 'numpy' not in sys.modules\n"
        "import numpy\n"
        "print(len(os.listdir('/proc/self/task')), os.environ.get('OPENBLAS_NUM_THREADS'))"
    )
    environment = {k: v for k, v in os.environ.items() if k != "OPENBLAS_NUM_THREADS"}
    if asked:
        environment["OPENBLAS_NUM_THREADS"] = asked
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True
    )
    threads, told = done.stdout.split()[-2:]
    assert told == str(asked), "a user's program gets what the user set"
    assert int(threads) == min(int(asked or 1), os.cpu_count() or 1)
