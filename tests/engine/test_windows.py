"""Windows: many in a row until something needs attention, alike for any number of threads."""

import threading
import time

import pytest

from lockstep.builder import KernelBuilder
from lockstep.engine import windows
from lockstep.engine.kernels import KernelTable
from lockstep.engine.machine import Machine
from lockstep.engine.streams import Streams
from lockstep.model.clock import NEVER

WINDOW = 60


@pytest.fixture(params=[1, 2, 3])
def loaded(small, request):
    """A machine with a resident CTA that issues 400 instructions from cycle 0 on."""
    gpu = small(sm__count=3, launch__overhead=0, **{"sm.front_end.l0_bytes": 0})
    machine = Machine(gpu, request.param, {})
    streams = Streams(machine.sm, machine.dispatcher, machine.own_sms)
    table = KernelTable(streams, gpu)
    k = KernelBuilder("long", grid=1, block=32)
    for _ in range(399):
        k("NOP")
    table.serve([table.start(k.kernel(), 0)])
    machine.sm = streams.sm
    yield machine
    machine.close()


def issued(machine):
    return int(machine.sm.counters["warp_instructions"].sum())


def test_so_many_windows_and_no_more(loaded):
    assert loaded.run_windows(0, NEVER, NEVER, 3) == (3 * WINDOW, 3 * WINDOW)
    assert issued(loaded) == 3 * WINDOW


def test_the_loop_ends_where_it_is_told_to(loaded):
    assert loaded.run_windows(0, NEVER, 2 * WINDOW - 1, 100)[0] == 2 * WINDOW
    assert loaded.run_windows(2 * WINDOW, 150, NEVER, 100)[0] == 150, "a cut shortens a window"
    assert issued(loaded) == 150


def test_the_loop_ends_when_a_kernel_is_over(loaded):
    end, _ = loaded.run_windows(0, NEVER, NEVER, 100)
    assert issued(loaded) == 400
    assert end == (400 // WINDOW + 1) * WINDOW
    assert loaded.take_retired() == [(0, 0, 0, 0, 400, 399)]
    assert loaded.take_retired() == []


def test_nothing_to_do_takes_no_windows(loaded):
    loaded.run_windows(0, NEVER, NEVER, 100)
    end, event = loaded.run_windows(1000, NEVER, NEVER, 100)
    assert end == 1000 + WINDOW and event > end


def come_and_wait(team):
    generation = team.barrier[windows.GENERATION]
    assert not windows.comes_last(team)
    windows.wait(team, generation)


def test_who_comes_early_sleeps_until_all_have_come(small):
    machine = Machine(small(sm__count=3), 3, {})
    team = machine._team
    threads = [threading.Thread(target=come_and_wait, args=(team,)) for _ in range(2)]
    for turn in range(1, 4):
        for thread in threads:
            thread.start()
        while team.barrier[windows.ASLEEP] < 2:
            assert all(thread.is_alive() for thread in threads)
            time.sleep(0.001)
        assert team.barrier[windows.ARRIVED] == 2
        assert windows.comes_last(team)
        windows.let_go(team)
        for thread in threads:
            thread.join()
        counts = [team.barrier[n] for n in (windows.ARRIVED, windows.GENERATION, windows.ASLEEP)]
        assert counts == [0, turn, 0]
        threads = [threading.Thread(target=come_and_wait, args=(team,)) for _ in range(2)]
    machine.close()
