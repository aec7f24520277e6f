"""What keeps a warp from issuing, asked of the functions themselves."""

from types import SimpleNamespace

import pytest

from lockstep.isa.instruction import OpClass
from lockstep.model.clock import NEVER
from lockstep.model.counters import Stall
from lockstep.model.sm import eligibility

pytestmark = pytest.mark.plain


@pytest.mark.parametrize("op", [OpClass.FENCE, OpClass.LOCAL_FENCE])
def test_a_fence_waits_for_data_that_is_known_to_come(tiny, idle_sms, op):
    """The last access has ended, and its data is there later: whatever else held the warp."""
    c = idle_sms(tiny())
    warp, look = c.warps[0, 0], c.looks[0, 0]
    warp.fenced, warp.outstanding, warp.accessed = 10, 0, 50
    instruction = SimpleNamespace(op=int(op), cache=0)
    assert eligibility.synchronises(c, 0, 0, warp, look, instruction, 49) == 50
    assert look.reason == Stall.FENCE
    assert eligibility.synchronises(c, 0, 0, warp, look, instruction, 50) == 50
    warp.outstanding = 1
    assert eligibility.synchronises(c, 0, 0, warp, look, instruction, 50) >= NEVER
