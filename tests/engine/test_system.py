"""Several GPUs in step: each as if it were alone, whatever the others do."""

import pytest

from gpu_systems import small_system
from lockstep.engine import Session
from lockstep.engine.system import SystemSession
from lockstep.errors import LockstepError
from lockstep.host_calls import SetDevice


@pytest.fixture
def kernel(mixed):
    def make(number, **sizes):
        made = mixed(f"k{number}", **sizes).workload().kernels[0]
        made.id = number
        return made

    return make


def spans(session):
    return [(run.launched, run.start, run.end) for run in session.finished]


def test_a_gpu_of_a_system_does_what_it_would_do_alone(kernel):
    """Kernels of different lengths on three GPUs at a time: each takes the cycles that it takes."""
    system = small_system(3, ["host.call_ns.launch=0"])
    commands = []
    for k in range(3):
        commands += [SetDevice(k), kernel(10 * k + 1, grid=8 + 8 * k), kernel(10 * k + 2)]
    together = SystemSession(system)
    together.run(commands)
    for k, gpu in enumerate(system.gpus):
        alone = Session(gpu)
        alone.run([kernel(10 * k + 1, grid=8 + 8 * k), kernel(10 * k + 2)])
        assert spans(alone) == spans(together.sessions[k])
        alone.close()
    ends = [session.now for session in together.sessions]
    window = together.sessions[0].simulation.machine.window
    assert max(ends) - min(ends) <= window, "clocks agree when all is done"
    assert all(session.result().simulate_seconds >= 0 for session in together.sessions)
    together.close()


def test_kernels_that_were_not_chosen_are_left_out_of_all(kernel):
    session = SystemSession(small_system(2), kernels={11})
    session.run([kernel(1), SetDevice(1), kernel(11)])
    assert [[run.id for run in each.finished] for each in session.sessions] == [[], [11]]
    session.close()


def test_there_is_no_checkpoint_of_several():
    session = SystemSession(small_system(2))
    with pytest.raises(LockstepError, match="no checkpoint has several GPUs"):
        session.run([], frozen={"commands": 0})
    session.close()


def test_who_interrupts_one_interrupts_all(kernel):
    session = SystemSession(small_system(2))
    session.run([kernel(1)])
    session.interrupt()
    assert "interrupted at cycle" in session.stopped
    session.run([kernel(2)])
    assert [run.id for run in session.sessions[0].finished] == [1]
    session.close()
