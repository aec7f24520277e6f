"""Which unit an operation class runs on."""

import pytest

from lockstep.gpus import library
from lockstep.gpus.units import (
    FALLBACK,
    NO_UNIT,
    Operation,
    interval,
    operations,
    threads_per_cycle,
)
from lockstep.isa.instruction import OpClass


def names_of(gpu):
    return [unit.name for unit in gpu.sm.units]


def test_a_named_class_runs_on_its_unit():
    gpu = library.gpu("QV100")
    table = operations(gpu)
    units = names_of(gpu)
    assert table[OpClass.FP32] == Operation(units.index("fp32"), latency=4, interval=2, instances=1)
    assert table[OpClass.FP64] == Operation(units.index("fp64"), latency=8, interval=4, instances=1)
    assert table[OpClass.SFU] == Operation(units.index("sfu"), latency=21, interval=8, instances=1)


def test_an_unnamed_class_falls_back_along_the_chain():
    gpu = library.gpu("GPGPUSIM3_V100")
    table = operations(gpu)
    assert table[OpClass.IMMA] == table[OpClass.HMMA]
    assert table[OpClass.UNKNOWN] == table[OpClass.UNIFORM] == table[OpClass.INT32]
    kepler = library.gpu("KEPLER_TITAN")
    assert operations(kepler)[OpClass.HMMA] == operations(kepler)[OpClass.FP32]


def test_every_fallback_ends_at_fp32():
    for op in FALLBACK:
        seen = []
        while op in FALLBACK:
            assert op not in seen
            seen.append(op)
            op = FALLBACK[op]
        assert op == OpClass.FP32


@pytest.mark.parametrize("op", [OpClass.LOAD, OpClass.BARRIER, OpClass.EXIT, OpClass.BRANCH])
def test_memory_and_control_need_no_unit(op):
    assert operations(library.gpu("QV100"))[op] == Operation(NO_UNIT, 1, 1, 0)


def test_an_interval_of_its_own_wins_over_the_lanes():
    fp32 = library.gpu("RTX3070").sm.units[0]
    assert (interval(fp32, "FP32", 32), interval(fp32, "IMAD", 32)) == (1, 2)
    assert (interval(fp32, "FP32", 64), interval(fp32, "IMAD", 64)) == (2, 2)
    odd = library.replace(library.gpu("QV100"), **{"sm.units.fp32.lanes": 24}).sm.units[0]
    assert (interval(odd, "FP32", 32), interval(odd, "FP32", 64)) == (2, 3)


def test_a_warp_of_64_threads_takes_twice_as_long_for_the_same_throughput():
    narrow = library.gpu("QV100")
    wide = library.replace(narrow, **{"sm.warp_size": 64})
    for op in (OpClass.FP32, OpClass.FP64, OpClass.SFU):
        assert operations(wide)[op].interval == 2 * operations(narrow)[op].interval
        assert threads_per_cycle(wide, op.name) == threads_per_cycle(narrow, op.name)


def test_some_of_the_units_of_a_kind_may_execute_a_class():
    table = operations(library.gpu("H100"))
    assert [table[op].instances for op in (OpClass.FP32, OpClass.IMAD, OpClass.IMAD_WIDE)] == [
        2,
        1,
        1,
    ]
