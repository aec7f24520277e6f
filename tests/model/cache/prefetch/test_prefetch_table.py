"""What a prefetcher may be: how it is called, what it may write, what is refused."""

import ctypes
from typing import get_args

import numpy as np
import pytest

import lockstep
from lockstep._jit import DISABLED
from lockstep.errors import PolicyError
from lockstep.gpus import choices, library
from lockstep.model.cache.prefetch import registry, stream, stride, table
from lockstep.model.records import records


def writes_parameters(line, hit, state, out):
    state[0].degree = 3
    return 0


def writes_elements(line, hit, state, out):
    out[0] = line
    return 1


def prints(line, hit, state, out):
    print(line)
    return 0


def names_no_field(line, hit, state, out):
    out[0].address = line
    return 1


def fraction(line, hit, state, out):
    return hit / 2


def of_an_l1(site, line, warp, hit, state, out):
    return 0


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (writes_parameters, "changes 'degree'; it may change only key, last, stride, count, used"),
        (writes_elements, "changes what it is given; it may change only key, last, .*, line"),
        (names_no_field, "changes 'address'"),
        (of_an_l1, r"it is called as l2_prefetcher\(line, hit, state, out\)"),
    ],
)
def test_what_a_prefetcher_may_not_do_is_refused(function, message):
    with pytest.raises(PolicyError, match=message) as caught:
        table.compile_l2(function)
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(DISABLED, reason="nothing is compiled")
@pytest.mark.parametrize(
    ("function", "message"),
    [(prints, "prints, which compiled code cannot do"), (fraction, "it returns float64")],
)
def test_what_cannot_be_compiled_is_refused(function, message):
    with pytest.raises(PolicyError, match=message):
        table.compile_l2(function)


def test_it_is_refused_before_anything_runs(repository):
    with pytest.raises(PolicyError, match="may change only key"):
        lockstep.simulate(repository / "examples/gemm.lst", "QV100", l2_prefetcher=writes_elements)


def counts(site, line, warp, hit, state, out):
    state[1].count += 1
    out[0].line = line + state[0].distance
    out[1].line = state[1].count
    return 2


def _array(records):
    """An array as Numba passes it to a function that is called through its address."""
    shape = [*records.shape, *records.strides]
    words = [0, 0, records.size, records.itemsize, records.ctypes.data, *shape]
    return [ctypes.c_int64(w) for w in words]


def call(policy, *arguments):
    if DISABLED:
        return policy(*arguments)
    passed = []
    for a in arguments:
        passed += _array(a) if isinstance(a, np.ndarray) else [ctypes.c_int64(a)]
    return ctypes.CFUNCTYPE(*[ctypes.c_int64] * (len(passed) + 1))(policy.address)(*passed)


def test_a_compiled_policy_finds_parameters_and_keeps_what_it_writes():
    tables = table.build(2, degree=4, distance=3, window=8)
    out = records(table.MOST, table.OUT)
    policy = table.compile_l1(counts)
    for times in (1, 2):
        assert call(policy, 5, 100, 7, table.MISS, tables[1], out) == 2
        assert out["line"][:2].tolist() == [103, times]
    assert tables["count"][:, 1].tolist() == [0, 2], "each cache has a table of its own"
    assert tables[0, 0]["window"] == 8 and not tables["window"][:, 1:].any()


def test_the_built_in_ones_are_policies_as_any_other():
    assert set(registry.L1) | {"none"} == set(get_args(choices.L1Prefetcher))
    assert set(registry.L2) | {"none"} == set(get_args(choices.L2Prefetcher))
    assert all(table.compile_l1(function) for function in registry.L1.values())
    assert all(table.compile_l2(function) for function in registry.L2.values())


def test_a_gpu_has_those_that_it_names():
    gpu = library.gpu("QV100")
    assert registry.chosen(gpu) == {}
    gpu = library.replace(gpu, **{"l1.prefetcher": "stride"})
    assert registry.chosen(gpu) == {"l1_prefetcher": stride.stride}
    gpu = library.replace(gpu, **{"l2.prefetcher": "stream"})
    assert registry.chosen(gpu)["l2_prefetcher"] is stream.stream


def test_written_and_given_fields_are_all_there_are():
    assert table.STATE.names == (*table.KEPT, *table.GIVEN)
