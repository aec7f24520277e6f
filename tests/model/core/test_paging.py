"""Requests for pages of managed memory that the host has: who waits, and until when."""

from types import SimpleNamespace
from unittest import mock

import pytest

from lockstep import engine
from lockstep.builder import KernelBuilder
from lockstep.engine import windows
from lockstep.gpus import library
from lockstep.host_calls import Managed
from lockstep.model import control
from lockstep.model.clock import NEVER
from lockstep.model.core import paging
from lockstep.workload import Workload

pytestmark = pytest.mark.plain
PAGE = 4096 // 128  # in lines


@pytest.fixture
def sms():
    """Two SMs whose pages may move; page 9 is the host's."""
    migrating = {"host.copy": "timed", "host.memory": "migrating", "host.migration_bytes": 4096}
    gpu = library.replace(library.gpu("QV100"), **migrating, **{"sm.count": 2, "dram.capacity": 1})
    made = paging.build(gpu)
    made.away[9] = 10
    spec = [SimpleNamespace(line_bytes=128)]
    return SimpleNamespace(paging=made, control=control.build(gpu), l1=SimpleNamespace(spec=spec))


def test_a_page_that_is_here_is_not_asked_for(sms):
    assert paging.may_go(sms, 0, 8 * PAGE, 5) and paging.may_go(sms, 0, 10 * PAGE, 5)
    assert sms.control.asks[0].page == 0


@pytest.mark.parametrize("line", [9 * PAGE, 10 * PAGE - 1])
def test_a_page_that_is_not_is_asked_for_once(sms, line):
    assert not paging.may_go(sms, 1, line, 5)
    asked = sms.control.asks[1]
    assert (asked.page, asked.since, asked.until, asked.told) == (10, 5, NEVER, 0)
    asked.told = 1
    assert not paging.may_go(sms, 1, line, 65)
    assert (asked.since, asked.told) == (5, 1), "it is known"
    assert sms.control.asks[0].page == 0


def test_an_access_goes_when_it_is_allowed_to_and_the_next_one_asks_again(sms):
    assert not paging.may_go(sms, 0, 9 * PAGE, 5)
    sms.control.asks[0].until = 100
    assert not paging.may_go(sms, 0, 9 * PAGE, 99)
    assert paging.may_go(sms, 0, 9 * PAGE, 100)
    assert not paging.may_go(sms, 0, 9 * PAGE, 101)
    assert sms.control.asks[0].since == 101


def test_a_page_has_a_place_of_its_own_in_all_of_the_memory(sms):
    """1 GiB are 2^18 pages of 4 KiB; another page that has the same place is not meant."""
    assert len(sms.paging.away) == 1 << 18
    assert paging.is_here(sms, (9 + (1 << 18)) * PAGE)
    assert not paging.is_here(sms, 9 * PAGE)


def test_without_migration_all_pages_are_here():
    gpu = library.gpu("QV100")
    assert len(paging.build(gpu).away) == 1


def test_a_request_may_leave_when_its_page_is_here_or_somebody_says_so(sms):
    assert paging.resumes(sms, 0, 8 * PAGE) == 0
    assert not paging.may_go(sms, 0, 9 * PAGE, 5)
    assert paging.resumes(sms, 0, 9 * PAGE) == NEVER
    sms.control.asks[0].until = 100
    assert paging.resumes(sms, 0, 9 * PAGE) == 100


def test_windows_count_from_the_last_one_in_which_an_sm_tried(sms):
    """Windows of 60 cycles: the SM tries at 125, in the third one."""
    assert paging.windows_left_out(sms, 0, 180) == 0
    for start, windows_between in ((180, 0), (240, 1), (600, 7)):
        assert not paging.may_go(sms, 0, 9 * PAGE, 125)
        assert paging.windows_left_out(sms, 0, start) == windows_between
        assert paging.windows_left_out(sms, 0, start) == 0, "they are counted once"


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"host.migration": "access_counters", "host.migration_accesses": 4},
        {"host.migration": "access_counters", "modules.count": 2, "modules.topology": "ring"},
    ],
    ids=["first touch", "access counters", "modules"],
)
def test_windows_that_are_left_out_change_nothing(changes):
    small = {"sm.count": 2, "dram.channels": 2, "l1.miss_queue": 2, "launch.overhead": 0}
    host = {"host.copy": "timed", "host.memory": "migrating", "host.migration_bytes": 4096}
    gpu = library.replace(
        library.gpu("QV100"), **small, **host, **{"host.fault_ns": 500}, **changes
    )
    k = KernelBuilder("reads", grid=4, block=64)
    address = k.coalesced(0x7F0000000000, 16)
    k("LDG.E.128 R4, [R2]", address=address)
    k("FFMA R8, R4, R5, R8")
    k("EXIT")
    commands = [Managed(0x7F0000000000, 8192), *k.workload().kernels]
    idle_until, left_out = windows.idle_until, []

    def counted(links, event, end, window):
        start = idle_until(links, event, end, window)
        left_out.append((start - end) // window)
        return start

    def every_window(links, event, end, window):
        return end

    with mock.patch.object(windows, "idle_until", counted):
        skipped = engine.run(Workload("w", commands), gpu)
    with mock.patch.object(windows, "idle_until", every_window):
        full = engine.run(Workload("w", commands), gpu)
    assert sum(left_out) > 10
    assert skipped.sm["l1_fail_queue"].sum() > 10, "tries of windows that are left out count"
    assert skipped.host == full.host
    for name in ("sm", "partition"):
        a, b = getattr(skipped, name), getattr(full, name)
        assert {n: a[n].tolist() for n in a.dtype.names} == {
            n: b[n].tolist() for n in b.dtype.names
        }
    assert [(k.launched, k.end) for k in skipped.kernels] == [
        (k.launched, k.end) for k in full.kernels
    ]
