"""The end of memory operations, noted where it is seen and dealt with at one place."""

import pytest

from lockstep.isa.instruction import OpClass
from lockstep.model.clock import NEVER
from lockstep.model.core import done
from lockstep.model.core.state import DONE_ACCESS, DONE_ACKNOWLEDGED, DONE_WARP, LONG
from lockstep.model.sm import completion

pytestmark = pytest.mark.plain


@pytest.fixture
def c(tiny, idle_sms):
    """An SM with one CTA of two warps; warp 0 has two memory operations under way."""
    c = idle_sms(tiny())
    c.sms[0].resident_ctas = 1
    cta = c.ctas[0, 0]
    cta.active, cta.warps, cta.outstanding = 1, 2, 2
    warp = c.warps[0, 0]
    warp.active, warp.outstanding, c.looks[0, 0].wake = 1, 2, NEVER
    c.warps[0, 1].active = 1
    instruction = c.code[0]
    instruction.op, instruction.destinations = OpClass.LOAD, 1
    instruction.check[0] = 5 | 2 << 16
    instruction.write_barrier = 3
    warp.pending[3] = 1
    c.sms[0].free_access = 1
    return c


def test_a_load_gives_its_registers_and_its_place(c):
    c.ready[0, 0, 5:7] = NEVER << 2 | LONG
    done.note(c, 0, DONE_ACCESS, 0, 40)
    assert c.sms[0].memory_next == 40
    completion.settle_done(c, 0, 37)
    assert c.ready[0, 0, 4:8].tolist() == [0, 40 << 2 | LONG, 40 << 2 | LONG, 0]
    assert c.sms[0].free_access == 0 and c.accesses[0, 0].next == 1 + 1
    warp = c.warps[0, 0]
    assert (warp.outstanding, warp.pending[3], warp.clear[3]) == (1, 0, 40 << 2 | LONG)
    assert c.looks[0, 0].wake == 40 and c.subcores[0, 0].next == 40
    assert c.n_done[0] == 0


def test_a_store_has_no_result(c):
    c.code[0].op = OpClass.STORE
    done.note(c, 0, DONE_ACCESS, 0, 40)
    completion.settle_done(c, 0, 40)
    assert not c.ready[0, 0].any() and c.warps[0, 0].pending[3] == 1
    assert c.warps[0, 0].outstanding == 1


def test_an_acknowledgement_counts_for_its_warp(c):
    done.note(c, 0, DONE_ACKNOWLEDGED, 0, 50)
    completion.settle_done(c, 0, 50)
    assert c.warps[0, 0].outstanding == c.ctas[0, 0].outstanding == 1
    assert c.looks[0, 0].wake == 50


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
def test_a_cta_ends_with_the_last_of_its_warps_and_operations(c, order):
    """Two operations and the warps' end, in any order, even in one cycle: it ends once."""
    c.ctas[0, 0].finished = 2
    notes = [(DONE_ACCESS, 0), (DONE_ACKNOWLEDGED, 0), (DONE_WARP, 0)]
    for k in order:
        done.note(c, 0, *notes[k], 60)
    done.note(c, 0, DONE_WARP, 0, 60)
    completion.settle_done(c, 0, 60)
    assert c.control.n_ended[0] == 1 and c.control.ended[0, 0].end == 60
    assert c.sms[0].resident_ctas == 0 and not c.ctas[0, 0].active
    assert not c.warps.active.any()


def test_a_cta_does_not_end_before(c):
    c.ctas[0, 0].finished = 2
    done.note(c, 0, DONE_ACCESS, 0, 60)
    done.note(c, 0, DONE_WARP, 0, 60)
    completion.settle_done(c, 0, 60)
    assert c.control.n_ended[0] == 0 and c.ctas[0, 0].active


@pytest.mark.parametrize("op, alone", [
    (OpClass.STORE, True), (OpClass.REDUCTION, True), (OpClass.LOAD, False),
    (OpClass.ATOMIC, False), (OpClass.ASYNC_COPY, False),
])  # fmt: skip
def test_which_operations_only_write(op, alone):
    assert done.writes_only(op) == alone
