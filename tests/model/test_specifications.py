"""What the model takes from a GPU's specification: every field of its records is set."""

import msgspec
import numpy as np
import pytest

from lockstep._jit import as_records
from lockstep.engine.building import build_memory_side
from lockstep.gpus import library
from lockstep.model import control, memory
from lockstep.model.cache import l1_state, replacement
from lockstep.model.cache.prefetch import table
from lockstep.model.core import build as core_build
from lockstep.model.core import state
from lockstep.model.dispatch import state as dispatch_state
from lockstep.model.dram import build as dram_build
from lockstep.model.dram import state as dram_state
from lockstep.model.records import copy_fields, records

RECORD = np.dtype([("a", "i8"), ("b", "i8"), ("c", "i8"), ("d", "i8", (2,)), ("e", "i8")])
UNSET = 0x5A


class Whole(msgspec.Struct):
    a: int = 7
    b: bool = True
    c: float = 1.5
    d: int = 3
    other: int = 9


class Again(msgspec.Struct):
    a: int = 8


def test_whole_numbers_are_copied_by_name_and_nothing_else():
    record = as_records(np.zeros(1, RECORD))[0]
    copy_fields(record, Whole())
    assert record.tolist()[:3] == (7, 1, 0)
    assert list(record.d) == [0, 0] and record.e == 0


def test_a_name_of_two_specifications_is_refused():
    record = as_records(np.zeros(1, RECORD))[0]
    with pytest.raises(ValueError, match="a of Again: is set already"):
        copy_fields(record, Whole(), Again())


def unset(monkeypatch, modules, dtype, build):
    """The fields of the records of a type that ``build`` leaves as they were."""
    made = []

    def spoilt(shape, kind):
        array = records(shape, kind)
        if kind is dtype:
            array.view(np.ndarray).reshape(-1).view(np.uint8)[:] = UNSET
            made.append(array.view(np.ndarray))
        return array

    for module in modules:
        monkeypatch.setattr(module, "records", spoilt)
    build()
    (array,) = made
    return [n for n in dtype.names if set(array[n].tobytes()) == {UNSET}]


@pytest.fixture(scope="module")
def gpu():
    return library.replace(library.gpu("H100_SXM"), **{"sm.count": 4, "dram.channels": 2})


def test_every_field_of_the_sms_is_set(monkeypatch, gpu):
    make = lambda: core_build.sm_spec(gpu, 0)  # noqa: E731
    assert unset(monkeypatch, [core_build], state.SPEC, make) == []


def test_every_field_of_the_l1_is_set(monkeypatch, gpu):
    victim = replacement.compile_victim(replacement.first_way)
    ahead = table.compile_l1(table.nothing_of_l1)
    make = lambda: core_build.build_l1s(gpu, l1_state.Choices(victim, ahead))  # noqa: E731
    assert unset(monkeypatch, [l1_state], l1_state.SPEC, make) == []


@pytest.mark.parametrize(
    ("module", "dtype"), [(memory, memory.SPEC), (dram_build, dram_state.SPEC)]
)
def test_every_field_of_the_memory_side_is_set(monkeypatch, gpu, module, dtype):
    assert unset(monkeypatch, [module], dtype, lambda: build_memory_side(gpu, {})) == []


def test_every_field_of_the_cta_scheduler_is_set(monkeypatch, gpu):
    make = lambda: dispatch_state.build(gpu, control.build(gpu))  # noqa: E731
    assert unset(monkeypatch, [dispatch_state], dispatch_state.SPEC, make) == []


def test_what_has_the_same_name_has_the_same_number(gpu):
    """Also where a record is built by hand."""
    sm = core_build.sm_spec(gpu, 0)[0]
    sources = [gpu.sm, gpu.sm.scheduler, gpu.sm.front_end, gpu.sm.operands, gpu.sm.memory]
    for source in sources:
        for name in set(source.__struct_fields__) & set(state.SPEC.names):
            value = getattr(source, name)
            if isinstance(value, int):
                assert sm[name] == value, name
