"""Scheduler-cycles: each is counted once, for one reason, however lazily."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockstep.builder import KernelBuilder, program
from lockstep.model.core import accounting
from lockstep.model.counters import Stall

pytestmark = pytest.mark.plain


@pytest.fixture
def c(tiny, idle_sms):
    return idle_sms(tiny())


def test_a_reason_holds_until_the_next(c):
    accounting.start_accounting(c, 0, 100)
    accounting.account(c, 0, 1, 100, Stall.FETCH)
    accounting.account(c, 0, 1, 130, Stall.BARRIER)
    accounting.account(c, 0, 1, 150, Stall.WAIT)
    stalls = c.counters[0].stalls
    assert (stalls[Stall.FETCH], stalls[Stall.BARRIER], stalls[Stall.WAIT]) == (30, 20, 0)
    assert stalls.sum() == 50, "other sub-cores are not touched"


def test_an_issue_is_one_cycle_of_its_own(c):
    accounting.start_accounting(c, 0, 100)
    accounting.account_issue(c, 0, 0, 100)
    accounting.account_issue(c, 0, 0, 101)
    accounting.account(c, 0, 0, 102, Stall.LONG_SCOREBOARD)
    accounting.account_issue(c, 0, 0, 110)
    stalls = c.counters[0].stalls
    assert (stalls[Stall.ISSUED], stalls[Stall.LONG_SCOREBOARD]) == (3, 8)
    assert stalls.sum() == 111 - 100


def test_an_idle_sm_counts_nothing(c):
    accounting.settle(c, 0, 500)
    assert c.counters[0].stalls.sum() == 0 and c.counters[0].active_cycles == 0


def test_settling_twice_changes_nothing(c):
    c.sms[0].resident_ctas, c.sms[0].resident_warps = 1, 5
    accounting.start_accounting(c, 0, 10)
    accounting.settle(c, 0, 40)
    accounting.settle(c, 0, 40)
    accounting.settle(c, 0, 30)
    assert c.counters[0].active_cycles == 30 and c.counters[0].warp_cycles == 150
    assert c.counters[0].stalls.sum() == 4 * 30


@given(st.lists(st.tuples(st.integers(0, 9), st.sampled_from(list(Stall)[1:])), max_size=30))
def test_reasons_agree_with_a_list_of_cycles(tiny, idle_sms, steps):
    c = idle_sms(tiny())
    accounting.start_accounting(c, 0, 0)
    now, why, cycles = 0, Stall.NO_WARP, []
    for wait, reason in steps:
        cycles += [why] * wait
        now, why = now + wait, reason
        accounting.account(c, 0, 0, now, reason)
    assert c.counters[0].stalls.tolist() == [cycles.count(r) for r in Stall]


def test_all_cycles_of_resident_ctas_are_counted(watch, tiny):
    gpu = tiny(sm__count=2)
    k = KernelBuilder("gaps", grid=3, block=96)
    k("LDG.E R1, [R2]", address=k.coalesced(0x7F0000000000))
    k("MOV R3, R1")
    late = KernelBuilder("late", grid=1, block=32)
    seen = watch(program(k, late), gpu, cta_events=True)
    assert seen.counters["active_cycles"] * gpu.sm.subcores == seen.stalls.sum()
    active = [set(), set()]
    for event in seen.run.cta_events:
        active[event["sm"]] |= set(range(event["start"], event["end"]))
    assert seen.counters["active_cycles"] == len(active[0]) + len(active[1])
