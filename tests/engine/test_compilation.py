"""Machine code before the clock starts."""

import os
import select
import subprocess
import sys

import pytest

from lockstep.engine import compilation
from lockstep.engine.windows import run_windows
from lockstep.model import partition
from lockstep.model.sm import sm


@pytest.fixture
def fresh(monkeypatch):
    """As in a process that has not looked for the model yet."""
    monkeypatch.setattr(compilation, "_ready", set())


def test_notice_is_given_if_something_must_be_compiled(fresh, small, monkeypatch):
    monkeypatch.setattr(compilation, "is_compiled", lambda function: False)
    heard = []
    assert compilation.compile_model(small(), heard.append) > 0
    assert heard == [compilation.NOTICE]
    assert compilation.compile_model(small(), heard.append) == 0.0
    assert heard == [compilation.NOTICE], "once in a process"


def test_what_is_kept_is_not_looked_for_but_once(fresh, small, monkeypatch):
    asked = []
    monkeypatch.setattr(compilation, "is_compiled", lambda each: asked.append(each) or True)
    monkeypatch.setattr(compilation, "Machine", None)  # none is built
    heard = []
    for _ in range(2):
        assert compilation.compile_model(small(), heard.append) == 0.0
    assert not heard
    assert asked == [sm.run_linked, partition.run_linked, run_windows]


@pytest.mark.parametrize("missing", [sm.run_linked, partition.run_linked, run_windows])
def test_what_is_not_all_kept_is_compiled(fresh, small, monkeypatch, missing):
    monkeypatch.setattr(compilation, "is_compiled", lambda each: each is not missing)
    heard = []
    assert compilation.compile_model(small(), heard.append) > 0
    assert heard == [compilation.NOTICE]


def test_a_notice_is_not_needed(fresh, small, monkeypatch):
    monkeypatch.setattr(compilation, "is_compiled", lambda function: False)
    assert compilation.compile_model(small()) > 0


@pytest.mark.parametrize("aside", ["raise SystemExit(1)", "import os; os.abort()"])
def test_the_other_process_may_fail(fresh, small, monkeypatch, aside):
    monkeypatch.setattr(compilation, "is_compiled", lambda function: False)
    monkeypatch.setattr(compilation, "_ASIDE", aside)
    assert compilation.compile_model(small()) > 0


def test_the_other_process_ends_with_an_interrupted_compilation(fresh, small, monkeypatch):
    started = []
    popen = subprocess.Popen

    def start(*arguments, **named):
        started.append(popen(*arguments, **named))
        return started[-1]

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(compilation, "is_compiled", lambda function: False)
    monkeypatch.setattr(compilation, "_ASIDE", "import time; time.sleep(600)")
    monkeypatch.setattr(subprocess, "Popen", start)
    monkeypatch.setattr(compilation, "build_sms", interrupted)
    with pytest.raises(KeyboardInterrupt):
        compilation.compile_model(small())
    assert [process.poll() for process in started] != [None]


def test_the_other_process_does_not_outlive_one_that_is_killed():
    aside = (
        "import time; from lockstep.engine import compilation; "
        "compilation.compile_all_but_sms = lambda: time.sleep(600); compilation.compile_aside()"
    )
    program = (
        "import subprocess, time\n"
        "from lockstep.engine import compilation\n"
        f"compilation._ASIDE = {aside!r}\n"
        "start = subprocess.Popen\n"
        "def tell(*arguments, **named):\n"
        "    process = start(*arguments, **named)\n"
        "    print(process.pid, flush=True)\n"
        "    return process\n"
        "subprocess.Popen = tell\n"
        "with compilation._all_but_sms_in_another_process():\n"
        "    time.sleep(600)\n"
    )
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        other = os.pidfd_open(int(process.stdout.readline()))
        process.kill()
    assert select.select([other], [], [], 60)[0], "it runs on"
    os.close(other)


def test_another_process_compiles_what_this_one_looks_for_but_the_sm_phase():
    program = (
        "import lockstep\n"
        "from lockstep.engine import building, compilation, windows\n"
        "from lockstep.model import contents, partition\n"
        "from lockstep.model.dispatch import dispatcher\n"
        "from lockstep.model.core import between\n"
        "aside = partition.settle, contents.copy_to_device, dispatcher.dispatch\n"
        "aside += between.prepare_l1, between.settle_all\n"
        "def show():\n"
        "    entries = [len(f._entries) for f in (*aside, windows.run_windows)]\n"
        "    print(*entries, building._compiled.cache_info().currsize)\n"
        "compilation.compile_all_but_sms()\n"
        "show()\n"
        "compilation.is_compiled = lambda function: False\n"
        "compilation._ASIDE = 'pass'\n"
        "compilation.compile_model(lockstep.gpu('QV100'))\n"
        "show()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    before, after = done.stdout.splitlines()
    assert before.split() == ["1"] * 5 + ["0", "2"], "phases of partitions, and no loop"
    assert after.split() == ["1"] * 5 + ["1", "3"]
