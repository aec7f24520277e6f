"""Modules that other processes assemble are those that this one would, whatever these do."""

import gc
import os
import subprocess
import sys
import threading
import time

import pytest

import lockstep
from cubin_files import cubins
from lockstep._jit import aside
from lockstep.execution.lanes import module
from lockstep.execution.programs import assemblers, kept, native
from lockstep.execution.programs.assemblers import Assemblers
from lockstep.execution.programs.program import Recording

PATIENCE = 60.0  # seconds; nothing here takes one, but to start a process may
TEXTS = [
    f"define i64 @f{k}(i64 %x) {{\n  %y = mul i64 %x, {k}\n  ret i64 %y\n}}" for k in range(20)
]


@pytest.fixture
def started(monkeypatch):
    """Processes that were started, in their order; they may be from the first module on."""
    processes, start = [], aside.start

    def noted(code, answers=False):
        processes.append(start(code, answers))
        return processes[-1]

    monkeypatch.setattr(aside, "start", noted)
    monkeypatch.setattr(assemblers, "FEW", 0)
    monkeypatch.setattr(assemblers, "_wanted", lambda: 2)
    return processes


def until(condition):
    """Wait for what comes; an error if it does not."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it does not come"
        time.sleep(0.01)


def stand_in(monkeypatch, code):
    """Let processes run other code."""
    monkeypatch.setattr(assemblers, "_ASIDE", f"import sys, os\n{code}")


def test_other_processes_assemble_what_nobody_takes_back(started, monkeypatch):
    expected = [native.assemble(text) for text in TEXTS]
    monkeypatch.setattr(native, "assemble", None)
    others = Assemblers()
    jobs = [others.submit(text, soon=False) for text in TEXTS]
    assert [job.result() for job in jobs] == expected
    assert len(started) == 2


def own(monkeypatch):
    """Processes that nobody else has, in the place of those of this process."""
    made = Assemblers()
    monkeypatch.setattr(assemblers, "_assemblers", made)
    return made


def test_what_nobody_takes_is_assembled_here(monkeypatch):
    monkeypatch.setattr(assemblers, "_wanted", lambda: pytest.fail("it is little"))
    others = own(monkeypatch)
    jobs = [assemblers.submit(text, False) for text in TEXTS[:3]]
    assert others.take_back(jobs[1]) and not others.take_back(jobs[1])
    jobs[1].object = b"elsewhere"
    jobs[1].end()
    one, two, three = assemblers.results(jobs)
    assert (one, two, three) == (native.assemble(TEXTS[0]), b"elsewhere", native.assemble(TEXTS[2]))
    assert not others._jobs


def test_what_is_not_wanted_any_more_is_not_assembled(started, monkeypatch):
    stand_in(monkeypatch, "import time; time.sleep(100)")
    others = own(monkeypatch)
    job = assemblers.submit(TEXTS[0], False)
    assemblers.submit(TEXTS[1], False)  # nobody keeps it
    gc.collect()
    until(lambda: len(started) == 2)
    assert [one() for one in others._jobs] == [job, None]
    assert assemblers.results([job]) == [native.assemble(TEXTS[0])]
    assert others.take_back(None)  # the other one is still there, and stands for nothing
    for process in started:
        process.kill()


def test_one_that_cannot_be_assembled_is_an_error_here(started):
    with pytest.raises(RuntimeError, match="expected"):
        assemblers.results([assemblers.submit("define nonsense", False)])


@pytest.mark.parametrize(
    "code",
    [
        "sys.exit(1)",
        "sys.stdout.write('.'); sys.stdout.flush(); sys.stdin.buffer.read(20)",
        "sys.stdout.write('.' + chr(0) + chr(7) + 7 * chr(0) + 'half'); sys.stdout.flush()\n"
        "sys.stdin.buffer.read()",
        "sys.stdout.write('?'); sys.stdout.flush(); sys.stdin.buffer.read()",
    ],
    ids=["ends at once", "ends with a job", "answers with half", "is something else"],
)
def test_a_process_that_does_not_answer_costs_time_alone(started, monkeypatch, code):
    stand_in(monkeypatch, code)
    others = own(monkeypatch)
    jobs = [assemblers.submit(text, False) for text in TEXTS[:5]]
    until(lambda: len(started) == 2)
    if "half" in code:
        until(lambda: len(others._jobs) <= 3)  # somebody has some
        for process in started:
            process.kill()
    until(lambda: others._running == 0)
    assert assemblers.results(jobs) == [native.assemble(text) for text in TEXTS[:5]]


def test_no_process_can_be_started(monkeypatch):
    def fail(code, answers=False):
        raise OSError("no more processes")

    monkeypatch.setattr(aside, "start", fail)
    monkeypatch.setattr(assemblers, "FEW", 0)
    monkeypatch.setattr(assemblers, "_wanted", lambda: 1)
    others = own(monkeypatch)
    job = assemblers.submit(TEXTS[0], False)
    until(lambda: others._running == 0)
    assert assemblers.results([job]) == [native.assemble(TEXTS[0])]


def test_no_thread_can_be_started(started, monkeypatch):
    def fail(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", fail)
    others = own(monkeypatch)
    assert assemblers.results([assemblers.submit(TEXTS[0], False)]) == [native.assemble(TEXTS[0])]
    assert (others._running, started) == (0, [])


def test_processes_end_when_nothing_comes_and_others_start_when_something_does(
    started, monkeypatch
):
    monkeypatch.setattr(assemblers, "IDLE", 0.05)
    others = Assemblers()
    for _ in range(2):
        job = others.submit(TEXTS[1], soon=False)
        assert job.result() == native.assemble(TEXTS[1])
        until(lambda: others._running == 0)
    assert len(started) == 4
    assert [process.wait(PATIENCE) for process in started] == [0] * 4


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without fork")
def test_a_child_of_fork_has_processes_of_its_own(monkeypatch):
    others = own(monkeypatch)
    job = assemblers.submit(TEXTS[0], False)
    child = os.fork()
    if not child:
        os._exit(assemblers._assemblers is others or assemblers._assemblers.take_back(job))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert others.take_back(job)


def test_there_are_none_on_one_core_without_memory_or_an_interpreter(monkeypatch):
    cores = {3}
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: cores, raising=False)
    monkeypatch.setattr(assemblers, "memory_bytes", lambda: None)
    assert assemblers._wanted() == 0
    cores |= set(range(10, 13))
    assert assemblers._wanted() == 3
    cores |= set(range(64))
    assert assemblers._wanted() == assemblers.MOST
    monkeypatch.setattr(assemblers, "memory_bytes", lambda: 5 << 30)
    assert assemblers._wanted() == 2
    monkeypatch.setattr(sys, "executable", "")
    assert assemblers._wanted() == 0


def test_a_kernel_has_the_same_code_however_many_assemble_it(started, monkeypatch):
    monkeypatch.setattr(kept, "program", lambda parts, make: make())
    monkeypatch.setattr(module, "PIECE", 20)
    content = next(iter(cubins("flow").values()))
    found = []
    for few in (1 << 60, 0):
        monkeypatch.setattr(assemblers, "FEW", few)
        monkeypatch.setattr(assemblers, "_assemblers", Assemblers())
        with lockstep.Device("A100") as device:
            loaded = device.load_cubin(content)
            program = loaded[loaded.entries[0]].translate(Recording.NOTHING)
        found.append([part.objects for part in program.parts])
    assert found[0] == found[1] and len(found[0][0].files) > 1
    until(lambda: len(started) == 2)


def test_a_program_ends_while_they_wait_for_more():
    script = (
        "from lockstep.execution.programs import assemblers\n"
        "assemblers.FEW, assemblers._wanted = 0, lambda: 2\n"
        f"job = assemblers.submit({TEXTS[2]!r}, False)\n"
        "print(len(job.result()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=PATIENCE
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) == len(native.assemble(TEXTS[2]))
