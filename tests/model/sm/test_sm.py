"""The SM phase: cycles in which nothing can happen are skipped, and nothing else changes."""

from pathlib import Path
from unittest import mock

import pytest
from hypothesis import Phase, given, note, settings
from hypothesis import strategies as st

from lockstep import engine
from lockstep.gpus import library
from lockstep.model import link
from lockstep.model.clock import NEVER
from lockstep.model.core import accounting
from lockstep.model.sm import scheduler, sm

pytestmark = pytest.mark.plain
ATTEMPTS = "l1_fail_"  # these count tries, not cycles


@pytest.fixture(scope="session")
def programs(load_script):
    return load_script(Path(__file__).parents[2] / "random_programs.py")


def every_cycle(c, requests, replies, s, start, end):
    """As ``run_sm``, but every part looks at everything in every cycle."""
    state = c.sms[s]
    link.begin(requests, s)
    link.open_inbox(replies, s)
    accounting.account_no_credit(c, s, start)
    state.no_credit = -1
    for now in range(start, end):
        sm.memory_cycle(c, requests, replies, s, now, end)
        for b in range(c.spec[0].subcores):
            sub = c.subcores[s, b]
            for w in c.order[s, b, : sub.count]:
                c.looks[s, w].wake = min(c.looks[s, w].wake, now)
            if sub.count > 0 or sub.next <= now:
                scheduler.cycle(c, s, b, now)
    return max(sm.next_event(c, s), end)


@settings(max_examples=12, phases=set(Phase) - {Phase.shrink})
@given(st.data())
def test_skipping_cycles_changes_nothing(programs, data):
    # The dispatcher works ahead: CTAs that come within a window would be looked at too early.
    workload, gpu, changes = data.draw(programs.runs(most=1))
    gpu = library.replace(gpu, **{"launch.cta_interval": 0.01})
    note(changes)
    skipped = engine.run(workload, gpu, limit_cycles=800)
    with mock.patch.object(sm, "run_sm", every_cycle):
        full = engine.run(workload, gpu, limit_cycles=800)
    assert skipped.stopped == full.stopped
    assert skipped.cycles == full.cycles
    for a, b in zip(skipped.kernels, full.kernels):
        names = [n for n in a.sm.dtype.names if not n.startswith(ATTEMPTS)]
        assert {n: a.sm[n].tolist() for n in names} == {n: b.sm[n].tolist() for n in names}
        assert (a.partition == b.partition).all()


@pytest.fixture
def idle(tiny, idle_sms):
    gpu = tiny(sm__count=2)
    c = idle_sms(gpu)
    latency = gpu.interconnect.latency
    return c, link.build(2, 1, latency, 16, 1), link.build(1, 2, latency, 32, 2)


def test_idle_sms_never_move(idle):
    c, requests, replies = idle
    assert sm.run(c, requests, replies, 0, 2, 1, 0, 60) == NEVER


def test_the_next_event_is_the_earliest_of_all_parts(idle):
    c, requests, replies = idle
    c.subcores[0, 2].next = 170
    c.subcores[1, 0].next = 130
    c.sms[1].memory_next = 150
    assert sm.next_event(c, 0) == 170
    assert sm.next_event(c, 1) == 130
    assert sm.run(c, requests, replies, 0, 2, 1, 0, 60) == 130
    assert sm.run(c, requests, replies, 0, 1, 1, 0, 60) == 170


def test_a_window_begins_with_empty_hands(idle):
    c, requests, replies = idle
    requests.sent[:], replies.takes[:] = 3, 2
    c.control.n_ended[:] = 2
    c.sms[0].no_credit = 5
    sm.run(c, requests, replies, 0, 1, 1, 60, 120)
    assert [link.sent_by(requests, s) for s in range(2)] == [0, 3]
    assert replies.takes[1].tolist() == [0, 2] and c.control.n_ended.tolist() == [0, 2]
    assert c.sms[0].no_credit == -1
