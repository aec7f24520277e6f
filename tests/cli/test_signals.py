"""Signals end a run as Ctrl-C does."""

import ctypes
import json
import os
import select
import signal
import subprocess
import sys
import threading
import time

import click
import pytest

from lockstep.cli.main import main
from lockstep.cli.signals import SIGNALS, Interrupted, ending_by_signals


class Half:
    """Fails to be finalized unless it was made whole, as objects of llvmlite do."""

    def __init__(self, interrupts=False):
        if interrupts:
            os.kill(os.getpid(), signal.SIGHUP)
        self.whole = True

    def __del__(self):
        del self.whole


@pytest.fixture(autouse=True)
def not_ignored():
    """As in a terminal, also where the tests run in the background or under ``nohup``."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    hook = sys.unraisablehook
    for number in SIGNALS:
        signal.signal(number, signal.default_int_handler)
    yield
    sys.unraisablehook = hook
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_interrupts_and_says_which(number):
    before = signal.getsignal(number)
    with ending_by_signals() as ending:
        assert ending.code == 0
        with pytest.raises(Interrupted):
            os.kill(os.getpid(), number)
        assert ending.code == 128 + number
    assert signal.getsignal(number) is before


def test_only_the_first_signal_interrupts_but_ctrl_c_does_again():
    with ending_by_signals() as ending:
        with pytest.raises(Interrupted):
            os.kill(os.getpid(), signal.SIGHUP)
        os.kill(os.getpid(), signal.SIGHUP)
        os.kill(os.getpid(), signal.SIGTERM)
        with pytest.raises(Interrupted):
            os.kill(os.getpid(), signal.SIGINT)
        assert ending.code == 128 + signal.SIGHUP


def test_what_was_interrupted_while_it_was_made_goes_without_a_word(capsys):
    sys.unraisablehook = sys.__unraisablehook__  # not that of the tests
    made = []
    with ending_by_signals():
        with pytest.raises(Interrupted) as interrupted:
            Half(interrupts=True)
        made.append(interrupted)  # which holds it until everything has ended
        del interrupted
    made.clear()
    assert capsys.readouterr().err == ""


def test_what_fails_to_be_finalized_without_a_signal_is_told(capsys):
    sys.unraisablehook = sys.__unraisablehook__
    with ending_by_signals():
        del Half().whole
    assert "AttributeError" in capsys.readouterr().err
    assert sys.unraisablehook is sys.__unraisablehook__


def test_what_is_ignored_stays_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with ending_by_signals() as ending:
            os.kill(os.getpid(), signal.SIGHUP)
            assert ending.code == 0
    finally:
        signal.signal(signal.SIGHUP, before)


def test_other_threads_have_no_signals():
    codes = []

    def enter():
        with ending_by_signals() as ending:
            codes.append(ending.code)

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert codes == [0]


def swallow():
    try:
        os.kill(os.getpid(), signal.SIGTERM)
    except KeyboardInterrupt:
        click.echo("partial")


def fail():
    swallow()
    raise SystemExit(1)


def refuse():
    swallow()
    raise click.UsageError("no")


@pytest.mark.parametrize("body", [swallow, fail, refuse])
def test_an_interrupted_command_has_the_signals_code_whatever_comes_of_it(call, monkeypatch, body):
    command = click.command()(body)
    monkeypatch.setattr(type(main), "get_command", lambda self, ctx, name: command)
    done = call("info")
    assert done.exit_code == 128 + signal.SIGTERM
    assert done.stdout == "partial\n"


@pytest.mark.parametrize("then", [lambda: {}["no compiled object"], lambda: time.sleep(60)])
def test_a_signal_within_a_callback_is_not_lost(call, monkeypatch, then):
    """As in a finalizer: an exception does not come through to its caller."""

    def body():
        ctypes.CFUNCTYPE(None)(lambda: os.kill(os.getpid(), signal.SIGTERM))()
        then()

    monkeypatch.setattr(type(main), "get_command", lambda self, ctx, name: click.command()(body))
    done = call("info")
    assert (done.exit_code, done.stderr) == (128 + signal.SIGTERM, "lockstep: interrupted\n")


@pytest.mark.parametrize("number", SIGNALS)
def test_a_simulation_that_is_ended_writes_what_there_is(
    call, trace, monkeypatch, tmp_path, number
):
    from lockstep.engine.simulation import Simulation

    window = Simulation.window

    def interrupted(self, most):
        os.kill(os.getpid(), number)
        window(self, most)

    monkeypatch.setattr(Simulation, "window", interrupted)
    done = call("simulate", trace, "--gpu", "QV100", "--json", "r.json", "--quiet")
    assert done.exit_code == 128 + number
    assert done.stderr.startswith("lockstep: ended early: interrupted at cycle ")
    document = json.loads((tmp_path / "r.json").read_text())
    assert document["stopped"].startswith("interrupted at cycle ")


WAITS = """
import ctypes, os, sys, time
ctypes.CDLL("libcudart.so.13").cudaFree(None)
print(os.getpid(), file=open(sys.argv[1], "w"), flush=True)
time.sleep(600)
"""


def start_program(folder):
    """A program that waits under ``lockstep run``: the run, and a descriptor of the program."""
    told = folder / "pid"
    command = [sys.executable, "-m", "lockstep", "run", "-q", "--timing", "none", "--gpu", "A100"]
    run = subprocess.Popen([*command, sys.executable, "-c", WAITS, told], stderr=subprocess.PIPE)
    while not (told.exists() and told.read_text().endswith("\n")):
        assert run.poll() is None, run.stderr.read()
        time.sleep(0.05)
    return run, os.pidfd_open(int(told.read_text()))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_program_ends_with_its_simulator(tmp_path, number):
    run, program = start_program(tmp_path)
    run.send_signal(number)
    said = run.communicate()[1].decode()
    code = -number if number == signal.SIGKILL else 128 + number
    assert (run.returncode, "Traceback" in said) == (code, False), said
    assert select.select([program], [], [], 60)[0], "the program runs on"
    os.close(program)


@pytest.mark.parametrize("timing", ["full", "none"])
def test_a_run_that_is_ended_between_launches_says_so_in_its_document(call, tmp_path, timing):
    program = "import os, time; os.kill(os.getppid(), 15); time.sleep(600)"
    options = ("-q", "--gpu", "A100", "--timing", timing, "--json", "r.json")
    done = call("run", *options, sys.executable, "-c", program)
    assert done.exit_code == 128 + signal.SIGTERM
    assert done.stderr == "lockstep: interrupted; the figures are partial\n"
    document = json.loads((tmp_path / "r.json").read_text())
    if timing == "full":
        assert document["stopped"] == "interrupted at cycle 0"
    else:
        assert document["problems"] == ["interrupted; the figures are partial"]


@pytest.mark.long
def test_runs_that_are_killed_leave_nothing_half(load_script, repository):
    script = load_script(repository / "scripts" / "kill_runs.py")
    lines = []
    show = lambda line, **_: lines.append(line)  # noqa: E731
    faults = script.check("simulate", 1, 0, (signal.SIGKILL,), show)
    faults += script.check("resume-simulate", 1, 0, (signal.SIGKILL,), show)
    assert (faults, len(lines)) == (0, 2), lines


def test_ctrl_c_while_arguments_are_read(call, monkeypatch):
    """As later: click's own exit code is 1, that of partial results."""

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(click.Group, "parse_args", interrupted)
    done = call("gpus")
    assert (done.exit_code, done.stderr) == (130, "lockstep: interrupted\n")
