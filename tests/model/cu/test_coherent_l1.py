"""What an access of a compute unit is to a protocol."""

import pytest

from lockstep.isa.instruction import CachePolicy
from lockstep.model.coherence.numbers import ATOMIC_OPERATION, LOAD, LOAD_GLC, STORE, STORE_GLC
from lockstep.model.cu.coherent_l1 import operation_of
from lockstep.model.link import KIND_READ, KIND_REDUCTION, KIND_WRITE

pytestmark = pytest.mark.plain


@pytest.mark.parametrize(
    ("policy", "load", "store"),
    [
        (CachePolicy.DEFAULT, LOAD, STORE),
        (CachePolicy.BYPASS_L1, LOAD_GLC, STORE_GLC),
        (CachePolicy.STREAMING, LOAD_GLC, STORE_GLC),
        (CachePolicy.INVALIDATE, LOAD, STORE),
    ],
)
def test_glc_and_slc_go_past_the_l1(policy, load, store):
    assert operation_of(KIND_READ, int(policy)) == load
    assert operation_of(KIND_WRITE, int(policy)) == store
    assert operation_of(KIND_REDUCTION, int(policy)) == ATOMIC_OPERATION
