"""Releases: what they wait for, however many stores follow; what instructions mean under scopes."""

import numpy as np
import pytest

from lockstep.isa.instruction import CachePolicy, OpClass, Space, blank
from lockstep.model.clock import NEVER
from lockstep.model.core import release_state, releases
from lockstep.model.core.release_state import (
    AFTER_LOADS,
    AFTER_STORES,
    FORGETS,
    HOLDS,
    NOTHING,
    PLACE,
    POLICIES,
)

pytestmark = pytest.mark.plain
ORDER = AFTER_LOADS | AFTER_STORES
ACQUIRE, RELEASE, OF_CTA = CachePolicy.ACQUIRE, CachePolicy.RELEASE, CachePolicy.OF_CTA
PAST = CachePolicy.BYPASS_L1


@pytest.fixture
def c(tiny, idle_sms):
    return idle_sms(tiny())


def until(c, w):
    """When a warp with nothing on its way may release at cycle 9."""
    return releases.waits_until(c, 0, w, c.warps[0, w], ORDER, 9)


def test_a_release_waits_for_what_was_stored_before_it_and_no_more(c):
    releases.sent(c, 0)
    releases.begin(c, 0, 1)
    for _ in range(5):
        releases.sent(c, 0)  # these are of the other group
    assert until(c, 1) == NEVER
    releases.arrived(c, 0, 1, 9)
    assert until(c, 1) == NEVER, "one that left later"
    releases.arrived(c, 0, 0, 9)
    assert until(c, 1) == 9
    releases.end(c, 0, 1)
    assert c.releases.targets[0, 1] == NOTHING


def test_a_second_release_waits_for_the_closed_group_and_the_next(c):
    releases.sent(c, 0)
    releases.begin(c, 0, 1)
    releases.sent(c, 0)
    releases.begin(c, 0, 2)
    releases.sent(c, 0)
    releases.arrived(c, 0, 0, 9)
    assert (until(c, 1), until(c, 2)) == (9, NEVER)
    releases.arrived(c, 0, 1, 9)
    releases.arrived(c, 0, 1, 9)
    assert until(c, 2) == 9


def test_a_release_with_nothing_on_its_way_waits_for_nothing(c):
    releases.begin(c, 0, 1)
    assert until(c, 1) == 9


def test_who_waits_looks_again_when_the_group_has_arrived(c):
    releases.sent(c, 0)
    releases.begin(c, 0, 1)
    look = c.looks[0, 1]
    look.wake, look.place = NEVER, -1
    releases.arrived(c, 0, 0, 9)
    assert look.wake == 9


def test_a_release_of_the_cta_waits_for_loads_and_not_for_stores(c):
    warp = c.warps[0, 1]
    warp.outstanding, warp.stores, warp.accessed = 3, 3, 12
    assert releases.waits_until(c, 0, 1, warp, AFTER_LOADS, 9) == 12
    warp.outstanding = 4
    assert releases.waits_until(c, 0, 1, warp, AFTER_LOADS, 9) == NEVER


@pytest.mark.parametrize(
    ("op", "cache", "policy", "orders"),
    [
        (OpClass.LOAD, PAST | ACQUIRE, PAST, HOLDS | FORGETS),
        (OpClass.LOAD, PAST | ACQUIRE | OF_CTA, 0, HOLDS),
        (OpClass.LOAD, PAST | OF_CTA, 0, 0),
        (OpClass.LOAD, PAST, PAST, 0),
        (OpClass.STORE, RELEASE, 0, ORDER),
        (OpClass.STORE, RELEASE | OF_CTA, 0, AFTER_LOADS),
        (OpClass.ATOMIC, ACQUIRE | RELEASE, 0, ORDER | HOLDS | FORGETS),
        (OpClass.FENCE, ACQUIRE | RELEASE, 0, ORDER | FORGETS),
        (OpClass.FENCE, 0, 0, ORDER),
        (OpClass.LOCAL_FENCE, 0, 0, AFTER_LOADS),
        (OpClass.BARRIER, 0, 0, AFTER_LOADS),
        (OpClass.CACHE_CONTROL, CachePolicy.INVALIDATE, CachePolicy.INVALIDATE, AFTER_LOADS),
        (OpClass.FP32, 0, 0, 0),
    ],
)
def test_what_an_instruction_orders(op, cache, policy, orders):
    code = blank(1)
    code["op"], code["cache"] = op, cache
    if OpClass.LOAD <= op <= OpClass.REDUCTION:
        code["space"] = Space.GLOBAL
    (made,) = release_state.orders_of(code, False)
    assert (made & POLICIES, made >> PLACE) == (policy, orders)
    assert made <= np.iinfo(np.int16).max, "ISSUE.cache"


def test_shared_memory_needs_no_orders():
    code = blank(1)
    code["op"], code["space"], code["cache"] = OpClass.ATOMIC, Space.SHARED, ACQUIRE | RELEASE
    assert release_state.orders_of(code, False).tolist() == [0]
