"""Machine code before the clock starts."""

import os
import subprocess
import sys

import pytest

from lockstep.engine import compilation


@pytest.fixture
def fresh(monkeypatch):
    """As in a process that has not loaded the model yet."""
    monkeypatch.setattr(compilation, "_loaded", set())


@pytest.mark.parametrize("compiled, notices", [(True, []), (False, [compilation.NOTICE])])
def test_notice_is_given_only_if_something_must_be_compiled(
    fresh, small, monkeypatch, compiled, notices
):
    monkeypatch.setattr(compilation, "is_compiled", lambda function: compiled)
    heard = []
    assert compilation.compile_model(small(), heard.append) > 0
    assert heard == notices
    assert compilation.compile_model(small(), heard.append) == 0.0
    assert heard == notices, "once in a process"


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
    popen = compilation.subprocess.Popen

    def start(*arguments, **named):
        started.append(popen(*arguments, **named))
        return started[-1]

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(compilation, "is_compiled", lambda function: False)
    monkeypatch.setattr(compilation, "_ASIDE", "import time; time.sleep(600)")
    monkeypatch.setattr(compilation.subprocess, "Popen", start)
    monkeypatch.setattr(compilation, "build_sms", interrupted)
    with pytest.raises(KeyboardInterrupt):
        compilation.compile_model(small())
    assert [process.poll() for process in started] != [None]


def test_another_process_compiles_all_but_the_sm_phase(tmp_path):
    program = (
        "from lockstep._jit import is_compiled\n"
        "from lockstep.engine import compilation, windows\n"
        "from lockstep.model import partition\n"
        "from lockstep.model.sm import dispatch, sm\n"
        "compilation.compile_all_but_sms()\n"
        "aside = partition.run, partition.settle, partition.copy_to_device\n"
        "aside += dispatch.dispatch, dispatch.prepare_l1, dispatch.settle_all\n"
        "print(*map(is_compiled, [*aside, sm.run, windows.run_windows]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"LOCKSTEP_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["True"] * 6 + ["False"] * 2
