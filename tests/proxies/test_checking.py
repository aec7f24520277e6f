"""A program and its proxy, side by side."""

import pytest

import lockstep
from lockstep.builder import KernelBuilder
from lockstep.proxies import profile
from lockstep.proxies.agreement import SETS
from lockstep.proxies.checking import OriginalAccesses
from lockstep.workload import Workload


def program(step):
    k = KernelBuilder("k", grid=30, block=64)
    with k.loop(6):
        k("LDG.E R4, [R2]", address=k.coalesced(1 << 40, step=step))
    return Workload("w", [k.kernel()])


@pytest.fixture(scope="module")
def original():
    told = []
    found = OriginalAccesses(
        lockstep.gpu("QV100", ["sm.count=2"]), SETS[:2], lambda *each: told.append(each)
    )
    found.take(program(256))
    assert told == [(1, "k")]
    return found


def test_what_accesses_the_same_has_no_error(original):
    found = original.check(profile(program(256)).workload())
    assert found.errors["mean"].tolist() == [0.0, 0.0]
    assert found.leaks == (1.0, 1.0)
    assert len(found.rows) == sum(len(s.sweep.l1) * max(len(s.sweep.l2), 1) for s in SETS[:2])


def test_what_accesses_otherwise_has_errors_and_shares_no_sequences(original):
    found = original.check(profile(program(8192)).workload())
    assert found.errors["mean"].max() > 1
    assert found.leaks.sequences == 0.0
