"""Requests for pages of managed memory that the host has: who waits, and until when."""

from types import SimpleNamespace

import pytest

from lockstep.gpus import library
from lockstep.model import control
from lockstep.model.clock import NEVER
from lockstep.model.core import paging

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
